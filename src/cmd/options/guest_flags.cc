#include "cmd/options/guest_flags.h"

namespace sonde {
namespace {

template <typename Guest>
void declare_sides(FlagTable& flags, bool& host, Guest& guest) {
  flags.boolean(0, "host", host, "Collect host os data");
  flags.boolean(0, "guest", guest, "Collect guest os data");
}

}  // namespace

void declare_guest_files(FlagTable& flags, GuestFiles& files) {
  flags.text(0, "guestmount", files.mount, "directory",
             "guest mount directory under which every guest os instance has a subdir");
  flags.text(0, "guestkallsyms", files.kallsyms, "file", "file saving guest os /proc/kallsyms");
  flags.text(0, "guestmodules", files.modules, "file", "file saving guest os /proc/modules");
  flags.text(0, "guestvmlinux", files.vmlinux, "file", "file saving guest os vmlinux");
  flags.boolean(0, "guest-code", files.code, "Guest code can be found in hypervisor process");
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
