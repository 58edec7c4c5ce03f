#include "replay/passes/jit_replay.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/files/process_root.h"
#include "base/files/regular_file.h"
#include "store/bundle.h"
#include "store/process_file.h"

namespace sonde {
namespace {

constexpr size_t kMaxDumpBytes = size_t{4} << 30;

/// The bytes of a process's dump from `from` on; empty if there are none.
std::string read_tail(const std::string& path, uint32_t pid, const std::string& proc,
                      uint64_t from) {
  Result<Fd> fd = open_mapped_process_file(path, static_cast<pid_t>(pid), proc);
  if (!fd || ::lseek(fd->get(), static_cast<off_t>(from), SEEK_SET) < 0) return {};
  return read_all(fd->get(), path, kMaxDumpBytes).value_or(std::string());
}

struct DumpPlace {
  std::string path;
  bool is_of_process = false;  // not one that the user brings along
};

/// Whose rights suffice to put something beside the dump.
ProcessOwner owner_of_file(const Fd& file, const std::string& path) {
  if (auto inside = path_in_root(path))
    if (Result<ProcessRoot> root = ProcessRoot::open(inside->pid)) return root->owner();
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return {};
  return {.uid = status.st_uid, .gid = status.st_gid};
}

/// Whether all samples are timed by the kernel's own clock.
bool has_kernel_clock(const EventTable& events) {
  return events.size() > 0 && std::ranges::all_of(events.all(), [](const EventDesc& event) {
           return event.attr.use_clockid == 0 && event.attr.samples(abi::kSampleTime) &&
                  event.attr.sample_id_all != 0;
         });
}

}  // namespace

bool has_jit_dump_clock(const EventTable& events) {
  return events.size() > 0 && std::ranges::all_of(events.all(), [](const EventDesc& event) {
           return event.attr.use_clockid != 0 && event.attr.clockid == CLOCK_MONOTONIC &&
                  event.attr.samples(abi::kSampleTime) && event.attr.sample_id_all != 0;
         });
}

Result<FoundJitDump> find_jit_dump(uint32_t pid, const std::string& path,
                                   const JitDumpOffsets& places) {
  std::vector<DumpPlace> candidates;
  if (places.bundle != nullptr) candidates.push_back({places.bundle->file_at(path)});
  if (places.symfs.empty() && places.trusts_paths)
    candidates.insert(candidates.end(),
                      {{fmt::format("{}/{}/root{}", places.proc, pid, path), true}, {path, true}});
  else if (!places.symfs.empty())
    candidates.push_back({path_below(places.symfs, path)});
  std::optional<Error> refused;
  for (DumpPlace& candidate : candidates) {
    Result<Fd> fd =
        candidate.is_of_process
            ? open_mapped_process_file(candidate.path, static_cast<pid_t>(pid), places.proc)
            : open_regular(candidate.path);
    if (!fd && fd.error().code == ErrorCode::kCorrupt) refused = fd.error();
    if (!fd) continue;
    auto bytes = read_all(fd->get(), candidate.path, kMaxDumpBytes);
    if (!bytes) continue;
    JitDump dump = TRY(JitDump::parse(std::move(*bytes)));
    ProcessOwner owner = owner_of_file(*fd, candidate.path);
    return FoundJitDump{std::move(candidate.path), std::move(dump), std::move(owner),
                        candidate.is_of_process};
  }
  if (refused) return std::unexpected(std::move(*refused));
  return fail(ErrorCode::kNotFound, "file not found");
}

bool JitReplay::may_tell(const RecordView& record) {
  return (record.type == abi::kRecordMmap || record.type == abi::kRecordMmap2) &&
         as_text(record.payload).find(".dump") != std::string_view::npos;
}

void JitReplay::look_at(const MmapRecord& record) {
  if (!record.executable() || !is_jit_dump_name(record.path)) return;
  if (!known_.emplace(record.pid, std::string(record.path)).second) return;
  dumps_.push_back({record.pid, std::string(record.path), {}, nullptr});
}

bool JitReplay::knows_dump_of(uint32_t pid) const {
  auto first = known_.lower_bound({pid, std::string()});
  return first != known_.end() && first->first == pid;
}

void JitReplay::read_dumps(const EventTable& events, LossLedger& losses) {
  events_.erase(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(next_));
  next_ = 0;
  for (Dump& dump : dumps_) {
    if (dump.last != nullptr) {
      std::string more;
      if (!dump.found_at.empty())
        more = read_tail(dump.found_at, dump.pid, options_.proc, dump.last->dump().end());
      if (!more.empty())
        add(dump, JitDump::parse_more(dump.last->dump(), std::move(more)), events, losses);
      continue;
    }
    auto found = find_jit_dump(dump.pid, dump.path, options_);
    if (found) {
      if (found->may_grow) dump.found_at = std::move(found->path);
      add(dump, std::move(found->dump), events, losses);
      continue;
    }
    losses.add(LossKind::k_bad_symbol_source, 1,
               fmt::format("{}: {}", dump.path, found.error().message));
  }
  auto order = [](const Event& a, const Event& b) {
    if (a.has_time != b.has_time) return a.has_time;
    return a.has_time && a.time_ns < b.time_ns;
  };
  std::ranges::stable_sort(events_, order);
}

void JitReplay::add(Dump& dump, JitDump read, const EventTable& events, LossLedger& losses) {
  if (read.bad_records() > 0)
    losses.add(LossKind::k_bad_symbol_source, 1,
               fmt::format("{}: {} of its records are invalid", dump.path, read.bad_records()));
  DsoId dso = machine_.edit_dsos().add_jit_dump(dump.path, dump.pid);
  dump.last = &objects_.add(dso, std::move(read));
  const JitDump& whole = dump.last->dump();
  bool counts_cycles = whole.header().counts_cycles;
  bool has_time = counts_cycles ? options_.cycles.multiplier != 0 && has_kernel_clock(events)
                                : has_jit_dump_clock(events);
  for (const JitDump::Placed& placed : whole.placed()) {
    const JitDump::Code& code = whole.codes()[placed.code];
    uint64_t time_ns = counts_cycles ? options_.cycles.to_ns(placed.time_ns) : placed.time_ns;
    events_.push_back({time_ns, has_time, dump.pid, placed.address, code.size, dso, code.offset});
  }
}

void JitReplay::apply_up_to(uint64_t time) {
  while (next_ < events_.size() && events_[next_].has_time && events_[next_].time_ns <= time)
    apply(events_[next_++]);
}

void JitReplay::apply_all() {
  while (next_ < events_.size()) apply(events_[next_++]);
}

/// Whether nothing is known to have been in its memory before; marks that memory as used.
bool JitReplay::is_first_there(const Event& event) {
  uint64_t start = event.address, end = event.address + event.size;
  bool first = true;
  auto at = used_.upper_bound({event.pid, start});
  if (at != used_.begin() && std::prev(at)->first.first == event.pid &&
      std::prev(at)->second >= start)
    --at;
  while (at != used_.end() && at->first.first == event.pid && at->first.second <= end) {
    if (at->first.second < event.address + event.size && event.address < at->second) first = false;
    start = std::min(start, at->first.second);
    end = std::max(end, at->second);
    at = used_.erase(at);
  }
  used_.emplace(std::pair(event.pid, start), end);
  return first;
}

void JitReplay::apply(const Event& event) {
  if (event.size == 0) return;
  bool has_time = event.has_time && !is_first_there(event);
  machine_.apply_code(event.pid, has_time ? std::optional(event.time_ns) : std::nullopt,
                      RuntimeAddr(event.address), event.size, event.dso, FileOffset(event.offset));
}

}  // namespace sonde
