#include "cli/flags.h"

#include <algorithm>

namespace sonde {

Flag& Flag::on_negation(std::function<void()> clear) {
  can_negate = true;
  write = [set = std::move(write), clear = std::move(clear)](const Use& use) -> Result<> {
    if (!use.negated) return set(use);
    clear();
    return {};
  };
  return *this;
}

Flag& Flag::when_bare(std::string value) {
  takes = Takes::kAttached;
  default_value = std::move(value);
  return *this;
}

Flag& Flag::when_last(std::string value) {
  takes = Takes::kNextWord;
  default_value = std::move(value);
  return *this;
}

Flag& FlagTable::add(char letter, std::string name, std::string argument, std::string help,
                     Flag::Takes takes, std::function<Result<>(const Flag::Use&)> write) {
  Flag& flag = flags_.emplace_back();
  flag.letter = letter;
  flag.name = std::move(name);
  flag.argument = std::move(argument);
  flag.help = std::move(help);
  flag.takes = takes;
  flag.write = std::move(write);
  flag.group = group_;
  return flag;
}

void FlagTable::watch(const OnUse& on_use) {
  for (Flag& flag : flags_)
    flag.write = [write = std::move(flag.write), on_use,
                  word = flag.name.empty() ? std::string("-") + flag.letter
                                           : "--" + flag.name](const Flag::Use& use) -> Result<> {
      on_use(word, use);
      return write(use);
    };
}

void FlagTable::add_from(const FlagTable& other) {
  auto has = [this](auto member, const auto& value) {
    return std::ranges::find(flags_, value, member) != flags_.end();
  };
  for (Flag flag : other.flags_) {
    if (has(&Flag::letter, flag.letter)) flag.letter = 0;
    if (has(&Flag::name, flag.name)) flag.name.clear();
    if (flag.letter != 0 || !flag.name.empty()) flags_.push_back(std::move(flag));
  }
  stops_ = stops_ || other.stops_;
  keeps_unknown_ = keeps_unknown_ || other.keeps_unknown_;
}

Flag& FlagTable::count(char letter, std::string name, int& field, std::string help) {
  return add(letter, std::move(name), {}, std::move(help), Flag::Takes::kNothing,
             [&field](const Flag::Use& use) -> Result<> {
               field = use.negated ? 0 : field + 1;
               return {};
             });
}

Flag& FlagTable::list(char letter, std::string name, std::vector<std::string>& field,
                      std::string argument, std::string help) {
  return add(letter, std::move(name), std::move(argument), std::move(help), Flag::Takes::kValue,
             [&field](const Flag::Use& use) -> Result<> {
               if (use.negated)
                 field.clear();
               else
                 field.emplace_back(*use.value);
               return {};
             });
}

Flag& FlagTable::call(char letter, std::string name, std::string argument, std::string help,
                      OnValue on_value) {
  return add(letter, std::move(name), std::move(argument), std::move(help), Flag::Takes::kValue,
             [on_value = std::move(on_value)](const Flag::Use& use) {
               return on_value(use.value.value_or(""));
             })
      .no_negation();
}

Flag& FlagTable::act(char letter, std::string name, std::string help,
                     std::function<Result<>()> action) {
  return add(letter, std::move(name), {}, std::move(help), Flag::Takes::kNothing,
             [action = std::move(action)](const Flag::Use&) { return action(); })
      .no_negation();
}

}  // namespace sonde
