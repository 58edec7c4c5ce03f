// The cgroups that exist when a recording starts, as CGROUP records: id and path of every directory
// of the unified hierarchy (the one that perf events are attached to).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// Mount point of the hierarchy with the perf_event controller; nothing if it isn't mounted.
std::optional<std::string> cgroup_mount();

void synthesise_cgroups(const abi::EventAttr& attr, ByteBuilder& out);

/// Their paths by id: "/", "/system.slice" …
[[nodiscard]] std::map<uint64_t, std::string> cgroup_paths();
/// The id of the cgroup "web" or "/web"; empty for the root, which selects nothing. Errors: kUsage
/// if it cannot be opened, kNotFound.
[[nodiscard]] Result<std::optional<uint64_t>> cgroup_by_name(const std::string& name);

/// Opens a cgroup's directory, for perf_event_open with PERF_FLAG_PID_CGROUP. Error: kUsage, in
/// perf's words.
Result<Fd> open_cgroup(const std::string& name);

}  // namespace sonde
