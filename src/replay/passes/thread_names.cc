#include "replay/passes/thread_names.h"

#include <algorithm>
#include <vector>

#include "replay/passes/sideband_pass.h"

namespace sonde {
namespace {

bool names_threads(uint32_t type) {
  return type == abi::kRecordComm || type == abi::kRecordFork || type == abi::kRecordExit;
}

}  // namespace

ThreadNames::ThreadNames(FileScan& scan, LossLedger& losses) : machine_(strings_) {
  std::vector<OtherRecord> records;
  auto take = [&](const RecordView& record) {
    if (!names_threads(record.type)) return;
    OtherRecord other{0, scan.events().of(record), record};
    SampleLayout none;
    const SampleLayout& layout = other.event.valid() ? scan.events()[other.event].layout : none;
    SampleId who = decode_trailing_id(record, layout);
    if (other.event.valid() && who.has_time()) other.time = who.time;
    records.push_back(other);
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
  std::ranges::stable_sort(records, {}, &OtherRecord::time);
  apply_in_order(records, scan.events(), machine_, nullptr, losses);
  machine_.freeze();
}

}  // namespace sonde
