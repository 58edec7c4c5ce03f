// What a daemon is to run, from perfconfig files:
//
//   [daemon]
//   base = /var/lib/profiles
//
//   [session-cycles]
//   run = -m 10M -e cycles --overwrite --switch-output -a
//
// gives the base directory and one recording, `record -m 10M …`, that runs in
// /var/lib/profiles/session-cycles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/error.h"

namespace sonde {

struct DaemonSession {
  std::string name;
  std::string run;                 // as written
  std::vector<std::string> words;  // `run`, split

  bool operator==(const DaemonSession&) const = default;
};

struct DaemonConfig {
  std::string base;  // "" if not set
  std::vector<DaemonSession> sessions;
};

/// Other sections are ignored. Fails (kFailed) for a session that has no usable name, an unknown
/// variable, or a command line that is empty or has an unclosed quote.
Result<DaemonConfig> daemon_config(const Config& config);
/// The same from files, of which later ones take precedence and at least one must exist.
Result<DaemonConfig> read_daemon_config(const std::vector<std::string>& files);

/// Splits at blanks; single and double quotes keep blanks. No shell is involved, so `sched:*` is a
/// word like any other.
Result<std::vector<std::string>> session_words(std::string_view run);

}  // namespace sonde
