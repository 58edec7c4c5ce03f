#include "cli/flag_parser.h"

#include <optional>
#include <string_view>

#include "base/nearest_names.h"

namespace sonde {
namespace {

/// A flag, as is or negated.
struct Match {
  const Flag* flag = nullptr;
  bool negated = false;
  bool operator==(const Match&) const = default;
};

/// The outcome if the flags in a word end the parse; empty means "go on".
using Stop = std::optional<ParseOutcome>;

class Parser {
 public:
  Parser(const FlagTable& table, std::span<const std::string> words)
      : table_(table), words_(words) {}

  ParseOutcome run() {
    for (; at_ < words_.size(); ++at_) {
      std::string_view word = words_[at_];
      if (word.size() < 2 || word[0] != '-') {
        if (table_.stops_at_first_word()) return finish(at_);
        arguments_.words.emplace_back(word);
        continue;
      }
      if (word == "--") {
        arguments_.after_dashes = true;
        return finish(at_ + 1);
      }
      Stop stop = word[1] == '-' ? long_flag(word.substr(2)) : bundle(word);
      if (stop) return std::move(*stop);
    }
    return finish(at_);
  }

 private:
  ParseOutcome finish(size_t from) {
    arguments_.before_dashes = arguments_.words.size();
    if (!arguments_.after_dashes) arguments_.before_dashes += words_.size() - from;
    arguments_.words.insert(arguments_.words.end(),
                            words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end());
    return std::move(arguments_);
  }

  Stop bundle(std::string_view word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const Flag* flag = find_letter(word[i]);
      if (!flag) {
        if (word[i] == 'h') return help();
        return unknown(word, error_message(" Error: unknown switch `{}'\n", word[i]), i == 1);
      }
      if (i == 2)
        if (Stop typo = forgotten_dash(word.substr(1))) return typo;
      std::string_view rest = word.substr(i + 1);
      bool takes_rest = flag->takes != Flag::Takes::kNothing && !rest.empty();
      if (Stop stop = use({flag, false}, takes_rest ? std::optional(rest) : std::nullopt, true))
        return stop;
      if (takes_rest) return {};
    }
    return {};
  }

  /// "-stats" is more likely to mean "--stats" than five letters.
  Stop forgotten_dash(std::string_view word) const {
    if (word.size() < 3) return {};
    for (const Flag& flag : table_.flags())
      if (word.starts_with("no-") || (!flag.name.empty() && flag.name.starts_with(word)))
        return BadFlags{
            .message = error_message(" Error: did you mean `--{}` (with two dashes ?)\n", word),
            .show_usage = false};
    return {};
  }

  Stop long_flag(std::string_view word) {
    std::string_view name = word.substr(0, word.find('='));
    std::optional<std::string_view> value;
    if (name.size() < word.size()) value = word.substr(name.size() + 1);

    if (name == "help") return ManWanted{};
    if (name == "help-all") return help();
    if (name == "list-opts") {
      std::string_view of = value.value_or("");
      return ListFlagsWanted{
          std::string(of.substr(std::min(of.find_first_not_of('-'), of.size())))};
    }
    if (name == "list-cmds") return ListCommandsWanted{};

    Match match = find_exact(name);
    if (!match.flag) {
      std::vector<Match> found = find_abbreviated(name);
      if (found.empty())
        return unknown(words_[at_], error_message(" Error: unknown option `{}'\n", word), true,
                       did_you_mean(nearest_flags(name)));
      if (found.size() > 1) return ambiguous(name, found);
      match = found.front();
    }
    return use(match, value, false);
  }

  static Stop ambiguous(std::string_view name, const std::vector<Match>& found) {
    auto spelling = [](const Match& m) { return (m.negated ? "no-" : "") + m.flag->name; };
    BadFlags bad{.message = error_message(" Error: Ambiguous option: {} (could be --{} or --{})\n",
                                          name, spelling(found[0]), spelling(found[1]))};
    for (const Match& match : found) bad.about.push_back(match.flag);
    return bad;
  }

  /// Gives the flag its value, from the word itself (`attached`) or from the next one.
  Stop use(const Match& match, std::optional<std::string_view> attached, bool by_letter) {
    const Flag& flag = *match.flag;
    Flag::Use use{.value = attached, .negated = match.negated};
    if (match.negated || flag.takes == Flag::Takes::kNothing) {
      if (attached) return bad_value(match, by_letter, "takes no value");
    } else if (!attached) {
      bool has_next = at_ + 1 < words_.size();
      bool next =
          flag.takes == Flag::Takes::kValue ||
          (flag.takes == Flag::Takes::kNextWord && has_next && !words_[at_ + 1].starts_with('-'));
      if (!next)
        use.value = flag.default_value;
      else if (has_next)
        use.value = words_[++at_];
      else
        return bad_value(match, by_letter, "requires a value");
    }
    Result<> written = flag.write(use);
    if (written) return {};
    Error error = std::move(written).error();
    if (error.code == ErrorCode::kUsage && error.message.starts_with("expects"))
      return bad_value(match, by_letter, error.message);
    return error;
  }

  static Stop bad_value(const Match& match, bool by_letter, std::string_view what) {
    std::string name =
        by_letter ? fmt::format("switch `{}'", match.flag->letter)
                  : fmt::format("option `{}{}'", match.negated ? "no-" : "", match.flag->name);
    return BadFlags{.message = fmt::format(" Error: {} {}", name, what), .about = {match.flag}};
  }

  Stop unknown(std::string_view word, std::string message, bool whole_word, std::string hint = {}) {
    if (!table_.keeps_unknown() || !whole_word)
      return BadFlags{.message = " " + std::move(message), .hint = std::move(hint)};
    arguments_.words.emplace_back(word);
    return {};
  }

  std::vector<std::string> nearest_flags(std::string_view name) const {
    std::vector<std::string> names;
    for (const Flag& flag : table_.flags())
      if (!flag.name.empty() && !flag.is_hidden) names.push_back("--" + flag.name);
    return nearest_names("--" + std::string(name), names);
  }

  Stop help() {
    auto rest = words_.subspan(at_ + 1);
    return HelpWanted{{rest.begin(), rest.end()}};
  }

  const Flag* find_letter(char letter) const {
    for (const Flag& flag : table_.flags())
      if (flag.letter == letter) return &flag;
    return nullptr;
  }

  /// Calls visit(spelling, match) for each way to write a flag's long name.
  template <typename Visit>
  void each_spelling(const Visit& visit) const {
    for (const Flag& flag : table_.flags()) {
      if (flag.name.empty()) continue;
      visit(std::string_view(flag.name), Match{&flag, false});
      if (!flag.can_negate) continue;
      std::string negated = "no-" + flag.name;
      visit(std::string_view(negated), Match{&flag, true});
      if (flag.name.starts_with("no-"))
        visit(std::string_view(flag.name).substr(3), Match{&flag, true});
    }
  }

  Match find_exact(std::string_view name) const {
    Match found;
    each_spelling([&](std::string_view spelling, const Match& match) {
      // A flag of this very name takes precedence over another one's negation.
      if (spelling == name && (!found.flag || match.flag->name == name)) found = match;
    });
    return found;
  }

  std::vector<Match> find_abbreviated(std::string_view name) const {
    std::vector<Match> found;
    each_spelling([&](std::string_view spelling, const Match& match) {
      if (spelling.starts_with(name) && (found.empty() || found.back() != match))
        found.push_back(match);
    });
    return found;
  }

  const FlagTable& table_;
  std::span<const std::string> words_;
  size_t at_ = 0;
  Arguments arguments_;
};

}  // namespace

ParseOutcome parse_flags(const FlagTable& table, std::span<const std::string> words) {
  return Parser(table, words).run();
}

}  // namespace sonde
