#include "replay/passes/machine_builder.h"

#include <algorithm>

#include "replay/fields/guest_samples.h"

namespace sonde {
namespace {

constexpr uint32_t kKernelPid = UINT32_MAX;

bool is_of_kernel(const RecordView& mapping) {
  return mapping.payload.size() >= sizeof(uint32_t) &&
         load<uint32_t>(mapping.payload.data(), mapping.order) == kKernelPid;
}

void add_build_ids(Machine& machine, const Features& features) {
  for (const BuildIdEntry& entry : features.build_ids) {
    if (is_guest_mode(entry.misc & abi::kMiscCpuModeMask) && entry.pid > 0)
      machine.set_guest_build_id(entry.path, entry.build_id, static_cast<uint32_t>(entry.pid));
    else
      machine.set_build_id(entry.path, entry.build_id, entry.misc, entry.file);
  }
}

}  // namespace

bool changes_machine(const RecordView& record, MachineLevel level) {
  switch (record.type) {
    case abi::kRecordComm:
    case abi::kRecordFork:
      return true;
    case abi::kRecordExit:
      return level != MachineLevel::kKernel;  // there, names are asked for when all is over
    case abi::kRecordKsymbol:
      return level >= MachineLevel::kKernel;
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return level == MachineLevel::kAll ||
             (level == MachineLevel::kKernel && is_of_kernel(record));
    case abi::kRecordCgroup:
    case abi::kRecordNamespaces:
      return level == MachineLevel::kAll;
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:  // what a guest runs on its virtual CPUs
      return level == MachineLevel::kAll && is_guest_mode(record.cpu_mode());
    default:
      return false;
  }
}

void apply_in_order(std::span<const OtherRecord> records, const EventTable& events,
                    Machine& machine, JitReplay* jit, LossLedger& losses) {
  SampleLayout none;
  auto layout_of = [&](const OtherRecord& other) -> const SampleLayout& {
    return other.event.valid() ? events[other.event].layout : none;
  };
  if (jit != nullptr) {
    for (const OtherRecord& other : records) {
      if (!JitReplay::may_tell(other.view) || is_guest_mode(other.view.cpu_mode())) continue;
      if (auto mapped = decode_as<MmapRecord>(other.view, layout_of(other))) jit->look_at(*mapped);
    }
    jit->read_dumps(events, losses);
  }
  for (const OtherRecord& other : records) {
    if (!changes_machine(other.view, MachineLevel::kAll)) continue;
    if (jit != nullptr) jit->apply_up_to(other.time);
    machine.apply(other.view, layout_of(other), other.time, losses,
                  guest_of(other.view, other.event, events));
  }
  if (jit != nullptr) jit->apply_all();
}

void MachineBuilder::build(Machine& machine, const EventTable& events, const Features& features,
                           LossLedger& losses, JitReplay* jit) {
  if (level_ == MachineLevel::kAll) machine.set_guests(events.guests().machines());
  std::ranges::stable_sort(records_, {}, &OtherRecord::time);
  apply_in_order(records_, events, machine, jit, losses);
  if (level_ >= MachineLevel::kKernel) add_build_ids(machine, features);
  machine.freeze();
  records_ = {};
}

}  // namespace sonde
