#include "event/print_fmt/print_fmt_lexer.h"

#include <array>
#include <cctype>

#include "base/text.h"

namespace sonde::print_fmt {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    for (;;) {
      skip_space();
      Token token;
      if (at_ < text_.size()) token = TRY(next());
      if (token.kind == Token::Kind::kString && !tokens.empty() &&
          tokens.back().kind == Token::Kind::kString) {
        tokens.back().text += token.text;
        continue;
      }
      tokens.push_back(std::move(token));
      if (tokens.back().kind == Token::Kind::kEnd) return tokens;
    }
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  Result<Token> next() {
    char c = peek();
    if (c == '"') return string();
    if (c == '\'') return character();
    if (is_ascii_digit(c)) return number();
    if (is_name_start(c)) return name();
    return punctuation();
  }

  Result<Token> name() {
    size_t start = at_;
    while (is_name_start(peek()) || is_ascii_digit(peek())) ++at_;
    Token token;
    token.kind = Token::Kind::kName;
    token.text = text_.substr(start, at_ - start);
    return token;
  }

  static int digit_value(char c) {
    if (is_ascii_digit(c)) return c - '0';
    int lower = std::tolower(static_cast<unsigned char>(c));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
  }

  Result<Token> number() {
    Token token;
    token.kind = Token::Kind::kNumber;
    int base = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      base = 16;
      at_ += 2;
    } else if (peek() == '0') {
      base = 8;
    }
    while (digit_value(peek()) < base)
      token.value = token.value * static_cast<uint64_t>(base) +
                    static_cast<uint64_t>(digit_value(text_[at_++]));
    token.is_decimal = base == 10;
    for (;; ++at_) {
      char c = peek();
      if (c == 'u' || c == 'U') {
        token.is_unsigned = true;
      } else if (c == 'l' || c == 'L') {
        token.is_long_long = token.is_long;
        token.is_long = true;
      } else {
        break;
      }
    }
    if (is_name_start(peek()) || is_ascii_digit(peek()) || peek() == '.')
      return fail(ErrorCode::kCorrupt, "bad number in the print format");
    return token;
  }

  /// One character of a literal, unescaped.
  char escaped() {
    char c = text_[at_++];
    if (c != '\\' || at_ >= text_.size()) return c;
    c = text_[at_++];
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'a':
        return '\a';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'x': {
        unsigned value = 0;
        for (; digit_value(peek()) < 16; ++at_)
          value = (value << 4 | static_cast<unsigned>(digit_value(peek()))) & 0xff;
        return static_cast<char>(value);
      }
      default:
        break;
    }
    if (digit_value(c) >= 8) return c;
    auto value = static_cast<unsigned>(digit_value(c));
    for (int i = 0; i < 2 && digit_value(peek()) < 8; ++i)
      value = value * 8 + static_cast<unsigned>(digit_value(text_[at_++]));
    return static_cast<char>(value);
  }

  Result<Token> string() {
    Token token;
    token.kind = Token::Kind::kString;
    ++at_;
    while (at_ < text_.size() && peek() != '"') token.text += escaped();
    if (at_ >= text_.size())
      return fail(ErrorCode::kCorrupt, "unfinished string in the print format");
    ++at_;
    return token;
  }

  Result<Token> character() {
    Token token;
    token.kind = Token::Kind::kChar;
    ++at_;
    if (at_ < text_.size())
      token.value = static_cast<uint64_t>(int64_t{static_cast<signed char>(escaped())});
    if (peek() != '\'') return fail(ErrorCode::kCorrupt, "bad character in the print format");
    ++at_;
    return token;
  }

  Result<Token> punctuation() {
    static constexpr std::array<std::string_view, 10> kPairs{
        "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::"};
    static constexpr std::string_view kSingles = "()[]{},;.?:=+-*/%&|^~!<>#";
    Token token;
    token.kind = Token::Kind::kPunctuation;
    for (std::string_view pair : kPairs)
      if (text_.substr(at_, 2) == pair) token.text = pair;
    if (token.text.empty() && kSingles.find(peek()) != std::string_view::npos) token.text = peek();
    if (token.text.empty())
      return fail(ErrorCode::kCorrupt, "unexpected character in the print format");
    at_ += token.text.size();
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) {
  return Lexer(text).run();
}

}  // namespace sonde::print_fmt
