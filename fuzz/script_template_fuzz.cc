// Scripts generated from a recording's tracepoints. The input is pairs of a system's name and a
// format file, each ended by a NUL. Whatever they say, the script has a function per handler in
// addition to what each script has, of nothing but identifiers, literals and punctuation; and a
// literal's value is the text that it was made of.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/foreign/code_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "fuzz/fuzz_target.h"
#include "python/handler_names.h"
#include "python/script_template.h"

namespace sonde {
namespace {

bool is_word(char c) {
  return is_ascii_digit(c) || (to_ascii_lower(c) >= 'a' && to_ascii_lower(c) <= 'z') || c == '_';
}

void append_code_point(std::string& out, uint64_t value) {
  constexpr unsigned kMore = 6, kMarks[] = {0, 0xc0, 0xe0, 0xf0};
  unsigned more = value < 0x80 ? 0 : value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  out += static_cast<char>(kMarks[more] | static_cast<unsigned>(value >> (kMore * more)));
  while (more-- > 0) out += static_cast<char>(0x80 | (value >> (kMore * more) & 0x3f));
}

/// The value of the literal at the start of `code`, which loses it.
std::string take_literal(std::string_view& code) {
  CHECK(code.starts_with('"'));
  std::string value;
  size_t at = 1;
  for (; code.at(at) != '"'; ++at) {
    CHECK(code[at] >= ' ' && code[at] <= '~');
    if (code[at] != '\\') {
      value += code[at];
      continue;
    }
    char kind = code.at(++at);
    size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) {
      CHECK(std::string_view("\\\"nt").contains(kind));
      value += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind;
      continue;
    }
    auto number = parse_hex(code.substr(at + 1, digits));
    CHECK(number);
    append_code_point(value, *number);
    at += digits;
  }
  code.remove_prefix(at + 1);
  return value;
}

/// The text as scripts get it: what is not UTF-8 as the text of escapes.
std::string with_escapes(std::string_view text) {
  std::string out;
  while (true) {
    size_t good = valid_utf8_prefix(text);
    out += text.substr(0, good);
    if (good == text.size()) return out;
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[good]));
    text.remove_prefix(good + 1);
  }
}

void check_literal(std::string_view text) {
  std::string literal = python_literal(text);
  std::string_view code = literal;
  CHECK(take_literal(code) == with_escapes(text));
  CHECK(code.empty());
}

/// A line that not every script has: of a handler.
void check_line(std::string_view line, std::set<std::string>& defined) {
  constexpr std::string_view kDefine = "def ";
  if (!line.starts_with(' ')) {
    CHECK(line.starts_with(kDefine));
    std::string name(line.substr(kDefine.size(), line.find('(') - kDefine.size()));
    CHECK(identifier_of(name) == name);
    CHECK(defined.insert(name).second);
  }
  while (!line.empty()) {
    if (line.front() == '"') {
      (void)take_literal(line);
      continue;
    }
    CHECK(is_word(line.front()) || std::string_view(" (),:%=").contains(line.front()));
    line.remove_prefix(1);
  }
}

}  // namespace
}  // namespace sonde

FUZZ_TARGET(script_template)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  check_literal(input);
  std::vector<std::string_view> parts = split(input, '\0');
  std::vector<TracepointFormat> formats;
  for (size_t i = 0; i + 1 < parts.size(); i += 2)
    if (auto format = TracepointFormat::parse(parts[i + 1], parts[i]))
      formats.push_back(std::move(*format));
  std::vector<const TracepointFormat*> all;
  for (const TracepointFormat& format : formats) all.push_back(&format);
  std::string plain = python::script_template({}, false);
  std::string script = python::script_template(all, false);
  std::vector<std::string_view> own = split(plain, '\n');
  std::set<std::string_view> every(own.begin(), own.end());
  std::set<std::string> defined;
  for (std::string_view line : split(script, '\n'))
    if (!every.contains(line)) check_line(line, defined);
  std::vector<std::string> handlers = python::handler_names(all);
  CHECK(defined == std::set<std::string>(handlers.begin(), handlers.end()));
  return 0;
}
