// Call trees of profiles as plain data, with the names of their calls.
#pragma once

#include "profile/call_tree.h"
#include "view/call_tree.h"

namespace sonde::report {

/// "two p.c:4", or an address.
[[nodiscard]] std::string call_text(const Call& call, const ProfileInput& input);

/// Adds the nodes of `tree`, which was built from `profile` with `wanted`, to `shown`, whose
/// weights are set. Labels are views into the input and `shown`.
void copy_tree(const CallTree& tree, const CallTreeOptions& wanted, const Profile& profile,
               const ProfileInput& input, view::CallTree& shown);

}  // namespace sonde::report
