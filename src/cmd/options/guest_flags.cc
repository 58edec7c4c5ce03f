#include "cmd/options/guest_flags.h"

namespace sonde {
namespace {

template <typename Guest>
void declare_sides(FlagTable& flags, bool& host, Guest& guest) {
  flags.boolean(0, "host", host, "include the host");
  flags.boolean(0, "guest", guest, "include guests: what runs in virtual machines");
}

}  // namespace

void declare_guest_files(FlagTable& flags, GuestFiles& files) {
  flags.text(0, "guestmount", files.mount, "directory",
             "below this directory, PID is the mounted root of the guest that process PID runs");
  flags.text(0, "guestkallsyms", files.kallsyms, "file",
             "a copy of the guest's /proc/kallsyms, for the symbols of its kernel");
  flags.text(0, "guestmodules", files.modules, "file",
             "a copy of the guest's /proc/modules, for where its modules are");
  flags.text(0, "guestvmlinux", files.vmlinux, "file", "the image of the guest's kernel");
  flags.boolean(0, "guest-code", files.code,
                "guests run code of the process that runs them: look up their samples there");
}

void declare_guest_sides(FlagTable& flags, bool& host, bool& guest) {
  declare_sides(flags, host, guest);
}

void declare_guest_sides(FlagTable& flags, bool& host, std::optional<bool>& guest) {
  declare_sides(flags, host, guest);
}

std::vector<std::string> guest_file_words(const GuestFiles& files) {
  std::vector<std::string> words;
  auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + ("=" + value));
  };
  add("--guestmount", files.mount);
  add("--guestkallsyms", files.kallsyms);
  add("--guestmodules", files.modules);
  add("--guestvmlinux", files.vmlinux);
  if (files.code) words.emplace_back("--guest-code");
  return words;
}

}  // namespace sonde
