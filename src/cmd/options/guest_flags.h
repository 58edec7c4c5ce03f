// Options about virtual machines: where the files of their guests are, and which side is wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "symbol/guest_kernel.h"

namespace sonde {

/// --guestmount, --guestkallsyms, --guestmodules, --guestvmlinux, --guest-code.
void declare_guest_files(FlagTable& flags, GuestFiles& files);
/// --host and --guest, each with its --no-….
void declare_guest_sides(FlagTable& flags, bool& host, bool& guest);
/// Without a value if neither --guest nor --no-guest is given.
void declare_guest_sides(FlagTable& flags, bool& host, std::optional<bool>& guest);
/// The same options as words, for a command that runs another one.
[[nodiscard]] std::vector<std::string> guest_file_words(const GuestFiles& files);

}  // namespace sonde
