// The tracefs groups that this process makes for its own probes. Their names contain the pid, so
// that two runs never conflict and it can be told later whose group it was:
//
//   own_group("sdt_libc")                  "sonde_4711_sdt_libc"
//   shown_group("sonde_4711_sdt_libc")     "sdt_libc"
//
// Users and recordings only see the second form.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace sonde {

[[nodiscard]] std::string own_group(std::string_view shown);
/// `group` itself if it is not an own group of any process.
[[nodiscard]] std::string_view shown_group(std::string_view group);
/// The process that made `group`; 0 if it is not an own group.
[[nodiscard]] pid_t maker_of_group(std::string_view group);

}  // namespace sonde
