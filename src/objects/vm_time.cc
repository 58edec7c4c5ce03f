#include "objects/vm_time.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "itrace/trace_input.h"
#include "objects/guest_clock.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// Numbers and the marks between them, with blanks anywhere.
class OffsetWords {
 public:
  explicit OffsetWords(std::string_view text) : rest_(trim(text)) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  bool take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_ = trim(rest_.substr(what.size()));
    return true;
  }
  std::string_view word() {
    std::string_view word = rest_.substr(0, rest_.find_first_of(" \t:,"));
    rest_ = trim(rest_.substr(word.size()));
    return word;
  }

 private:
  std::string_view rest_;
};

/// A trace, and where its pieces are in the file.
struct Queue {
  std::vector<pt::TimedPiece> pieces;
  std::vector<uint64_t> positions;
};

/// Bytes of a TSC packet.
struct Change {
  uint64_t position;  // in the file
  uint8_t size;
  std::array<std::byte, 7> bytes{};
};

class VmTimes {
 public:
  VmTimes(const VmTimeOptions& options, Env& env) : options_(options), env_(env) {}

  Result<> run(const std::string& path, bool force) {
    OpenOptions how;
    how.force = force;
    Recording recording = TRY(Recording::open(path, how, env_.losses));
    if (!itrace::has_traces(recording))
      return fail(ErrorCode::kNotFound, "{}: it has no traces: record with -e intel_pt//", path);
    itrace::TraceInput input = TRY(itrace::read_traces(recording));
    TRY(find_pieces(recording, input));
    for (auto& [index, queue] : queues_) {
      if (!is_snapshot_) {
        translate(input.setup, queue);
        continue;
      }
      for (size_t i = 0; i < queue.pieces.size(); ++i)
        translate(input.setup, {{queue.pieces[i]}, {queue.positions[i]}});
    }
    if (options_.dry_run || changes_.empty()) return {};
    return write(recording.facts().is_directory ? path + "/data" : path);
  }

 private:
  Result<> find_pieces(const Recording& recording, const itrace::TraceInput& input) {
    const FileFacts& facts = recording.facts();
    if (recording.byte_order() != kHostOrder || facts.is_pipe || facts.is_bundle)
      return fail(
          ErrorCode::kUnsupported,
          "{}: only a file that record wrote on such a machine, not a pipe or a bundle, can "
          "be changed in place",
          facts.path);
    if (input.tracer != itrace::Tracer::kIntelPt)
      return fail(ErrorCode::kUnsupported, "{}: --vm-time-correlation is for traces of Intel PT",
                  facts.path);
    for (const RecordBlock& block : recording.blocks()) {
      RecordRange range(block, recording.byte_order());
      RecordView last;
      for (RecordView record; range.next(record); last = record)
        if (record.type == abi::kRecordAuxtraceInfo) look_at_info(record);
      if (last.type != abi::kRecordAuxtrace) continue;
      auto told = decode_user<AuxtraceRecord>(last);
      if (!told || block.trailing.empty()) continue;
      if (block.stream > 0)
        return fail(ErrorCode::kUnsupported, "{}: traces beside its file `data` are not changed",
                    facts.path);
      Queue& queue = queues_[told->index];
      queue.pieces.push_back({block.trailing, told->reference});
      queue.positions.push_back(last.file_offset + last.size());
    }
    return {};
  }

  void look_at_info(const RecordView& record) {
    constexpr size_t kSnapshotMode = 8;  // perf's INTEL_PT_SNAPSHOT_MODE
    auto info = decode_user<AuxtraceInfoRecord>(record);
    is_snapshot_ = info && info->priv.size() > kSnapshotMode && info->priv[kSnapshotMode] != 0;
  }

  void translate(const pt::TraceSetup& setup, const Queue& queue) {
    pt::TscTranslation translation(setup, options_.offsets,
                                   [this](std::string_view line) { env_.err.print("{}\n", line); });
    translation.run(queue.pieces, [&](size_t piece, size_t at, Bytes bytes) {
      Change change{.position = queue.positions[piece] + at,
                    .size = static_cast<uint8_t>(bytes.size())};
      std::ranges::copy(bytes, change.bytes.begin());
      changes_.push_back(change);
    });
  }

  Result<> write(const std::string& path) {
    auto failed = [&] {
      return fail(ErrorCode::kIo, "{} cannot be changed: {}", path, std::strerror(errno));
    };
    Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid()) return failed();
    for (const Change& change : changes_)
      if (::pwrite(file.get(), change.bytes.data(), change.size,
                   static_cast<off_t>(change.position)) != change.size)
        return failed();
    return {};
  }

  VmTimeOptions options_;  // with what was found out
  Env& env_;
  std::map<uint32_t, Queue> queues_;  // by the number of their ring
  std::vector<Change> changes_;
  bool is_snapshot_ = false;
};

}  // namespace

Result<VmTimeOptions> parse_vm_time(std::string_view text) {
  VmTimeOptions options;
  OffsetWords words(text);
  auto wrong = [&](std::string_view word, std::string_view what) {
    return fail(ErrorCode::kUsage,
                "--vm-time-correlation: '{}' is not {}; it takes [dry-run] "
                "[OFFSET[:VMCS[,VMCS]...]]...",
                word, what);
  };
  options.dry_run = words.take("dry-run");
  while (!words.at_end()) {
    std::string_view word = words.word();
    auto offset = parse_tsc_offset(word);
    if (!offset) return wrong(word, "a TSC offset");
    if (!words.take(":")) {
      options.offsets.set_default(*offset);
      continue;
    }
    do {
      std::string_view name = words.word();
      auto vmcs = parse_number(name);
      if (!vmcs || *vmcs == 0) return wrong(name, "a VMCS");
      options.offsets.set(*vmcs, *offset);
    } while (words.take(","));
  }
  return options;
}

Result<> correct_vm_times(const std::string& path, const VmTimeOptions& options, bool force,
                          Env& env) {
  return VmTimes(options, env).run(path, force);
}

}  // namespace sonde
