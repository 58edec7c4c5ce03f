// What is needed to report a recording elsewhere: the objects that its samples hit, each with the
// files under which the build-id cache keeps it, and files identified by path (perf maps, jitdumps,
// objects without a build id).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/file.h"
#include "store/archive_writer.h"

namespace sonde {

struct ArchivedObject {
  std::string path;      // as named in the recording, without " (deleted)"
  std::string build_id;  // raw bytes
  std::vector<std::pair<std::string, std::string>> files = {};  // "elf", its present location
  std::string content = {};  // instead of files: the content of its only file, "kallsyms" or "vdso"
};

struct ArchivedObjects {
  std::vector<ArchivedObject> objects;
  std::vector<std::pair<std::string, std::string>> by_path;  // path, present location
  std::vector<std::string> missing;                          // paths
  std::vector<Fd> held;                                      // of present locations that are open
};

struct ArchiveOptions {
  std::string input = "perf.data";
  bool force = false;
  bool all = false;  // also objects that no sample hit
  // With debug files that the cache lacks, and with files identified by path.
  bool for_bundle = false;
  // A file of build ids in hexadecimal, one per line, of objects to leave out; empty: none.
  std::string excluded_ids = {};
};

/// Looks in the cache, and for objects that it lacks, wherever report would. kUsage: the file of
/// excluded build ids contains something else.
Result<ArchivedObjects> find_objects_of(const ArchiveOptions& options, Env& env);

/// Puts them into an archive with the layout of the cache. Returns what could not be read after
/// all.
Result<std::vector<std::string>> put_objects(const ArchivedObjects& all, bool with_paths,
                                             ArchiveWriter& archive);

/// A bundle: a recording and its objects in one file (store/bundle.h); what is missing goes to the
/// ledger.
struct BundleSummary {
  size_t objects = 0;
  uint64_t bytes = 0;
};
Result<BundleSummary> write_bundle(const ArchiveOptions& options, const std::string& path,
                                   Env& env);
/// Records a loss: how many objects are not in the archive, and which.
void count_missing(const std::vector<std::string>& missing, LossLedger& losses);

}  // namespace sonde
