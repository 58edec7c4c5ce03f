#include "trace/sources/record_items.h"

#include <algorithm>

#include "machine/machine.h"
#include "perfdata/records/sideband.h"

namespace sonde {
namespace {

constexpr std::string_view kEnterPrefix = "sys_enter", kExitPrefix = "sys_exit";

bool is_call_system(std::string_view system) {
  return system == "raw_syscalls" || system == "syscalls";
}

}  // namespace

RecordItems::RecordItems(const EventTable& events, const FormatOf& format_of, SyscallAbi abi,
                         const std::function<bool(EventId)>& is_call)
    : table_(events), abi_(abi) {
  for (size_t i = 0; i < events.size(); ++i) {
    EventId id(i);
    const TracepointFormat* format = format_of(id);
    traced_.push_back({events[id].name, events[id].attr, format});
    bool calls = format != nullptr && is_call_system(format->system()) && is_call(id);
    bool enters = format != nullptr && format->system() == "syscalls" &&
                  format->name().starts_with(kEnterPrefix);
    plans_.push_back(calls || enters ? plan_of(*format) : Plan{});
    plans_.back().is_shown = !calls;
  }
}

/// raw_syscalls:sys_enter has `id` and `args`, sys_exit `id` and `ret`; the per-call tracepoints
/// have `__syscall_nr` and a field for each argument.
RecordItems::Plan RecordItems::plan_of(const TracepointFormat& format) {
  Plan plan;
  bool enter = format.name().starts_with(kEnterPrefix);
  if (!enter && !format.name().starts_with(kExitPrefix)) return plan;
  size_t arg = 0;
  for (const TracepointField& field : format.fields()) {
    if (field.name == "id" || (field.name == "__syscall_nr" && plan.number.size == 0)) {
      plan.number = {field.offset, field.size};
    } else if (!enter) {
      plan.result = {field.offset, field.size};
    } else if (field.name == "args") {
      constexpr uint32_t kWord = 8;
      for (; arg < plan.args.size() && (arg + 1) * kWord <= field.size; ++arg)
        plan.args[arg] = {static_cast<uint32_t>(field.offset + arg * kWord), kWord};
    } else if (arg < plan.args.size()) {
      plan.args[arg++] = {field.offset, field.size};
    }
  }
  bool whole = plan.number.size != 0 && (enter || plan.result.size != 0);
  if (whole) plan.use = enter ? Use::kEnter : Use::kExit;
  return plan;
}

bool RecordItems::make(const TimedRecord& record, TraceItem& item, LossLedger& losses) {
  item = TraceItem{};
  item.time_ns = record.time;
  if (record.record.type == abi::kRecordSample) return make_sample(record, item, losses);
  return make_task(record, item);
}

bool RecordItems::make_sample(const TimedRecord& record, TraceItem& item, LossLedger& losses) {
  if (!record.event.valid()) {
    losses.add(LossKind::k_unknown_event_id);
    return false;
  }
  const SampleLayout& layout = table_[record.event].layout;
  if (!decode_sample(record.record, layout, sample_)) {
    losses.add(LossKind::k_bad_record);
    return false;
  }
  item.sample = &sample_;
  item.layout = &layout;
  item.event = static_cast<uint32_t>(record.event.index());
  const Plan& plan = plans_[record.event.index()];
  if (plan.use == Use::kSample || plan.is_shown) {
    if (plan.use != Use::kEnter || !make_call(plan, item)) item.call = {};
    item.kind = TraceItem::Kind::kSample;
    return true;
  }
  if (make_call(plan, item)) return true;
  losses.add(LossKind::k_bad_record);
  return false;
}

bool RecordItems::make_call(const Plan& plan, TraceItem& item) const {
  item.kind = TraceItem::Kind::kCall;
  SyscallEvent& call = item.call;
  call.abi = abi_;
  call.pid = static_cast<int32_t>(sample_.id.pid);
  call.tid = static_cast<int32_t>(sample_.id.tid);
  call.cpu = sample_.id.has_cpu() ? static_cast<int32_t>(sample_.id.cpu) : -1;
  uint64_t value = 0;
  if (!load(sample_.raw, sample_.order, plan.number, value)) return false;
  call.number = static_cast<uint32_t>(value);
  if (plan.use == Use::kExit) {
    if (!load(sample_.raw, sample_.order, plan.result, value)) return false;
    call.has_exit = true;
    call.exit_ns = item.time_ns;
    call.result = static_cast<int64_t>(value);
    return true;
  }
  call.has_entry = true;
  call.entry_ns = item.time_ns;
  for (size_t i = 0; i < plan.args.size() && plan.args[i].size != 0; ++i)
    if (!load(sample_.raw, sample_.order, plan.args[i], call.args[i])) return false;
  return true;
}

bool RecordItems::load(Bytes raw, ByteOrder order, const Place& place, uint64_t& value) {
  if (place.offset > raw.size() || place.size > raw.size() - place.offset) return false;
  const std::byte* at = raw.data() + place.offset;
  if (place.size == sizeof(uint64_t))
    value = sonde::load<uint64_t>(at, order);
  else if (place.size == sizeof(uint32_t))
    value = static_cast<uint64_t>(int64_t{sonde::load<int32_t>(at, order)});
  else
    return false;
  return true;
}

bool RecordItems::make_task(const TimedRecord& record, TraceItem& item) {
  record_ = record.record;
  const SampleLayout& layout = record.event.valid() ? table_[record.event].layout : no_layout_;
  item.kind = TraceItem::Kind::kTask;
  item.layout = &layout;
  item.task.record = &record_;
  item.task.layout = &layout;
  TaskNews& news = item.task;
  switch (record_.type) {
    case abi::kRecordComm:
      if (auto comm = decode_as<CommRecord>(record_, layout)) {
        news.pid = static_cast<int32_t>(comm->pid);
        news.tid = static_cast<int32_t>(comm->tid);
        news.comm = name_given(comm->tid, comm->comm);
        return true;
      }
      return false;
    case abi::kRecordFork:
    case abi::kRecordExit:
      if (auto task = decode_as<TaskRecord>(record_, layout)) {
        news.kind =
            record_.type == abi::kRecordFork ? TaskNews::Kind::kFork : TaskNews::Kind::kExit;
        news.pid = static_cast<int32_t>(task->pid);
        news.tid = static_cast<int32_t>(task->tid);
        news.parent_tid = static_cast<int32_t>(task->ptid);
        return true;
      }
      return false;
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
    case abi::kRecordKsymbol:
      news.kind = TaskNews::Kind::kMemory;
      return true;
    case abi::kRecordLost:
      item.kind = TraceItem::Kind::kLost;
      if (auto lost = decode_as<LostRecord>(record_, layout)) item.lost = lost->lost;
      return item.lost > 0;
    case abi::kRecordLostSamples:
      item.kind = TraceItem::Kind::kLost;
      if (auto lost = decode_as<LostSamplesRecord>(record_, layout)) item.lost = lost->lost;
      return item.lost > 0;
    default:
      return false;
  }
}

}  // namespace sonde
