#include "stacks/script_text_lines.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "stacks/frame_spelling.h"

namespace sonde {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Takes the words of a line from its front.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) { skip_blanks(); }

  [[nodiscard]] std::string_view peek() const {
    return rest_.substr(0, rest_.find_first_of(kBlanks));
  }
  void take(std::string_view word) {
    rest_.remove_prefix(word.size());
    skip_blanks();
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  }
  std::string_view rest_;
};

template <typename Number>
std::optional<Number> number_of(std::string_view digits) {
  Number value{};
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// perf prints "-1" for unknown threads.
std::optional<uint32_t> id_of(std::string_view word) {
  if (word == "-1") return UINT32_MAX;
  return number_of<uint32_t>(word);
}

/// "4153", or "4152/4153".
bool parse_ids(std::string_view word, ScriptSampleLine& line) {
  size_t slash = word.find('/');
  if (slash == std::string_view::npos) return (line.tid = id_of(word)).has_value();
  line.pid = id_of(word.substr(0, slash));
  line.tid = id_of(word.substr(slash + 1));
  return line.pid && line.tid;
}

/// "[003]".
std::optional<uint32_t> parse_cpu(std::string_view word) {
  if (word.size() < 3 || word.front() != '[' || word.back() != ']') return std::nullopt;
  return number_of<uint32_t>(word.substr(1, word.size() - 2));
}

/// "75695.008945:", six or nine decimals.
std::optional<uint64_t> parse_time(std::string_view word) {
  constexpr uint64_t kSecond = 1'000'000'000;
  size_t point = word.find('.');
  if (!word.ends_with(':') || point == std::string_view::npos) return std::nullopt;
  auto seconds = number_of<uint64_t>(word.substr(0, point));
  std::string_view digits = word.substr(point + 1, word.size() - point - 2);
  auto fraction = number_of<uint64_t>(digits);
  if (!seconds || !fraction || digits.size() > 9 || *seconds > UINT64_MAX / kSecond - 1)
    return std::nullopt;
  for (size_t i = digits.size(); i < 9; ++i) *fraction *= 10;
  return *seconds * kSecond + *fraction;
}

/// "cycles:u:".
bool is_event(std::string_view word) {
  return word.size() > 1 && word.ends_with(':') && !word.starts_with('(') &&
         word.find_first_not_of("0123456789.:") != std::string_view::npos;
}

/// "U", "K", "Uu": the misc field.
bool is_misc(std::string_view word) {
  return !word.empty() && word.size() <= 3 &&
         std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == 'u'; });
}

/// Parses what follows the task. False if it is nothing that belongs there.
bool parse_place(std::string_view text, ScriptSampleLine& line) {
  Words words(text);
  auto take_cpu = [&] {
    if (line.cpu = parse_cpu(words.peek()); line.cpu) words.take(words.peek());
  };
  take_cpu();
  if (is_misc(words.peek())) words.take(words.peek());
  if (!line.cpu) take_cpu();
  if (line.time_ns = parse_time(words.peek()); line.time_ns) words.take(words.peek());
  if (words.peek().starts_with("PERF_RECORD_")) {
    line.is_sample = false;
    return true;
  }
  Words after = words;
  if (auto period = number_of<uint64_t>(words.peek())) {
    after.take(after.peek());
    if (is_event(after.peek())) {
      line.period = period;
      words = after;
    }
  }
  if (std::string_view word = words.peek(); is_event(word)) {
    line.event = word.substr(0, word.size() - 1);
    words.take(word);
  }
  line.rest = words.rest();
  return line.cpu || line.time_ns || !line.event.empty();
}

/// The task's name ends at a number that is followed by what follows a thread id.
std::optional<ScriptSampleLine> parse_with_task(std::string_view text, bool certain) {
  std::optional<ScriptSampleLine> first;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    ScriptSampleLine line;
    if (parse_ids(text.substr(at, end - at), line)) {
      line.comm = trim(text.substr(0, at));
      if (parse_place(text.substr(end), line)) return line;
      if (!first && !line.comm.empty()) first = line;
    }
    at = std::min(text.find_first_not_of(kBlanks, end), text.size());
  }
  return certain ? std::nullopt : first;
}

/// Without a thread id: "cc1 cycles:u:".
std::optional<ScriptSampleLine> parse_with_name(std::string_view text) {
  text = trim(text);
  size_t blank = text.find_last_of(kBlanks);
  std::string_view word = blank == std::string_view::npos ? text : text.substr(blank + 1);
  if (!is_event(word)) return std::nullopt;
  ScriptSampleLine line;
  line.event = word.substr(0, word.size() - 1);
  if (blank != std::string_view::npos) line.comm = trim(text.substr(0, blank));
  return line;
}

/// Strips "+0x3df".
std::string_view without_offset(std::string_view name) {
  size_t plus = name.rfind("+0x");
  if (plus == std::string_view::npos || plus + 3 == name.size()) return name;
  bool is_offset = name.find_first_not_of(kHexDigits, plus + 3) == std::string_view::npos;
  return is_offset ? name.substr(0, plus) : name;
}

/// The position of the parenthesis that matches the final one: the second in "f(int) (/lib/a
/// (deleted))".
size_t last_parenthesis(std::string_view text) {
  size_t depth = 0;
  for (size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] != '(' || --depth > 0) continue;
    if (at == 0 || is_blank(text[at - 1])) return at;
    break;
  }
  size_t open = text.rfind(" (");  // a path with an unmatched parenthesis
  return open == std::string_view::npos ? open : open + 1;
}

FrameKind kind_of(const ScriptFrameLine& frame) {
  FrameKind kind = kind_of_object(frame.object);
  if (kind != FrameKind::kUser) return kind;
  bool is_upper_half = (frame.address >> 63) != 0 && !frame.object.starts_with('[');
  return is_upper_half ? FrameKind::kKernel : FrameKind::kUser;
}

void parse_object(std::string_view& names, ScriptFrameLine& frame) {
  size_t open = names.ends_with(')') ? last_parenthesis(names) : std::string_view::npos;
  if (open == std::string_view::npos) return;
  std::string_view object = names.substr(open + 1, names.size() - open - 2);
  names = trim(names.substr(0, open));
  if (object == "inlined") {
    frame.kind = FrameKind::kInlined;
    return;
  }
  frame.object = without_offset(object);
  frame.kind = kind_of(frame);
}

}  // namespace

std::optional<ScriptSampleLine> parse_sample_line(std::string_view line, bool certain) {
  ScriptSampleLine placed;
  if (parse_place(line, placed) && (placed.cpu || placed.time_ns)) return placed;
  if (auto parsed = parse_with_task(line, certain)) return parsed;
  return parse_with_name(line);
}

std::optional<ScriptFrameLine> parse_frame_line(std::string_view line) {
  constexpr size_t kMaxDigits = 16;
  line = trim(line);
  size_t digits = std::min(line.find_first_not_of(kHexDigits), line.size());
  if (digits == 0 || digits > kMaxDigits) return std::nullopt;
  if (digits < line.size() && !is_blank(line[digits])) return std::nullopt;
  ScriptFrameLine frame;
  std::from_chars(line.data(), line.data() + digits, frame.address, 16);
  std::string_view names = trim(line.substr(digits));
  parse_object(names, frame);
  frame.function = names.empty() ? "[unknown]" : without_offset(names);
  return frame;
}

std::string_view place_in_sample_line(std::string_view rest) {
  bool has_source = rest.find("|OP ") != std::string_view::npos;
  if (has_source) rest.remove_prefix(rest.rfind('|') + 1);
  // An address and its symbol are separated by one blank, other fields by more, unless they are as
  // wide as addresses.
  constexpr size_t kWide = 12;
  auto is_hex = [](std::string_view word) {
    return word.find_first_not_of(kHexDigits) == std::string_view::npos;
  };
  for (Words words(rest); !words.rest().empty();) {
    std::string_view word = words.peek();
    bool ends_field = words.rest().substr(word.size()).starts_with("  ");
    Words after = words;
    after.take(word);
    bool is_address = is_hex(word) && !ends_field;
    if (is_address && !(is_hex(after.peek()) && after.peek().size() >= kWide)) return words.rest();
    if (!is_hex(word) && !has_source) return words.rest();
    words = after;
  }
  return rest;
}

}  // namespace sonde
