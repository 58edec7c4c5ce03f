// RecordScan: what the recorder learns from records as they pass from the rings to the file, so
// that it need not read the file again at the end: the number of samples and losses, the time of
// the first and last sample, and which mapped objects were hit (their build ids go into the file).
//
// Cost: per record, reading its header; per sample, a few fixed fields and a probe of a small
// table; per mapping, less than the kernel needs to make its record. Objects are resolved once per
// round and code page, not per sample. Tasks that ended are forgotten two rounds later.
//
//   scan.piece(first, second);      // from any thread, whole records
//   scan.end_round();
//   for (const HitObject& hit : scan.hits()) ...
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tsl/robin_set.h>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "base/file.h"
#include "capture/recorders/mapped_ranges.h"
#include "perfdata/read/file_identity.h"

namespace sonde {

/// An object whose build id a reader of the recording needs.
struct HitObject {
  enum class Kind : uint8_t { kUser, kKernel };
  std::string path;  // "[kernel.kallsyms]", "[vdso]", a module's or file's path
  Kind kind = Kind::kUser;
  int32_t pid = -1;        // a process that maps it: the path is valid in its mount namespace
  FileIdentity file = {};  // as its mapping record says
  std::vector<uint32_t> pids = {};  // some of the processes that map it
  int held_fd = -1;  // of the file, if its path may soon no longer lead there; owned by the scan
  bool operator==(const HitObject&) const = default;
};

struct ScanCounts {
  uint64_t samples = 0;
  uint64_t lost_events = 0;   // as reported by LOST records
  uint64_t lost_chunks = 0;   // number of LOST records
  uint64_t lost_samples = 0;  // LOST_SAMPLES
  uint64_t lost_aux = 0;      // AUX records of traces that are cut or have gaps
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  [[nodiscard]] bool has_time() const { return first_ns <= last_ns; }
};

class RecordScan {
 public:
  struct Options {
    bool objects = true;       // find out which objects were hit
    bool all_objects = false;  // every mapped object counts as hit
    bool call_chains = false;  // count all mappings of a sampled process: callers may be there
    bool hold_files = false;   // keep deleted or container-only files open
  };
  /// `attrs` are those of the events whose records will pass.
  RecordScan(const std::vector<abi::EventAttr>& attrs, Options options);

  /// Whole records, as they are in a ring. Thread-safe.
  void piece(Bytes first, Bytes second = {});
  /// To be called when all rings have been read once more.
  void end_round();

  [[nodiscard]] const ScanCounts& counts() const { return counts_; }
  /// In order of first hit; those from `first` on, at most `most`.
  [[nodiscard]] std::vector<HitObject> hits(size_t first = 0, size_t most = SIZE_MAX) const;
  /// Starts counting anew for the next file (--switch-output); maps stay known.
  void restart();

 private:
  /// Where the fields read here are in a sample. The same offsets hold for all events: if their
  /// sample_types differ they all begin with IDENTIFIER, and IP and TID are always present.
  struct Places {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t ip = 0, tid = 8, time = kNone;
  };
  struct Process {
    MappedRanges mappings;
    tsl::robin_set<uint32_t> objects;  // that it ever mapped
    uint32_t parent = UINT32_MAX;
    int ended_rounds = -1;  // rounds since its end
  };
  struct Key {
    uint32_t pid;  // UINT32_MAX: kernel
    uint64_t page;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return (key.page ^ (uint64_t{key.pid} << 40)) * 0x9e3779b97f4a7c15ull >> 17;
    }
  };

  /// What makes an object one of its own.
  struct ObjectName {
    std::string_view path;
    FileIdentity file;
    bool operator==(const ObjectName&) const = default;
  };
  /// Known objects are found without a copy of their path.
  struct ObjectHash {
    using is_transparent = void;
    const std::deque<HitObject>* objects;
    size_t operator()(const ObjectName& name) const;
    size_t operator()(uint32_t object) const { return (*this)(name_of((*objects)[object])); }
  };
  struct ObjectEqual {
    using is_transparent = void;
    const std::deque<HitObject>* objects;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(const ObjectName& a, uint32_t b) const { return a == name_of((*objects)[b]); }
    bool operator()(uint32_t a, const ObjectName& b) const { return (*this)(b, a); }
  };
  static ObjectName name_of(const HitObject& object) { return {object.path, object.file}; }

  void walk(Bytes records);
  void touch_mapped_objects();
  void touch_whole_processes();
  void forget_ended();
  void record(const std::byte* at, const abi::RecordHeader& header);
  void sample(const std::byte* payload, const abi::RecordHeader& header);
  void mapping(const std::byte* at, const abi::RecordHeader& header);
  void task(const std::byte* payload, uint32_t type);
  [[nodiscard]] std::optional<uint32_t> find(uint32_t pid, uint64_t page) const;
  uint32_t object_of(const ObjectName& name, HitObject::Kind kind, uint32_t pid);
  void hit(uint32_t object);
  void hold(HitObject& object);

  Options options_;
  Places places_;
  mutable std::mutex mutex_;
  std::vector<std::byte> joined_;  // a record that wrapped around the end of a ring
  ScanCounts counts_;
  tsl::robin_set<Key, KeyHash> touched_;  // of this round
  std::unordered_map<uint32_t, Process> processes_;
  std::deque<HitObject> objects_;
  std::vector<bool> object_hit_;
  std::unordered_set<uint32_t, ObjectHash, ObjectEqual> object_ids_{0, ObjectHash{&objects_},
                                                                    ObjectEqual{&objects_}};
  std::vector<uint32_t> hits_;
  std::vector<Fd> held_;
};

}  // namespace sonde
