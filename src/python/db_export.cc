#include "python/db_export.h"

#include <array>
#include <string_view>

#include "abi/data_source.h"
#include "base/text.h"
#include "python/sample_objects.h"
#include "script/frame_texts.h"

namespace sonde::python {
namespace {

constexpr uint64_t kMachine = 1;
constexpr uint64_t kRootPath = 1;
struct BranchKind {
  uint32_t flags;
  std::string_view name;
};
// Bits of perf's flags of traced branches: branch, call, return, conditional, system call,
// asynchronous, interrupt, abort, trace begin, trace end, virtual machine entry and exit.
constexpr uint32_t kTraceBegin = 256, kTraceEnd = 512;
constexpr std::array kBranchKinds = {BranchKind{3, "call"},
                                     BranchKind{5, "return"},
                                     BranchKind{9, "conditional jump"},
                                     BranchKind{1, "unconditional jump"},
                                     BranchKind{67, "software interrupt"},
                                     BranchKind{69, "return from interrupt"},
                                     BranchKind{19, "system call"},
                                     BranchKind{21, "return from system call"},
                                     BranchKind{33, "asynchronous branch"},
                                     BranchKind{99, "hardware interrupt"},
                                     BranchKind{129, "transaction abort"},
                                     BranchKind{257, "trace begin"},
                                     BranchKind{513, "trace end"},
                                     BranchKind{2051, "vm entry"},
                                     BranchKind{4099, "vm exit"}};

template <typename... Parts>
std::vector<PyRef> row_of(Parts... parts) {
  std::vector<PyRef> row;
  auto add = [&](const auto& part) {
    if constexpr (std::is_convertible_v<decltype(part), std::string_view>)
      row.push_back(text_object(part));
    else
      row.push_back(signed_object(static_cast<int64_t>(part)));
  };
  (add(parts), ...);
  return row;
}

/// The entry of a vector that grows.
uint64_t& at(std::vector<uint64_t>& ids, size_t index) {
  if (index >= ids.size()) ids.resize(index + 1);
  return ids[index];
}

}  // namespace

Result<> DbExport::call(const char* table, std::vector<PyRef> row) {
  return script_.call_if_there(table, std::move(row));
}

Result<> DbExport::begin() {
  if (script_.context().has_traces && script_.interpreter().is_set("perf_db_export_calls"))
    return fail(ErrorCode::kUnsupported,
                "perf_db_export_calls: instruction traces are not decoded yet: leave out that "
                "argument");
  constexpr const char* kTable = "branch_type_table";
  TRY(call(kTable, row_of(0, "no branch")));
  for (const BranchKind& kind : kBranchKinds) TRY(call(kTable, row_of(kind.flags, kind.name)));
  TRY(call(kTable, row_of(kTraceBegin, "trace begin / no branch")));
  TRY(call(kTable, row_of(kTraceEnd, "no branch / trace end")));
  for (const BranchKind& kind : kBranchKinds) {
    if ((kind.flags & (kTraceBegin | kTraceEnd)) != 0 || kind.flags == 1) continue;
    TRY(call(kTable, row_of(kind.flags | kTraceBegin, fmt::format("trace begin / {}", kind.name))));
    TRY(call(kTable, row_of(kind.flags | kTraceEnd, fmt::format("{} / trace end", kind.name))));
  }
  return {};
}

Result<uint64_t> DbExport::event_id(EventId event) {
  uint64_t& id = at(events_, event.index());
  if (id != 0) return id;
  id = ++event_count_;
  TRY(call("evsel_table", row_of(id, session_.events()[event].name)));
  return id;
}

Result<> DbExport::machine() {
  if (std::exchange(has_machine_, true)) return {};
  return call("machine_table", row_of(kMachine, -1, ""));
}

Result<uint64_t> DbExport::thread_id(uint32_t pid, uint32_t tid) {
  auto [known, is_new] = threads_.try_emplace({pid, tid}, threads_.size() + 1);
  uint64_t id = known->second;
  if (!is_new) return id;
  uint64_t process = pid == tid ? id : TRY(thread_id(pid, pid));
  TRY(call("thread_table", row_of(id, kMachine, process, static_cast<int32_t>(recorded_task(pid)),
                                  static_cast<int32_t>(recorded_task(tid)))));
  return id;
}

Result<DbExport::Task> DbExport::task(uint32_t pid, uint32_t tid, uint64_t time) {
  Task task;
  task.process = TRY(thread_id(pid, pid));
  task.thread = TRY(thread_id(pid, tid));
  Machine::CommAt comm = session_.machine().comm_span_at(tid, time);
  auto [known, is_new] = comms_.try_emplace(
      {task.process, comm.valid_from, static_cast<uint32_t>(comm.comm.index())}, comms_.size() + 1);
  task.comm = known->second;
  if (is_new)
    TRY(call("comm_table", row_of(task.comm, session_.strings().view(comm.comm), task.thread,
                                  comm.valid_from, session_.machine().exec_at(tid, time) ? 1 : 0)));
  auto [pair, is_first] =
      comm_threads_.try_emplace({task.comm, task.thread}, comm_threads_.size() + 1);
  if (is_first) TRY(call("comm_thread_table", row_of(pair->second, task.comm, task.thread)));
  return task;
}

Result<uint64_t> DbExport::dso_id(DsoId dso) {
  uint64_t& id = at(dsos_, dso.index());
  if (id != 0) return id;
  id = ++dso_count_;
  const Dso& object = session_.machine().dsos()[dso];
  TRY(call("dso_table", row_of(id, kMachine, object.short_name, object.path,
                               to_hex(build_id_of(session_, dso)))));
  return id;
}

Result<DbExport::Place> DbExport::place(const Frame& frame, std::optional<uint64_t> ip) {
  Place place;
  if (!frame.dso.valid()) return place;
  place.dso = TRY(dso_id(frame.dso));
  bool has_symbol = frame.symbol.valid();
  uint64_t start = has_symbol ? frame.symbol_start : frame.address;
  if (!has_symbol && ip && !symbols_.contains({place.dso, start})) start = *ip;
  place.offset = frame.address - start;
  auto [known, is_new] = symbols_.try_emplace({place.dso, start}, symbols_.size() + 1);
  place.symbol = known->second;
  if (!is_new) return place;
  if (!has_symbol) {
    TRY(call("symbol_table", row_of(place.symbol, place.dso, start, start, 0, "unknown")));
    return place;
  }
  SymbolInfo info = session_.symbolizer().info(frame.symbol);
  TRY(call("symbol_table", row_of(place.symbol, place.dso, start, start + (info.end - info.start),
                                  info.binding, info.name)));
  return place;
}

Result<uint64_t> DbExport::call_path_below(uint64_t parent, const PathPart& part) {
  auto [known, is_new] =
      paths_.try_emplace({parent, part.symbol, part.ip}, paths_.size() + kRootPath + 1);
  uint64_t id = known->second;
  if (is_new) TRY(call("call_path_table", row_of(id, parent, part.symbol, part.ip)));
  return id;
}

/// 0 for samples without a chain.
Result<uint64_t> DbExport::call_path(size_t index, const Sample& sample) {
  ChainId chain = session_.samples().chain_of(index);
  if (!wants_chains_ || !chain.valid()) return 0;
  std::vector<PathPart> parts;
  std::span<const FrameId> frames = session_.chains()[chain];
  std::vector<uint64_t> ips = recorded_ips(session_, frames, sample);
  for (size_t i = frames.size(); i-- > 0;) {
    uint64_t symbol = TRY(place(session_.frame(frames[i]), ips[i])).symbol;
    parts.push_back({symbol, symbol == 0 ? ips[i] : 0});
  }
  if (parts.empty()) return 0;
  if (paths_.empty()) TRY(call("call_path_table", row_of(kRootPath, 0, 0, 0)));
  uint64_t path = kRootPath;
  for (const PathPart& part : parts) path = TRY(call_path_below(path, part));
  return path;
}

Result<> DbExport::sample(size_t index, const Sample& sample) {
  const SampleColumns& columns = session_.samples();
  EventId event(size_t{columns.event[index]});
  uint64_t event_row = TRY(event_id(event));
  TRY(machine());
  Task who = TRY(task(columns.pid[index], columns.tid[index], columns.time[index]));
  Place at = TRY(place(session_.frame(columns.leaf[index])));
  uint64_t path = TRY(call_path(index, sample));
  const abi::EventAttr& attr = session_.events()[event].attr;
  Place to;
  if (has_target(attr)) to = TRY(place(target_of(session_, index, sample)));
  return call("sample_table",
              row_of(++samples_, event_row, kMachine, who.thread, who.comm, at.dso, at.symbol,
                     at.offset, sample.ip, columns.time[index],
                     static_cast<int32_t>(columns.cpu[index]), to.dso, to.symbol, to.offset,
                     sample.addr, columns.period[index], sample.weight, sample.transaction,
                     attr.samples(abi::kSampleDataSrc) ? sample.data_src : abi::kNoDataSource, 0, 0,
                     path, 0, 0, 0));
}

Result<> DbExport::context_switch(uint64_t time, const SampleId& who, const SwitchRecord& change,
                                  const SampleId& other) {
  TRY(machine());
  Task own = TRY(task(who.pid, who.tid, time));
  Task second;
  if (other.pid != UINT32_MAX) second = TRY(task(other.pid, other.tid, time));
  const Task& leaves = change.out ? own : second;
  const Task& comes = change.out ? second : own;
  return call(
      "context_switch_table",
      row_of(++switches_, kMachine, time, static_cast<int32_t>(who.cpu), leaves.thread, leaves.comm,
             comes.thread, comes.comm, (change.out ? 1 : 0) | (change.preempt ? 2 : 0)));
}

}  // namespace sonde::python
