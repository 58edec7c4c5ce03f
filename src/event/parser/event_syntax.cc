#include "event/parser/event_syntax.h"

#include <cctype>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kParserError = "parser error";

bool is_quote(char c) {
  return c == '\'' || c == '"';
}

/// Position of the first `c` outside quotes and square brackets, starting at `from`.
size_t find_unquoted(std::string_view text, char c, size_t from) {
  char quote = 0;
  int brackets = 0;
  for (size_t at = from; at < text.size(); ++at) {
    if (quote != 0) {
      if (text[at] == quote) quote = 0;
    } else if (text[at] == c && brackets <= 0) {
      return at;
    } else if (text[at] == '[' || text[at] == ']') {
      brackets += text[at] == '[' ? 1 : -1;
    } else if (is_quote(text[at])) {
      quote = text[at];
    }
  }
  return std::string_view::npos;
}

bool is_letters(std::string_view text) {
  for (char c : text)
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) return false;
  return !text.empty();
}

/// The length of the path in a word that may be the path of a BPF program; 0 if it is not one.
size_t program_size(std::string_view word) {
  bool is_path = word.starts_with('.') || word.starts_with('/');
  bool has_terms = word.find('=') != std::string_view::npos;
  if (!has_terms && is_program_path(word)) return word.size();
  // "./prog.c/map:…/": the path ends before the slash that opens the terms.
  for (size_t slash = word.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = word.rfind('/', slash - 1)) {
    if (!is_path && slash != word.find('/')) continue;
    if (is_program_path(word.substr(0, slash))) return slash;
  }
  return is_path ? word.size() : 0;
}

/// Where the head of an event ends: at the slash that opens its terms, except that the length of a
/// breakpoint, the path of a program and the object of a USDT probe contain slashes themselves.
size_t head_size(std::string_view text) {
  std::string_view word = text.substr(0, text.find_first_of(",{}"));
  if (word.starts_with("mem:")) return word.size();
  if (is_usdt_name(word) && word.find("@/") < word.find('/')) return word.size();
  if (size_t size = program_size(word); size != 0) return size;
  return std::min(word.find('/'), word.size());
}

class Scanner {
 public:
  explicit Scanner(const EventErrors& errors) : errors_(errors), text_(errors.text()) {}

  Result<std::vector<GroupSyntax>> run() {
    std::vector<GroupSyntax> groups;
    while (true) {
      groups.push_back(TRY(item()));
      skip_blanks();
      if (at_ == text_.size()) return groups;
      if (text_[at_] != ',') return errors_.fail(here(), kParserError);
      ++at_;
    }
  }

 private:
  [[nodiscard]] std::string_view here() const { return text_.substr(at_); }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// An event, or a group of events.
  Result<GroupSyntax> item() {
    GroupSyntax group;
    skip_blanks();
    size_t start = at_;
    size_t brace = text_.find_first_of("{},/:", start);
    if (brace == std::string_view::npos || text_[brace] != '{') {
      group.events.push_back(TRY(event()));
      return group;
    }
    group.braces = true;
    group.name = trim(text_.substr(start, brace - start));
    at_ = brace + 1;
    TRY(members(group));
    if (peek() == ':') {
      ++at_;
      group.modifiers = TRY(modifiers());
    }
    return group;
  }

  /// The contents of the braces, including the closing one.
  Result<> members(GroupSyntax& group) {
    while (true) {
      group.events.push_back(TRY(event()));
      skip_blanks();
      char c = peek();
      if (c != ',' && c != '}') return errors_.fail(here(), kParserError);
      ++at_;
      if (c == '}') return {};
    }
  }

  Result<EventSyntax> event() {
    EventSyntax event;
    skip_blanks();
    size_t start = at_;
    at_ = start + head_size(here());
    event.head = trim(text_.substr(start, at_ - start));
    if (event.head.empty()) return errors_.fail(text_.substr(start), kParserError);
    if (peek() == '/') TRY(slashes(event));
    event.text = trim(text_.substr(start, at_ - start));
    size_t blank = event.head.find_first_of(" \t\r\n");
    if (blank != std::string_view::npos)
      return errors_.fail(event.head.substr(blank), kParserError);
    return event;
  }

  /// "/terms/modifiers"
  Result<> slashes(EventSyntax& event) {
    event.has_slashes = true;
    size_t close = find_unquoted(text_, '/', at_ + 1);
    if (close == std::string_view::npos) return errors_.fail(here(), "missing closing '/'");
    event.terms = TRY(parse_term_list(text_.substr(at_ + 1, close - at_ - 1), errors_));
    at_ = close + 1;
    if (peek() == ':') ++at_;
    if (std::isalpha(static_cast<unsigned char>(peek())) != 0) event.modifiers = TRY(modifiers());
    return {};
  }

  Result<std::string_view> modifiers() {
    size_t end = std::min(text_.find_first_of(",{}", at_), text_.size());
    std::string_view letters = trim(text_.substr(at_, end - at_));
    if (!is_letters(letters)) return errors_.fail(here(), kParserError);
    at_ = end;
    return letters;
  }

  const EventErrors& errors_;
  std::string_view text_;
  size_t at_ = 0;
};

std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && is_quote(value.front()) && value.back() == value.front())
    return value.substr(1, value.size() - 2);
  return value;
}

}  // namespace

bool is_program_path(std::string_view text) {
  return text.size() > 2 && (text.ends_with(".c") || text.ends_with(".o"));
}

bool is_usdt_name(std::string_view text) {
  return text.starts_with("sdt_") || text.starts_with('%');
}

Result<std::vector<GroupSyntax>> parse_event_syntax(const EventErrors& errors) {
  return Scanner(errors).run();
}

Result<std::vector<TermSyntax>> parse_term_list(std::string_view text, const EventErrors& errors) {
  std::vector<TermSyntax> terms;
  if (trim(text).empty()) return terms;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(find_unquoted(text, ',', start), text.size());
    std::string_view field = trim(text.substr(start, end - start));
    TermSyntax term;
    size_t equals = field.find('=');
    term.name = trim(field.substr(0, equals));
    if (term.name.empty()) return errors.fail(text.substr(start), kParserError);
    if (equals != std::string_view::npos) {
      term.value = trim(field.substr(equals + 1));
      if (term.value->empty()) return errors.fail(field.substr(equals), kParserError);
      term.value = unquoted(*term.value);
    }
    terms.push_back(term);
    start = end + 1;
  }
  return terms;
}

}  // namespace sonde
