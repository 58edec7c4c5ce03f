#include "base/config.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace sonde {
namespace {

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// Every setting is compared with all others.
constexpr size_t kMaxSettings = 4096;

/// Lower case except for the subsection, which is between the first and the last dot.
std::string canonical(std::string_view name) {
  size_t first = name.find('.'), last = name.rfind('.');
  if (first == last) return lowered(name);
  return lowered(name.substr(0, first)) + std::string(name.substr(first, last - first)) +
         lowered(name.substr(last));
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file, Config& config)
      : text_(text), file_(file), config_(config) {}

  Result<> run() {
    while (at_ < text_.size()) {
      skip_blanks();
      if (at_ == text_.size()) break;
      char c = text_[at_];
      if (c == '#' || c == ';')
        skip_line();
      else if (c == '[')
        TRY(section());
      else
        TRY(setting());
    }
    return {};
  }

 private:
  Result<> section() {
    size_t end = text_.find_first_of("]\n", at_);
    if (end == std::string_view::npos || text_[end] != ']') return bad();
    std::string_view inside = trim(text_.substr(at_ + 1, end - at_ - 1));
    size_t quote = inside.find('"');
    section_ = lowered(trim(inside.substr(0, quote)));
    if (section_.empty() || section_.front() == '.' ||
        !std::ranges::all_of(section_, is_in_section))
      return bad();
    if (quote != std::string_view::npos) {
      std::string_view sub = inside.substr(quote);
      if (sub.size() < 2 || sub.back() != '"' || std::ranges::any_of(sub, is_control)) return bad();
      section_ += '.';
      section_ += sub.substr(1, sub.size() - 2);
    }
    at_ = end + 1;
    return {};
  }

  Result<> setting() {
    size_t begin = at_;
    while (at_ < text_.size() && is_key(text_[at_])) ++at_;
    std::string_view key = text_.substr(begin, at_ - begin);
    if (key.empty() || section_.empty()) return bad();
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    std::string value = "true";
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      value = TRY(read_value());
    } else if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') {
      return bad();
    }
    config_.set(section_ + "." + std::string(key), value);
    if (config_.entries().size() > kMaxSettings)
      return fail(ErrorCode::kFailed, "{}:{}: more than {} settings: leave some out", file_, line_,
                  kMaxSettings);
    return {};
  }

  Result<std::string> read_value() {
    std::string value;
    size_t keep = 0;  // trailing blanks are only kept if more follows
    bool quoted = false;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      char c = text_[at_];
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
        keep = value.size();
      } else if (c == '\\') {
        if (++at_ == text_.size()) return bad();
        if (text_[at_] == '\n') {
          ++line_;
          continue;
        }
        value += TRY(escaped(text_[at_]));
        keep = value.size();
      } else if (!quoted && std::isspace(static_cast<unsigned char>(c))) {
        if (!value.empty()) value += ' ';
      } else {
        value += c;
        keep = value.size();
      }
    }
    if (quoted) return bad();
    value.resize(keep);
    return value;
  }

  Result<char> escaped(char c) const {
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'b':
        return '\b';
      case '"':
      case '\\':
        return c;
      default:
        return bad();
    }
  }

  static bool is_key(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  }

  static bool is_in_section(char c) { return is_key(c) || c == '.'; }
  static bool is_control(char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }

  void skip_blanks() {
    for (; at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])); ++at_)
      if (text_[at_] == '\n') ++line_;
  }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  [[nodiscard]] std::unexpected<Error> bad() const {
    return fail(ErrorCode::kFailed, "{}:{}: neither a [section] nor a `key = value` line", file_,
                line_);
  }

  std::string_view text_;
  std::string_view file_;
  Config& config_;
  std::string section_;
  size_t at_ = 0;
  size_t line_ = 1;
};

std::string quoted_if_needed(std::string_view value) {
  bool is_plain = std::ranges::none_of(value, [](unsigned char c) {
    return c == '#' || c == ';' || c == '"' || c == '\\' || (std::isspace(c) != 0 && c != ' ');
  });
  if (is_plain && trim(value) == value) return std::string(value);
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else
      text += c;
  }
  return text + "\"";
}

}  // namespace

Result<> Config::parse(std::string_view text, std::string_view file) {
  return Reader(text, file, *this).run();
}

void Config::set(std::string_view name, std::string_view value) {
  std::string key = canonical(name);
  auto found = std::ranges::find(entries_, key, &Entry::name);
  if (found != entries_.end())
    found->value = value;
  else
    entries_.push_back({std::move(key), std::string(value)});
}

std::optional<std::string_view> Config::get(std::string_view name) const {
  auto found = std::ranges::find(entries_, canonical(name), &Entry::name);
  if (found == entries_.end()) return std::nullopt;
  return found->value;
}

Result<bool> Config::get_bool(std::string_view name, bool fallback) const {
  auto value = get(name);
  if (!value) return fallback;
  std::string word = lowered(*value);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0" || word.empty()) return false;
  return fail(ErrorCode::kFailed,
              "{}: '{}' is neither true nor false; set it with `config {}=true`", name, *value,
              name);
}

std::string Config::to_text() const {
  std::vector<std::string> sections;
  auto section_of = [](const Entry& entry) { return entry.name.substr(0, entry.name.rfind('.')); };
  for (const Entry& entry : entries_)
    if (std::ranges::find(sections, section_of(entry)) == sections.end())
      sections.push_back(section_of(entry));

  std::string text;
  for (const std::string& section : sections) {
    size_t dot = section.find('.');
    text += dot == std::string::npos
                ? fmt::format("[{}]\n", section)
                : fmt::format("[{} \"{}\"]\n", section.substr(0, dot), section.substr(dot + 1));
    for (const Entry& entry : entries_)
      if (section_of(entry) == section)
        text += fmt::format("\t{} = {}\n", entry.name.substr(section.size() + 1),
                            quoted_if_needed(entry.value));
  }
  return text;
}

}  // namespace sonde
