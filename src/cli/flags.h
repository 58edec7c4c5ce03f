// Flags: a command's table of options, each bound to the field that it writes.
//
// This one table feeds the parser (flag_parser.h), `-h` (usage.h), the man page (manual.h) and
// completion. Every declaring function returns the Flag, for the occasional extras:
//
//   flags.boolean('n', "show-nr-samples", o.samples, "Show a column with the number of samples");
//   flags.number(0, "max-stack", o.max_stack, "n", "Cut call chains at this depth");
//   flags.call('e', "event", "event", "event selector",
//              [&](std::string_view v) { return add_event(v); });
//   flags.call('g', "call-graph", "mode", "...", set_mode).when_last("graph,0.5,caller");
//   flags.boolean(0, "showcpuutilization", o.cpu, "...").hidden();
//
// Fields are written and callbacks run in command-line order, so a callback may look at what came
// before (`--filter` binds to the last `-e`).
#pragma once

#include <concepts>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/option_values.h"

namespace sonde {

/// What is left of the command line after the flags are removed.
struct Arguments {
  std::vector<std::string> words;
  bool after_dashes = false;  // "--" preceded them, or some of them
  size_t before_dashes = 0;   // how many of them came before "--", or in all

  [[nodiscard]] bool empty() const { return words.empty(); }
  [[nodiscard]] size_t size() const { return words.size(); }
  const std::string& operator[](size_t i) const { return words[i]; }
};

struct Flag {
  enum class Takes {
    kNothing,   // -n, --no-x
    kValue,     // -F99, -F 99, --freq=99, --freq 99
    kAttached,  // -z, -z3, --switch-output=1M: a value only if attached
    kNextWord,  // report's -g: the next word, unless it begins with '-' or there is none
  };
  /// Writes the value. `value` is empty if there is none; `negated` for --no-name.
  struct Use {
    std::optional<std::string_view> value;
    bool negated = false;
  };

  char letter = 0;       // 0 if there is none
  std::string name;      // without the dashes; "" if there is none
  std::string argument;  // the value's name: "file"; shown as <file> unless it has brackets
  std::string help;      // later lines are shown as they are, after their own indentation
  Takes takes = Takes::kNothing;
  std::function<Result<>(const Use&)> write;
  std::string group;  // heading under which -h shows it
  bool is_hidden = false;
  bool can_negate = true;
  std::string default_value;        // for kAttached and kNextWord without a value
  std::vector<std::string> values;  // offered by completion
  std::string refusal;              // why its use ends the command; empty: it does not
  std::string no_effect;  // why it is taken though nothing depends on it; empty: it does as it says

  Flag& hidden() {
    is_hidden = true;
    return *this;
  }
  /// The values that completion offers.
  Flag& offers(std::vector<std::string> words) {
    values = std::move(words);
    return *this;
  }
  /// Its use ends the command, with this reason.
  Flag& refused(std::string why) {
    refusal = std::move(why);
    return *this;
  }
  /// perf needs it, and this command does not: it is taken, and changes nothing.
  Flag& without_effect(std::string why) {
    no_effect = std::move(why);
    return *this;
  }
  Flag& no_negation() {
    can_negate = false;
    return *this;
  }
  /// --no-name calls this instead of the flag's own writer.
  Flag& on_negation(std::function<void()> clear);
  /// The value may be omitted and defaults to `value`. Only an attached word is used as a value
  /// (-z3, --opt=v).
  Flag& when_bare(std::string value);
  /// The value may be omitted if the flag is last or the next word begins with '-'; it defaults to
  /// `value`.
  Flag& when_last(std::string value);
};

namespace detail {
template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {
  using inner = T;
};
template <typename T>
struct number_type {
  using type = T;
};
template <typename T>
struct number_type<std::optional<T>> {
  using type = T;
};
}  // namespace detail

class FlagTable {
 public:
  using OnValue = std::function<Result<>(std::string_view)>;

  /// A usage line, after "perf NAME"; several lines are alternatives.
  FlagTable& usage(std::string line) {
    usage_.push_back(std::move(line));
    return *this;
  }
  /// Text of the man page: paragraphs separated by blank lines; lines that begin with a blank are
  /// kept verbatim.
  FlagTable& description(std::string_view text) {
    description_ = text;
    return *this;
  }
  /// An additional section of the man page, e.g. ("EXAMPLES", "...").
  FlagTable& section(std::string_view title, std::string_view text) {
    sections_.emplace_back(title, text);
    return *this;
  }
  /// Parsing ends at the first word that is not a flag: the rest is another program's command line.
  FlagTable& stop_at_first_word() {
    stops_ = true;
    return *this;
  }
  /// Unknown flags stay among the arguments, in place, instead of being an error.
  FlagTable& keep_unknown() {
    keeps_unknown_ = true;
    return *this;
  }
  /// Words accepted first, like `record` in `sched record`; for --list-cmds, help and completion.
  FlagTable& subcommands(std::vector<std::string> names) {
    subcommands_ = std::move(names);
    return *this;
  }
  /// The following flags are shown under this heading.
  FlagTable& group(std::string heading) {
    group_ = std::move(heading);
    return *this;
  }

  /// --name sets, --no-name clears. `field` is a bool or an optional<bool>.
  template <typename Bool>
  Flag& boolean(char letter, std::string name, Bool& field, std::string help) {
    return add(letter, std::move(name), {}, std::move(help), Flag::Takes::kNothing,
               [&field](const Flag::Use& use) -> Result<> {
                 field = !use.negated;
                 return {};
               });
  }
  /// Each --name adds one; --no-name resets to 0.
  Flag& count(char letter, std::string name, int& field, std::string help);
  /// --name stores `value`; for several flags that choose among an enumeration's values. No
  /// negation.
  template <typename T>
  Flag& choose(char letter, std::string name, T& field, T value, std::string help) {
    return add(letter, std::move(name), {}, std::move(help), Flag::Takes::kNothing,
               [&field, value](const Flag::Use&) -> Result<> {
                 field = value;
                 return {};
               })
        .no_negation();
  }
  /// `field` is a string or an optional<string>; --no-name empties it.
  template <typename Text>
  Flag& text(char letter, std::string name, Text& field, std::string argument, std::string help) {
    return add(letter, std::move(name), std::move(argument), std::move(help), Flag::Takes::kValue,
               [&field](const Flag::Use& use) -> Result<> {
                 if (use.negated)
                   field = Text{};
                 else
                   field = std::string(*use.value);
                 return {};
               });
  }
  /// `field` is an integer, a double, or an optional of one; --no-name sets it to 0, or empties it.
  template <typename Number>
  Flag& number(char letter, std::string name, Number& field, std::string argument,
               std::string help) {
    return add(letter, std::move(name), std::move(argument), std::move(help), Flag::Takes::kValue,
               [&field](const Flag::Use& use) -> Result<> {
                 if (use.negated)
                   field = Number{};
                 else
                   field = TRY(number_from<typename detail::number_type<Number>::type>(*use.value));
                 return {};
               });
  }
  /// Every use appends; --no-name empties the list.
  Flag& list(char letter, std::string name, std::vector<std::string>& field, std::string argument,
             std::string help);
  /// Calls `on_value`. The message of its error follows "option `name' " if it starts with a
  /// lower-case verb and has code kUsage ("expects a size"); other messages stand alone. No
  /// negation unless on_negation() is given.
  Flag& call(char letter, std::string name, std::string argument, std::string help,
             OnValue on_value);
  /// Like call, for a flag that takes no value.
  Flag& act(char letter, std::string name, std::string help, std::function<Result<>()> action);

  /// Makes the flags declared so far report their use to `on_use` and otherwise work as before: for
  /// a command that accepts another's flags but uses only some of them. `word` is the flag's name
  /// with its dashes.
  using OnUse = std::function<void(const std::string& word, const Flag::Use& use)>;
  void watch(const OnUse& on_use);

  /// Adds another table's flags, which keep writing where they do. A letter or a name that this
  /// table has already stays with its own flag; one that keeps neither is left out. The rules about
  /// what ends the parsing come along.
  void add_from(const FlagTable& other);

  [[nodiscard]] const std::deque<Flag>& flags() const { return flags_; }
  [[nodiscard]] const std::vector<std::string>& usage_lines() const { return usage_; }
  [[nodiscard]] std::string_view description() const { return description_; }
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& sections() const {
    return sections_;
  }
  [[nodiscard]] const std::vector<std::string>& subcommands() const { return subcommands_; }
  [[nodiscard]] bool stops_at_first_word() const { return stops_; }
  [[nodiscard]] bool keeps_unknown() const { return keeps_unknown_; }

 private:
  Flag& add(char letter, std::string name, std::string argument, std::string help,
            Flag::Takes takes, std::function<Result<>(const Flag::Use&)> write);

  std::deque<Flag> flags_;  // a deque: references stay valid
  std::vector<std::string> usage_;
  std::string_view description_;
  std::vector<std::pair<std::string_view, std::string_view>> sections_;
  std::vector<std::string> subcommands_;
  std::string group_;
  bool stops_ = false;
  bool keeps_unknown_ = false;
};

}  // namespace sonde
