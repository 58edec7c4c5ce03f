// Commands that are nothing by themselves but lead to others: `sched`, whose first word is record,
// latency, map …
#pragma once

#include <functional>

#include "cmd/command.h"

namespace sonde {

struct FamilyMember {
  std::string name;
  std::function<std::unique_ptr<Command>()> make;
};

/// The member that a first word names, of which three letters are enough; null for any other.
[[nodiscard]] std::unique_ptr<Command> find_member(std::span<const FamilyMember> members,
                                                   const Arguments& arguments);

class CommandFamily : public Command {
 public:
  /// `name`: "kvm stat".
  explicit CommandFamily(std::string name) : name_(std::move(name)) {}

  std::unique_ptr<Command> subcommand(const Arguments& arguments) final;
  /// Without a word there is nothing to do: the usage is shown.
  Result<int> run(Env& env, const Arguments& arguments) override;

 protected:
  /// Looked at when the options before the word are known.
  [[nodiscard]] virtual std::vector<FamilyMember> members() const = 0;
  /// Their names, for help and completion; options behind the word are the member's.
  void declare_members(FlagTable& flags) const;

 private:
  std::string name_;
};

}  // namespace sonde
