// The build ids that `inject -b` writes: of the objects that samples hit, or of all.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "replay/session.h"

namespace sonde {

/// Build ids by path.
using KnownBuildIds = std::map<std::string, std::string, std::less<>>;

/// "ID PATH,ID PATH…", or file://NAME with one such pair per line (what buildid-list prints).
Result<KnownBuildIds> parse_known_build_ids(std::string_view text);

/// The recording's build id of an object takes precedence over that of its file here; `known` takes
/// precedence over both. Objects without a build id are left out. `guest_mount` has a directory for
/// each guest, the root of its files, named after the process that runs it; empty: no build ids of
/// guests are looked for.
std::vector<BuildIdEntry> build_ids_to_inject(const Session& session, bool of_all,
                                              const KnownBuildIds& known,
                                              const std::string& guest_mount = {});

}  // namespace sonde
