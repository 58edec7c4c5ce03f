#include "symbol/kallsyms_lines.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace sonde {
namespace {

/// Values of hexadecimal digits; kNoDigit for all other characters.
constexpr uint8_t kNoDigit = 0x80;
constexpr std::array<uint8_t, 256> kDigits = [] {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (uint8_t i = 0; i < 10; ++i) digits['0' + i] = i;
  for (uint8_t i = 0; i < 6; ++i) digits['a' + i] = digits['A' + i] = static_cast<uint8_t>(10 + i);
  return digits;
}();

constexpr uint64_t each_byte(uint8_t value) {
  return value * uint64_t{0x0101010101010101};
}

constexpr uint64_t kTop = each_byte(0x80);

/// Eight hexadecimal digits at once.
struct Eight {
  uint32_t value;
  bool good;  // all are digits
};
[[gnu::always_inline]] inline Eight parse_eight(const char* text) {
  auto chars = load<uint64_t>(reinterpret_cast<const std::byte*>(text), ByteOrder::kBig);
  uint64_t lower = chars | each_byte(0x20);
  // The top bit of each byte says whether the character is at or above the first one of its kind,
  // and whether it is above the last one.
  uint64_t digits = (chars + each_byte(0x80 - '0')) & ~(chars + each_byte(0x7f - '9'));
  uint64_t letters = (lower + each_byte(0x80 - 'a')) & ~(lower + each_byte(0x7f - 'f'));
  bool good = ((digits | letters) & ~chars & kTop) == kTop;
  uint64_t nibbles = (chars & each_byte(0x0f)) + ((letters & kTop) >> 7) * 9;
  nibbles = (nibbles | nibbles >> 4) & 0x00ff00ff00ff00ff;
  nibbles = (nibbles | nibbles >> 8) & 0x0000ffff0000ffff;
  return {static_cast<uint32_t>(nibbles | nibbles >> 16), good};
}

constexpr size_t kAddressDigits = 16;

/// The start of nearly every line of a 64-bit kernel: "ffffffff81000000 T _".
[[gnu::always_inline]] inline bool parse_usual(const char* text, KallsymsLine& line) {
  auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  Eight high = parse_eight(text);
  Eight low = parse_eight(text + 8);
  line.address = uint64_t{high.value} << 32 | low.value;
  line.type = text[17];
  return high.good && low.good && text[16] == ' ' && byte(17) > ' ' && text[18] == ' ' &&
         byte(19) > ' ';
}

bool parse_any(std::string_view text, KallsymsLine& line) {
  size_t digits = 0;
  uint64_t address = 0;
  for (; digits < text.size(); ++digits) {
    uint8_t digit = kDigits[static_cast<uint8_t>(text[digits])];
    if (digit == kNoDigit) break;
    address = address << 4 | digit;
  }
  if (digits == 0 || digits > kAddressDigits) return false;
  text.remove_prefix(digits);
  if (text.size() < 4 || text[0] != ' ' || text[2] != ' ') return false;
  line.address = address;
  line.type = text[1];
  line.rest = text.substr(3);
  std::string_view name = line.name();
  return !name.empty() && name[0] != '\0';
}

}  // namespace

std::string_view KallsymsLine::name() const {
  return rest.ends_with(']') ? rest.substr(0, rest.find_first_of("\t ")) : rest;
}

std::string_view KallsymsLine::module() const {
  std::string_view behind = rest.substr(name().size());
  size_t open = behind.find('[');
  return open == std::string_view::npos ? std::string_view()
                                        : behind.substr(open, behind.find(']') - open + 1);
}

bool KallsymsLines::next(KallsymsLine& line) {
  constexpr size_t kName = kAddressDigits + 3;
  while (at_ < text_.size()) {
    const char* begin = text_.data() + at_;
    bool usual = text_.size() - at_ > kName && parse_usual(begin, line);
    size_t from = usual ? at_ + kName : at_;
    size_t end = std::min(text_.find('\n', from), text_.size());
    std::string_view text = text_.substr(from, end - from);
    at_ = end + 1;
    if (usual) {
      line.rest = text;
      return true;
    }
    if (parse_any(text, line)) return true;
    ++bad_lines_;
  }
  return false;
}

}  // namespace sonde
