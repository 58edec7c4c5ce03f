#include "base/shell_words.h"

#include <optional>

namespace sonde {
namespace {

constexpr std::string_view kBlanks = " \t\n", kShellOnly = "$`|&;<>()*?[]{}~#!";
constexpr std::string_view kEscapedInQuotes = "\"\\$`";

class WordReader {
 public:
  WordReader(std::string_view text, std::string_view option) : text_(text), option_(option) {}

  Result<std::vector<std::string>> read() {
    while (at_ < text_.size()) TRY(take(text_[at_++]));
    if (word_) words_.push_back(*word_);
    if (words_.empty()) return fail(ErrorCode::kUsage, "{}: a command is missing", option_);
    return std::move(words_);
  }

 private:
  Result<> take(char c) {
    if (c == '\'' || c == '"') return take_quoted(c);
    if (kBlanks.find(c) != std::string_view::npos) {
      if (word_) words_.push_back(*word_);
      word_.reset();
      return {};
    }
    if (kShellOnly.find(c) != std::string_view::npos)
      return fail(
          ErrorCode::kUsage,
          "{} '{}': '{}' needs a shell, which would be measured too: quote it, or give both "
          "commands as sh -c '...'",
          option_, text_, c);
    if (c == '\\' && at_ < text_.size()) c = text_[at_++];
    add(c);
    return {};
  }

  Result<> take_quoted(char quote) {
    add({});
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      bool escapes = quote == '"' && c == '\\' && at_ < text_.size() &&
                     kEscapedInQuotes.find(text_[at_]) != std::string_view::npos;
      add(escapes ? text_[at_++] : c);
    }
    if (at_ == text_.size())
      return fail(ErrorCode::kUsage, "{} '{}': a quote is not closed", option_, text_);
    ++at_;
    return {};
  }

  void add(std::optional<char> c) {
    if (!word_) word_.emplace();
    if (c) *word_ += *c;
  }

  std::string_view text_, option_;
  size_t at_ = 0;
  std::optional<std::string> word_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> shell_words(std::string_view text, std::string_view option) {
  return WordReader(text, option).read();
}

}  // namespace sonde
