#include "event/print_fmt/print_fmt_spec.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace sonde::print_fmt {
namespace {

class SpecReader {
 public:
  SpecReader(std::string_view text, size_t at, uint32_t word_size)
      : text_(text), at_(at), word_size_(word_size) {}

  /// Reads what follows the '%'; conversion 0 if it is not a conversion.
  Spec read() {
    Spec spec;
    spec.flags = flags();
    spec.width = number();
    if (peek() == '.') {
      ++at_;
      spec.precision = number();
      if (spec.precision == Spec::kNone) spec.precision = 0;
    }
    spec.bytes = length();
    char c = peek();
    if (c == 'i') c = 'd';
    if (c == '\0' || std::string_view("duxXocsp").find(c) == std::string_view::npos) return Spec{};
    spec.conversion = c;
    ++at_;
    if (c == 'p') read_pointer(spec);
    return spec;
  }
  [[nodiscard]] size_t end() const { return at_; }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  uint8_t flags() {
    unsigned flags = 0;
    for (;; ++at_) {
      switch (peek()) {
        case '-':
          flags |= Spec::kLeft;
          break;
        case '+':
          flags |= Spec::kPlus;
          break;
        case ' ':
          flags |= Spec::kSpace;
          break;
        case '#':
          flags |= Spec::kAlternate;
          break;
        case '0':
          flags |= Spec::kZero;
          break;
        default:
          return static_cast<uint8_t>(flags);
      }
    }
  }

  int16_t number() {
    if (peek() == '*') {
      ++at_;
      return Spec::kStar;
    }
    if (!is_ascii_digit(peek())) return Spec::kNone;
    int value = 0;
    for (; is_ascii_digit(peek()); ++at_) value = std::min(value * 10 + (peek() - '0'), 4096);
    return static_cast<int16_t>(value);
  }

  uint8_t length() {
    auto word = static_cast<uint8_t>(word_size_);
    uint8_t bytes = 4;
    for (;; ++at_) {
      switch (peek()) {
        case 'h':
          bytes = bytes == 2 ? 1 : 2;
          break;
        case 'l':
          bytes = bytes == word && at_ > 0 && text_[at_ - 1] == 'l' ? 8 : word;
          break;
        case 'L':
        case 'q':
        case 'j':
          bytes = 8;
          break;
        case 'z':
        case 'Z':
        case 't':
          bytes = word;
          break;
        default:
          return bytes;
      }
    }
  }

  /// The kernel treats every letter and digit after %p as part of the conversion
  /// (Documentation/core-api/printk-formats.rst).
  void read_pointer(Spec& spec) {
    size_t start = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0) ++at_;
    std::string_view suffix = text_.substr(start, at_ - start);
    spec.pointer = classify(suffix);
    bool is_address = spec.pointer == Pointer::kIp4 || spec.pointer == Pointer::kIp6 ||
                      spec.pointer == Pointer::kSocket;
    // The first letter distinguishes i4 from I4 and m from M; the letters after the kind ("I4",
    // "M") are its options.
    size_t kept = 0;
    if (!suffix.empty()) spec.letters[kept++] = suffix[0];
    for (size_t i = is_address ? 2 : 1; i < suffix.size() && kept < sizeof spec.letters; ++i)
      spec.letters[kept++] = suffix[i];
  }

  static Pointer classify(std::string_view suffix) {
    if (suffix.empty()) return Pointer::kPlain;
    char second = suffix.size() > 1 ? suffix[1] : '\0';
    switch (suffix[0]) {
      case 'F':
      case 'S':
      case 'B':
        return Pointer::kSymbolOffset;
      case 'f':
      case 's':
        return Pointer::kSymbol;
      case 'I':
      case 'i':
        if (second == '4') return Pointer::kIp4;
        if (second == '6') return Pointer::kIp6;
        return second == 'S' ? Pointer::kSocket : Pointer::kPlain;
      case 'M':
      case 'm':
        return Pointer::kMac;
      case 'U':
        return Pointer::kUuid;
      case 'h':
        return Pointer::kHex;
      case 'b':
        return second == 'l' ? Pointer::kBitmapList : Pointer::kBitmap;
      case 'e':
        return Pointer::kErrno;
      case 'a':
        return Pointer::kNumber;
      default:
        return Pointer::kPlain;
    }
  }

  std::string_view text_;
  size_t at_;
  uint32_t word_size_;
};

}  // namespace

std::vector<FormatPart> split_format(std::string_view format, uint32_t word_size) {
  std::vector<FormatPart> parts;
  std::string text;
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      text += format[at++];
      continue;
    }
    if (format.substr(at, 2) == "%%") {
      text += '%';
      at += 2;
      continue;
    }
    SpecReader reader(format, at + 1, word_size);
    Spec spec = reader.read();
    if (spec.conversion == 0) {
      text += format[at++];
      continue;
    }
    parts.push_back({std::move(text), spec});
    text.clear();
    at = reader.end();
  }
  if (!text.empty() || parts.empty()) parts.push_back({std::move(text), Spec{}});
  return parts;
}

}  // namespace sonde::print_fmt
