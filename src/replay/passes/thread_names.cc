#include "replay/passes/thread_names.h"

#include <algorithm>

#include "replay/passes/machine_builder.h"

namespace sonde {

ThreadNames::ThreadNames(FileScan& scan, LossLedger& losses) : machine_(strings_) {
  MachineBuilder builder(MachineLevel::kNames);
  auto take = [&](const RecordView& record) {
    if (!changes_machine(record, MachineLevel::kNames)) return;
    OtherRecord other{0, scan.events().of(record), record};
    SampleLayout none;
    const SampleLayout& layout = other.event.valid() ? scan.events()[other.event].layout : none;
    SampleId who = decode_trailing_id(record, layout);
    if (other.event.valid() && who.has_time()) other.time = who.time;
    builder.keep(other);
  };
  ByteOrder order = scan.facts().order;
  auto take_block = [&](const RecordBlock& block) {
    if (block.content) {
      for (const BlockContent::Place& place : block.content->others)
        take(record_at(block, place, order));
      return;
    }
    RecordView record;
    for (RecordRange range(block, order); range.next(record);) take(record);
  };
  for (auto blocks = scan.next(); !blocks.empty(); blocks = scan.next())
    std::ranges::for_each(blocks, take_block);
  builder.build(machine_, scan.events(), scan.features(), losses);
}

}  // namespace sonde
