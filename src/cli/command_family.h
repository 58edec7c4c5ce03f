// Commands that do nothing by themselves but lead to others: `sched`, whose first word is record,
// latency, map …
#pragma once

#include <functional>

#include "cli/command.h"

namespace sonde {

struct FamilyMember {
  std::string name;
  std::function<std::unique_ptr<Command>()> make;
};

/// The member that the first word names, at least by its first three letters; null for any other
/// word.
[[nodiscard]] std::unique_ptr<Command> find_member(std::span<const FamilyMember> members,
                                                   const Arguments& arguments);

class CommandFamily : public Command {
 public:
  /// `name`: "kvm stat".
  explicit CommandFamily(std::string name) : name_(std::move(name)) {}

  std::unique_ptr<Command> subcommand(const Arguments& arguments) final;
  /// Without a word there is nothing to do: shows the usage.
  Result<int> run(Env& env, const Arguments& arguments) override;

 protected:
  /// Called once the options before the word are known.
  [[nodiscard]] virtual std::vector<FamilyMember> members() const = 0;
  /// Their names, for help and completion; options after the word are the member's.
  void declare_members(FlagTable& flags) const;

 private:
  std::string name_;
};

}  // namespace sonde
