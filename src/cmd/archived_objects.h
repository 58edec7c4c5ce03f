// What a recording needs to be reported elsewhere: the objects that its samples hit, each with the
// files under which the build-id cache keeps it, and files that go by their path (perf maps,
// jitdumps, objects without a build id).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "store/archive_writer.h"

namespace sonde {

struct ArchivedObject {
  std::string path;      // as the recording names it, without " (deleted)"
  std::string build_id;  // raw bytes
  std::vector<std::pair<std::string, std::string>> files = {};  // "elf", where it lies now
  std::string content = {};  // instead of files: of its only one, "kallsyms" or "vdso"
};

struct ArchivedObjects {
  std::vector<ArchivedObject> objects;
  std::vector<std::pair<std::string, std::string>> by_path;  // path, where it lies now
  std::vector<std::string> missing;                          // paths
};

struct ArchiveOptions {
  std::string input = "perf.data";
  bool force = false;
  bool all = false;         // also objects that no sample hit
  bool for_bundle = false;  // with debug files that the cache lacks, and with files that go by path
};

/// Looks in the cache, and where it lacks an object, wherever report would.
Result<ArchivedObjects> find_objects_of(const ArchiveOptions& options, Env& env);

/// Puts them into an archive, laid out as the cache. Gives what could not be read after all.
Result<std::vector<std::string>> put_objects(const ArchivedObjects& all, bool with_paths,
                                             ArchiveWriter& archive);

/// A bundle of a recording in one file (store/bundle.h); what is missing goes to the ledger.
struct BundleSummary {
  size_t objects = 0;
  uint64_t bytes = 0;
};
Result<BundleSummary> write_bundle(const ArchiveOptions& options, const std::string& path,
                                   Env& env);
/// The line of a loss: how many objects are not in the archive, and which.
void count_missing(const std::vector<std::string>& missing, LossLedger& losses);

}  // namespace sonde
