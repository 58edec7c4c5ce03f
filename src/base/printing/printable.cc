#include "base/printing/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace sonde {
namespace {

constexpr char32_t kShownInstead = 0xfffd;
constexpr std::string_view kShownBytes = "\xef\xbf\xbd";

/// Whether all eight bytes are from 0x20 to 0x7e: nearly all text is.
bool is_plain(const char* bytes) {
  constexpr uint64_t kEach = 0x0101010101010101;
  uint64_t eight;
  std::memcpy(&eight, bytes, sizeof eight);
  // The sum's high bit tells that a byte is 0x7f or more, the difference's that it is below 0x20.
  return ((eight | (eight + kEach) | (eight - 0x20 * kEach)) & 0x80 * kEach) == 0;
}

using Arg = fmt::basic_format_arg<fmt::format_context>;

/// The arguments of one format, texts among them replaced.
class RuledArgs {
 public:
  RuledArgs(fmt::format_args args, TextRule rule) : rule_(rule) {
    for (int i = 0; Arg arg = args.get(i); ++i)
      args_.push_back(fmt::visit_format_arg([&](auto value) { return ruled(value, arg); }, arg));
  }
  [[nodiscard]] fmt::format_args view() const {
    return {args_.data(), static_cast<int>(args_.size())};
  }

 private:
  template <typename Value>
  Arg ruled(Value value, Arg arg) {
    if constexpr (std::is_same_v<Value, fmt::string_view>)
      return text({value.data(), value.size()}, arg);
    else if constexpr (std::is_same_v<Value, const char*>)
      return text(value, arg);
    else if constexpr (std::is_same_v<Value, char>)
      return character(value, arg);
    else
      return arg;
  }
  Arg text(std::string_view text, Arg arg) {
    std::string replacement;
    if (!rule_(text, replacement)) return arg;
    return made(std::string_view(texts_.emplace_back(std::move(replacement))));
  }
  /// A format may demand a character, so that another one takes its place. Line ends that are
  /// characters of their own are ours.
  Arg character(char c, Arg arg) {
    std::string replacement;
    return c != '\n' && rule_({&c, 1}, replacement) ? made('?') : arg;
  }
  template <typename Value>
  static Arg made(const Value& value) {
    return fmt::format_args(fmt::make_format_args(value)).get(0);
  }

  TextRule rule_;
  std::list<std::string> texts_;
  std::vector<Arg> args_;
};

}  // namespace

char32_t take_printable(std::string_view& text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (size > text.size() || valid_utf8_prefix(text.substr(0, size)) < size) {
    text.remove_prefix(1);
    return kShownInstead;
  }
  char32_t character = size == 1 ? first : first & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) character = character << 6 | (byte(i) & 0x3fu);
  text.remove_prefix(size);
  return steers_terminal(character) ? kShownInstead : character;
}

size_t printable_prefix(std::string_view text, std::string_view kept) {
  constexpr std::string_view kItself = kShownBytes;
  size_t at = 0;
  while (at < text.size()) {
    if (at + sizeof(uint64_t) <= text.size() && is_plain(text.data() + at)) {
      at += sizeof(uint64_t);
      continue;
    }
    std::string_view rest = text.substr(at);
    if (kept.find(rest[0]) == std::string_view::npos && !rest.starts_with(kItself)) {
      std::string_view after = rest;
      if (take_printable(after) == kShownInstead) return at;
      at += rest.size() - after.size();
    } else {
      at += rest.starts_with(kItself) ? kItself.size() : 1;
    }
  }
  return at;
}

void append_printable(std::string& out, std::string_view text, std::string_view kept) {
  while (true) {
    size_t good = printable_prefix(text, kept);
    out += text.substr(0, good);
    if (good == text.size()) return;
    out += kShownBytes;
    text.remove_prefix(good);
    (void)take_printable(text);
  }
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  append_printable(out, text, kept);
  return out;
}

void make_printable(std::string& text, size_t begin) {
  constexpr std::string_view kKept = "\t";
  std::string_view piece = std::string_view(text).substr(begin);
  if (printable_prefix(piece, kKept) < piece.size())
    text.replace(begin, std::string::npos, printable(piece, kKept));
}

void make_message_printable(std::string& text, size_t begin) {
  while (text.size() > begin && text.back() == '\n') text.pop_back();
  make_printable(text, begin);
}

std::string format_with_rule(fmt::string_view format, fmt::format_args args, TextRule rule) {
  return fmt::vformat(format, RuledArgs(args, rule).view());
}

}  // namespace sonde
