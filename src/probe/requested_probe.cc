#include "probe/requested_probe.h"

#include <charconv>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr size_t kLongestName = 63;  // MAX_EVENT_NAME_LEN in kernel/trace/trace_probe.h, with its 0
constexpr size_t kLongestDefinition = size_t{1} << 16;

bool starts_name(char c) {
  return c == '_' || is_ascii_upper(c) || (c >= 'a' && c <= 'z');
}
bool is_name_char(char c) {
  return starts_name(c) || is_ascii_digit(c);
}

/// The first of `wanted` in `text` from `from` that no backslash precedes.
size_t find_unescaped(std::string_view text, std::string_view wanted, size_t from = 0) {
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (wanted.find(text[i]) != std::string_view::npos)
      return i;
  }
  return std::string_view::npos;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

/// As C reads it: decimal, octal after "0", hexadecimal after "0x".
std::optional<uint64_t> c_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_hex(text.substr(2));
  bool is_octal = text.size() > 1 && text.front() == '0';
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_octal ? 8 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `more`: characters allowed besides those of a C identifier.
Result<> check_name(std::string_view what, std::string_view name, std::string_view more = "") {
  bool valid = !name.empty() && starts_name(name.front());
  for (char c : name) valid = valid && (is_name_char(c) || more.find(c) != std::string_view::npos);
  if (!valid)
    return fail(ErrorCode::kBadEvent,
                "'{}' cannot be the name of {}: use letters, digits and '_', beginning with a "
                "letter",
                name, what);
  if (name.size() > kLongestName)
    return fail(ErrorCode::kBadEvent, "the name of {} has {} characters, the kernel takes {}: '{}'",
                what, name.size(), kLongestName, name);
  return {};
}

/// Where the place ends: at the first blank; a pattern after ';' is one word too, as in perf.
std::string_view next_word(std::string_view& rest) {
  size_t begin = rest.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return rest = {};
  size_t end = begin;
  // A backslash takes nothing away from a blank: a word never contains one, nor the end of a line.
  while (end < rest.size() && kBlanks.find(rest[end]) == std::string_view::npos) ++end;
  std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

// --- places

class PlaceParser {
 public:
  PlaceParser(std::string_view word, RequestedProbe& probe) : word_(word), probe_(probe) {}

  Result<> parse() {
    TRY(take_event_name());
    if (word_.empty())
      return fail(ErrorCode::kBadEvent, "'{}' names no place: say FUNCTION, SOURCE:LINE or ADDRESS",
                  probe_.text);
    if (word_.front() == '%' || is_sdt_name()) return parse_usdt();
    if (word_.starts_with("0x")) return parse_address();
    if (is_source()) return parse_source();
    return parse_function();
  }

 private:
  /// "[GROUP:]EVENT=" if '=' is the first special character; ';' begins a pattern, which may
  /// contain '='.
  Result<> take_event_name() {
    size_t at = find_unescaped(word_, ";=@+%");
    if (at == std::string_view::npos || word_[at] != '=') return {};
    std::string_view name = word_.substr(0, at);
    word_.remove_prefix(at + 1);
    if (size_t colon = name.find(':'); colon != std::string_view::npos) {
      TRY(check_name("a group", name.substr(0, colon), "-"));
      probe_.group = name.substr(0, colon);
      name.remove_prefix(colon + 1);
    }
    TRY(check_name("an event", name));
    probe_.event = name;
    return {};
  }

  [[nodiscard]] bool is_sdt_name() const {
    return word_.starts_with("sdt_") && word_.find(':') != std::string_view::npos;
  }

  Result<> parse_usdt() {
    if (word_.front() == '%') word_.remove_prefix(1);
    if (size_t colon = word_.find(':'); colon != std::string_view::npos) {
      std::string_view provider = word_.substr(0, colon);
      if (provider.starts_with("sdt_")) provider.remove_prefix(4);
      probe_.sdt_provider = provider;
      word_.remove_prefix(colon + 1);
      if (probe_.sdt_provider.empty()) return wrong("no provider before ':'");
    }
    probe_.sdt_name = word_;
    if (probe_.sdt_name.empty())
      return wrong("no name after '%': the form is %PROVIDER:NAME, or %NAME from the cache");
    return {};
  }

  Result<> parse_address() {
    size_t end = std::min(find_unescaped(word_, ":;@+%"), word_.size());
    probe_.address = c_number(word_.substr(0, end));
    if (!probe_.address) return wrong("not an address");
    return parse_parts(end);
  }

  /// A name with a period before the first ':' or ';' is a source file, as in perf, unless one of
  /// the parts follows that only functions have.
  [[nodiscard]] bool is_source() const {
    size_t at = separator(0);
    if (at == std::string_view::npos || (word_[at] != ':' && word_[at] != ';')) return false;
    bool function_only =
        word_[at] == ':' && find_unescaped(word_, "+@%", at) != std::string_view::npos;
    return !function_only && word_.substr(0, at).find('.') != std::string_view::npos;
  }

  Result<> parse_source() {
    size_t at = separator(0);
    probe_.source = unescaped(word_.substr(0, at));
    return parse_parts(at);
  }

  Result<> parse_function() {
    size_t at = std::min(separator(0), word_.size());
    probe_.function = unescaped(word_.substr(0, at));
    if (probe_.function.empty()) return wrong("no function");
    return parse_parts(at);
  }

  /// The next separator; "::" is part of a C++ or Rust name.
  [[nodiscard]] size_t separator(size_t from) const {
    for (;;) {
      size_t at = find_unescaped(word_, ":;@+%", from);
      if (at == std::string_view::npos || !word_.substr(at).starts_with("::")) return at;
      from = at + 2;
    }
  }

  Result<> parse_parts(size_t at) {
    while (at < word_.size()) {
      char kind = word_[at++];
      // A pattern goes to the end of the word, whatever it contains.
      if (kind == ';') {
        if (!probe_.pattern.empty()) return wrong("two patterns");
        probe_.pattern = word_.substr(at);
        if (probe_.pattern.empty()) return wrong("no pattern after ';'");
        break;
      }
      size_t end = std::min(find_unescaped(word_, ":;@+%", at), word_.size());
      TRY(parse_part(kind, word_.substr(at, end - at)));
      at = end;
    }
    return check();
  }

  Result<> parse_part(char kind, std::string_view text) {
    switch (kind) {
      case ':': {
        std::optional<uint64_t> line = parse_number(text);
        if (!line || *line > UINT32_MAX) return wrong("no line number after ':'");
        probe_.line = static_cast<uint32_t>(*line);
        return {};
      }
      case '+':
        probe_.offset = c_number(text);
        if (!probe_.offset) return wrong("no number of bytes after '+'");
        return {};
      case '@':
        if (!probe_.source.empty()) return wrong("two source files");
        probe_.source = unescaped(text);
        if (probe_.source.empty()) return wrong("no source file after '@'");
        return {};
      default:
        if (text != "return") return wrong("only 'return' may follow '%' here");
        probe_.at_return = true;
        return {};
    }
  }

  Result<> check() {
    if (probe_.function.empty() && !probe_.source.empty() && !probe_.line && probe_.pattern.empty())
      return wrong("a source file needs a line or a pattern");
    if (probe_.function.empty() && probe_.at_return) return wrong("%return needs a function");
    if (probe_.function.empty() && probe_.offset) return wrong("an offset needs a function");
    if (!probe_.pattern.empty() && (probe_.line || probe_.offset))
      return wrong("a pattern excludes a line and an offset");
    if (probe_.line && probe_.offset) return wrong("a line excludes an offset");
    if (probe_.at_return && (probe_.line || probe_.offset || !probe_.pattern.empty()))
      return wrong("%return excludes a line, an offset and a pattern");
    if (probe_.address && (probe_.line || !probe_.source.empty() || !probe_.pattern.empty()))
      return wrong("an address excludes a line, a source file and a pattern");
    return {};
  }

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view why) const {
    return fail(ErrorCode::kBadEvent,
                "'{}': {}; a place is FUNCTION[@SOURCE][+OFFSET|%return|:LINE|;PATTERN], "
                "SOURCE:LINE, SOURCE;PATTERN, ADDRESS or %PROVIDER:NAME",
                probe_.text, why);
  }

  std::string_view word_;
  RequestedProbe& probe_;
};

// --- arguments

class ArgumentParser {
 public:
  explicit ArgumentParser(std::string_view word) : rest_(word) {}

  Result<RequestedArgument> parse() {
    argument_.text = rest_;
    take_name();
    if (rest_.ends_with("@user") && rest_.size() > 5) {
      argument_.user_memory = true;
      rest_.remove_suffix(5);
    }
    TRY(take_type());
    if (rest_.empty()) return wrong("nothing to fetch");
    if (rest_ == "$params" || rest_ == "$vars") return take_all();
    if (!starts_name(rest_.front())) return take_fetch();
    TRY(take_variable());
    return argument_;
  }

 private:
  void take_name() {
    size_t at = rest_.find('=');
    if (at == std::string_view::npos || !starts_name(rest_.front())) return;
    argument_.name = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    named_ = true;
  }

  Result<> take_type() {
    if (named_) TRY(check_name("an argument", argument_.name));
    // A literal string, \"a:b", has no type; "ns::variable" has none in its name.
    if (rest_.starts_with("\\\"")) return {};
    size_t colon = rest_.rfind(':');
    if (colon == std::string_view::npos || (colon > 0 && rest_[colon - 1] == ':')) return {};
    argument_.type = rest_.substr(colon + 1);
    if (argument_.type.empty()) return wrong("no type after ':'");
    for (char c : argument_.type)
      if (!is_name_char(c) && std::string_view("@/[]").find(c) == std::string_view::npos)
        return wrong("not a type after ':'");
    rest_ = rest_.substr(0, colon);
    return {};
  }

  Result<RequestedArgument> take_all() {
    if (named_ || !argument_.type.empty()) return wrong("it takes no name and no type");
    argument_.kind =
        rest_ == "$vars" ? RequestedArgument::Kind::kAllVars : RequestedArgument::Kind::kAllParams;
    argument_.what = rest_;
    return argument_;
  }

  Result<RequestedArgument> take_fetch() {
    if (std::string_view("%$@+-\\").find(rest_.front()) == std::string_view::npos)
      return wrong("neither a variable nor %register, $special, @symbol, +offset(…) or \\constant");
    if (rest_.size() == 1) return wrong("nothing after its first character");
    int open = 0;
    for (char c : rest_) {
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (open < 0) break;
    }
    if (open != 0 && rest_.front() != '\\') return wrong("its parentheses do not match");
    argument_.kind = RequestedArgument::Kind::kFetch;
    argument_.what = rest_;
    return argument_;
  }

  /// "req->headers[2].len"
  Result<> take_variable() {
    using Kind = RequestedMember::Kind;
    argument_.kind = RequestedArgument::Kind::kVariable;
    argument_.what = take_identifier(true);
    while (!rest_.empty()) {
      if (rest_.starts_with("->")) {
        rest_.remove_prefix(2);
        TRY(take_member(Kind::kArrow));
      } else if (rest_.front() == '.') {
        rest_.remove_prefix(1);
        TRY(take_member(Kind::kDot));
      } else if (rest_.front() == '[') {
        TRY(take_index());
      } else {
        return wrong("after a variable come ->member, .member or [index]");
      }
    }
    return {};
  }

  std::string_view take_identifier(bool qualified) {
    size_t end = 0;
    while (end < rest_.size() && (is_name_char(rest_[end]) || (qualified && rest_[end] == ':')))
      ++end;
    std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  Result<> take_member(RequestedMember::Kind kind) {
    std::string_view name = take_identifier(false);
    if (name.empty()) return wrong("no member after '->' or '.'");
    argument_.members.push_back({.kind = kind, .name = std::string(name)});
    return {};
  }

  Result<> take_index() {
    size_t end = rest_.find(']');
    if (end == std::string_view::npos) return wrong("no ']'");
    std::string_view digits = rest_.substr(1, end - 1);
    bool negative = digits.starts_with('-');
    std::optional<uint64_t> index = c_number(digits.substr(negative ? 1 : 0));
    if (!index || *index > INT32_MAX) return wrong("an index is a number");
    auto value = static_cast<int64_t>(*index);
    argument_.members.push_back(
        {.kind = RequestedMember::Kind::kIndex, .index = negative ? -value : value});
    rest_.remove_prefix(end + 1);
    return {};
  }

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view why) const {
    return fail(ErrorCode::kBadEvent,
                "argument '{}': {}; the form is [NAME=]VARIABLE[->MEMBER…][:TYPE] or "
                "[NAME=]%REGISTER[:TYPE]",
                argument_.text, why);
  }

  std::string_view rest_;
  RequestedArgument argument_;
  bool named_ = false;
};

}  // namespace

Result<RequestedProbe> parse_probe(std::string_view definition) {
  RequestedProbe probe;
  if (definition.size() > kLongestDefinition)
    return fail(ErrorCode::kBadEvent, "a probe definition of {} bytes is too long: {} are allowed",
                definition.size(), kLongestDefinition);
  probe.text = trim(definition);
  std::string_view rest = definition;
  std::string_view place = next_word(rest);
  TRY(PlaceParser(place, probe).parse());
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest))
    probe.arguments.push_back(TRY(ArgumentParser(word).parse()));
  if (!probe.sdt_name.empty() && !probe.arguments.empty())
    return fail(ErrorCode::kBadEvent,
                "'{}': the arguments of a USDT or cached probe are those of its definition: leave "
                "out '{}'",
                probe.text, probe.arguments.front().text);
  return probe;
}

}  // namespace sonde
