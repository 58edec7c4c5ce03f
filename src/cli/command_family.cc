#include "cli/command_family.h"

namespace sonde {

std::unique_ptr<Command> find_member(std::span<const FamilyMember> members,
                                     const Arguments& arguments) {
  constexpr size_t kMin = 3;
  if (arguments.empty()) return nullptr;
  std::string_view word = arguments[0];
  for (const FamilyMember& member : members)
    if (word.size() >= kMin && member.name.starts_with(word)) return member.make();
  return nullptr;
}

std::unique_ptr<Command> CommandFamily::subcommand(const Arguments& arguments) {
  return find_member(members(), arguments);
}

Result<int> CommandFamily::run(Env& /*env*/, const Arguments& arguments) {
  if (arguments.empty()) return fail(ErrorCode::kUsage, "");
  return fail(ErrorCode::kUsage, "Error: {} has no subcommand '{}'", name_, arguments[0]);
}

void CommandFamily::declare_members(FlagTable& flags) const {
  std::vector<std::string> names;
  for (const FamilyMember& member : members()) names.push_back(member.name);
  flags.subcommands(std::move(names));
  flags.stop_at_first_word();
}

}  // namespace sonde
