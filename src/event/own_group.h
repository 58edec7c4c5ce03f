// The tracefs groups that this process makes for its own probes. Their names carry the process's
// number, so that two runs never meet and whoever finds one later knows whose it was:
//
//   own_group("sdt_libc")                  "sonde_4711_sdt_libc"
//   shown_group("sonde_4711_sdt_libc")     "sdt_libc"
//
// Users and recordings see the second form only.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace sonde {

[[nodiscard]] std::string own_group(std::string_view shown);
/// `group` itself where it is not an own group of any process.
[[nodiscard]] std::string_view shown_group(std::string_view group);
/// The process that made `group`; 0 where it is not an own group.
[[nodiscard]] pid_t maker_of_group(std::string_view group);

}  // namespace sonde
