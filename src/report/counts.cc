#include "report/counts.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <set>

#include "abi/record_names.h"

namespace sonde::report {
namespace {

void write_count(Sink& out, std::string_view name, uint64_t count) {
  out.print("{:>16} events: {:10}", name, count);
}

/// perf keeps threads in 256 buckets by tid and lists one bucket after another.
constexpr uint32_t kBuckets = 256;

class TaskWriter {
 public:
  TaskWriter(Sink& out, const Session& session, bool mmaps)
      : out_(out), machine_(session.machine()), strings_(session.strings()), mmaps_(mmaps) {}

  void write() {
    auto threads = machine_.threads();
    std::ranges::stable_sort(threads, {},
                             [](const auto& t) { return std::pair(t.first % kBuckets, t.first); });
    for (const auto& [tid, thread] : threads) hang_in(tid);
    out_.print("# {:>8} {:>8} {:>8}  {}\n", "pid", "tid", "ppid", "comm");
    for (uint32_t tid : roots_) write_task(tid, 0);
  }

 private:
  /// Children are in the order in which they, or any of their descendants, are first met.
  void hang_in(uint32_t tid) {
    while (listed_.insert(tid).second) {
      auto parent = parent_of(tid, *machine_.thread(tid));
      if (!parent) {
        roots_.push_back(tid);
        return;
      }
      children_[*parent].push_back(tid);
      tid = *parent;
    }
  }

  [[nodiscard]] std::optional<uint32_t> parent_of(uint32_t tid,
                                                  const Machine::Thread& thread) const {
    uint32_t parent = thread.parent_tid;
    if (parent == tid || is_orphan(tid, thread)) return std::nullopt;
    const Machine::Thread* found = machine_.thread(parent);
    return found == nullptr ? std::nullopt : std::optional(parent);
  }

  /// Only init and kthreadd are children of the idle task; for others a parent of 0 means unknown.
  static bool is_orphan(uint32_t number, const Machine::Thread& thread) {
    uint32_t tid = recorded_task(number);
    return tid == 0 || thread.parent_tid == UINT32_MAX ||
           (recorded_task(thread.parent_tid) == 0 && tid > 2);
  }

  void write_task(uint32_t tid, size_t level) {
    const Machine::Thread& thread = *machine_.thread(tid);
    int32_t ppid =
        is_orphan(tid, thread) ? -1 : static_cast<int32_t>(recorded_task(thread.parent_tid));
    std::string line =
        fmt::format("  {:8} {:8} {:8} |{:{}}", static_cast<int32_t>(recorded_task(thread.pid)),
                    static_cast<int32_t>(recorded_task(tid)), ppid, "", level);
    out_.print("{}{}\n", line, strings_.view(machine_.comm_at(tid, UINT64_MAX)));
    if (mmaps_) write_maps(thread.pid, line.size());
    for (uint32_t child : children_[tid]) write_task(child, level + 1);
  }

  void write_maps(uint32_t pid, size_t indent) {
    SpaceId space = machine_.space_at(pid, UINT64_MAX).space;
    if (!space.valid()) return;
    for (const AddressSpace::Piece& piece : machine_.space(space).pieces()) {
      if (piece.to != UINT64_MAX) continue;
      const Mapping& mapping = machine_.mapping(piece.mapping);
      auto flag = [&](uint32_t bit, char letter) {
        return (mapping.protection & bit) != 0 ? letter : '-';
      };
      uint64_t offset = (piece.start - mapping.start) + mapping.offset.value;
      out_.print("{:{}}  {:x}-{:x} {}{}{}{} {:08x} {} {}\n", "", indent, piece.start.value,
                 piece.end.value, flag(PROT_READ, 'r'), flag(PROT_WRITE, 'w'), flag(PROT_EXEC, 'x'),
                 mapping.shared ? 's' : 'p', offset, mapping.inode,
                 machine_.dsos()[mapping.dso].path);
    }
  }

  Sink& out_;
  const Machine& machine_;
  const StringPool& strings_;
  bool mmaps_;
  std::map<uint32_t, std::vector<uint32_t>> children_;
  std::vector<uint32_t> roots_;
  std::set<uint32_t> listed_;
};

}  // namespace

void write_stats(Sink& out, const Session& session, bool skip_empty) {
  const ReplayCounts& counts = session.counts();
  uint64_t total = 0;
  for (uint64_t count : counts.records_by_type) total += count;
  bool has_traces = session.recording().features().has(abi::kFeatureAuxtrace);
  out.print("\nAggregated stats:{}\n",
            has_traces
                ? " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)"
                : "");
  write_count(out, "TOTAL", total);
  out.put('\n');
  for (uint32_t type = 1; type < counts.records_by_type.size(); ++type) {
    std::string_view name = abi::record_type_name(type);
    uint64_t count = counts.records_by_type[type];
    if (name.empty() || (skip_empty && count == 0)) continue;
    write_count(out, name, count);
    if (total != 0)
      out.print("  ({:4.1f}%)", 100.0 * static_cast<double>(count) / static_cast<double>(total));
    out.put('\n');
  }
  std::vector<uint64_t> samples(session.events().size(), 0);
  for (uint32_t event : session.samples().event) ++samples[event];
  const std::vector<uint64_t>& lost = counts.lost.by_event;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (skip_empty && samples[i] == 0) continue;
    out.print("{} stats:\n", session.events()[EventId(i)].name);
    write_count(out, "SAMPLE", samples[i]);
    out.put('\n');
    if (i >= lost.size() || lost[i] == 0) continue;
    write_count(out, "LOST_SAMPLES", lost[i]);
    out.put('\n');
  }
}

namespace {

/// Counts per thread, in the order in which records first name them.
struct ThreadCounts {
  struct Thread {
    uint32_t pid, tid;
    std::vector<uint64_t> counts;  // by column
  };
  std::vector<EventId> columns;
  std::vector<Thread> threads;

  void add(const ReadRecord& record, EventId event, uint64_t value) {
    auto column = std::ranges::find(columns, event);
    auto at = static_cast<size_t>(column - columns.begin());
    if (column == columns.end()) columns.push_back(event);
    auto thread = std::ranges::find_if(
        threads, [&](const Thread& t) { return t.pid == record.pid && t.tid == record.tid; });
    if (thread == threads.end()) {
      threads.push_back({record.pid, record.tid, {}});
      thread = std::prev(threads.end());
    }
    if (thread->counts.size() <= at) thread->counts.resize(at + 1);
    thread->counts[at] += value;
  }
};

size_t digits(uint64_t number) {
  return fmt::formatted_size("{}", number);
}

}  // namespace

void write_thread_counters(Sink& out, const Session& session, bool raw) {
  ThreadCounts found;
  for (const OtherRecord& other : session.other_records()) {
    if (other.view.type != abi::kRecordRead || !other.event.valid()) continue;
    auto record = decode_as<ReadRecord>(other.view, session.events()[other.event].layout);
    if (record && record->read.count != 0)
      found.add(*record, other.event, record->read.at(0).value);
  }
  size_t pid_width = 3, tid_width = 3, count_width = 5;
  std::vector<size_t> widths;
  for (EventId event : found.columns) widths.push_back(session.events()[event].name.size());
  size_t name_width = 4;
  for (size_t width : widths) name_width = std::max(name_width, width);
  for (ThreadCounts::Thread& thread : found.threads) {
    thread.counts.resize(found.columns.size());
    pid_width = std::max(pid_width, digits(thread.pid));
    tid_width = std::max(tid_width, digits(thread.tid));
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], digits(thread.counts[i]));
      count_width = std::max(count_width, digits(thread.counts[i]));
    }
  }
  out.print("# {:>{}}  {:>{}}", "PID", pid_width, "TID", tid_width);
  if (raw) out.print("  {:>{}}  Raw  {:>{}}", "Name", name_width, "Count", count_width);
  for (size_t i = 0; !raw && i < widths.size(); ++i)
    out.print("  {:>{}}", session.events()[found.columns[i]].name, widths[i]);
  out.put('\n');
  for (const ThreadCounts::Thread& thread : found.threads) {
    for (size_t i = 0; i < widths.size(); ++i) {
      if (raw || i == 0) out.print("  {:{}}  {:{}}", thread.pid, pid_width, thread.tid, tid_width);
      if (raw)
        out.print("  {:>{}}  {:3x}  {:{}}\n", session.events()[found.columns[i]].name, name_width,
                  found.columns[i].index(), thread.counts[i], count_width);
      else
        out.print("  {:{}}", thread.counts[i], widths[i]);
    }
    if (!raw) out.put('\n');
  }
}

void write_tasks(Sink& out, const Session& session, bool mmaps) {
  TaskWriter(out, session, mmaps).write();
}

}  // namespace sonde::report
