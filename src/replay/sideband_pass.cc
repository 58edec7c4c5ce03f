#include "replay/sideband_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "abi/record_names.h"
#include "base/parallel.h"

namespace sonde {
namespace {

bool changes_state(uint32_t type) {
  switch (type) {
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
    case abi::kRecordComm:
    case abi::kRecordFork:
    case abi::kRecordExit:
    case abi::kRecordKsymbol:
    case abi::kRecordCgroup:
    case abi::kRecordNamespaces:
      return true;
    default:
      return false;
  }
}

/// What one block holds: its samples counted, its other records with their rank in the block.
struct BlockContent {
  struct Other {
    uint64_t rank;
    RecordView view;
  };
  uint64_t samples = 0;
  uint64_t records = 0;
  std::vector<Other> others;

  void read(const RecordBlock& block, ByteOrder order) {
    RecordRange range(block, order);
    for (RecordView record; range.next(record); ++records) {
      if (record.type == abi::kRecordSample)
        ++samples;
      else
        others.push_back({records, record});
    }
  }
};

class SidebandPass {
 public:
  SidebandPass(const Recording& recording, LossLedger& losses)
      : recording_(recording), losses_(losses) {
    result_.rank_is_time = file_order_is_time(recording.events());
    result_.counts.records_by_type.resize(128);
    result_.counts.lost_by_event.resize(recording.events().size());
  }

  void walk(uint64_t rank) {
    const std::vector<RecordBlock>& blocks = recording_.blocks();
    std::vector<BlockContent> contents(blocks.size());
    parallel_for(blocks.size(),
                 [&](size_t i) { contents[i].read(blocks[i], recording_.byte_order()); });
    for (const BlockContent& content : contents) {
      result_.samples_before.push_back(result_.counts.samples);
      result_.records_before.push_back(rank);
      result_.counts.samples += content.samples;
      for (const BlockContent::Other& other : content.others) take(other.view, rank + other.rank);
      rank += content.records;
    }
    result_.samples_before.push_back(result_.counts.samples);
    result_.records_before.push_back(rank);
    result_.counts.records_by_type[abi::kRecordSample] = result_.counts.samples;
  }

  SidebandResult result() && { return std::move(result_); }

 private:
  void take(const RecordView& record, uint64_t rank) {
    if (record.type < result_.counts.records_by_type.size() &&
        !abi::record_type_name(record.type).empty()) {
      ++result_.counts.records_by_type[record.type];
    } else {
      ++result_.counts.unknown_records;
      if (record.type < abi::kRecordSimpleperfStart)
        losses_.add(LossKind::k_unknown_record, 1,
                    fmt::format("type {} at file offset {:#x}", record.type, record.file_offset));
    }
    OtherRecord other{rank, EventId(), record};
    if (record.type < abi::kRecordUserStart) {
      other.event = recording_.events().of(record);
      if (other.event.valid() && !result_.rank_is_time) {
        SampleId id = decode_trailing_id(record, recording_.events()[other.event].layout);
        other.time = id.has_time() ? id.time : 0;
      }
      count_losses(record, other.event);
    } else if (!result_.rank_is_time) {
      other.time = 0;
    }
    result_.others.push_back(other);
  }

  void count_losses(const RecordView& record, EventId event) {
    SampleLayout none;
    const SampleLayout& layout = event.valid() ? recording_.events()[event].layout : none;
    ReplayCounts& counts = result_.counts;
    if (record.type == abi::kRecordLost) {
      if (auto lost = decode_as<LostRecord>(record, layout)) {
        counts.lost_events += lost->lost;
        losses_.add(LossKind::k_lost_by_kernel, lost->lost);
      }
    } else if (record.type == abi::kRecordLostSamples) {
      if (auto lost = decode_as<LostSamplesRecord>(record, layout)) {
        counts.lost_samples += lost->lost;
        if (event.valid()) counts.lost_by_event[event.index()] += lost->lost;
        losses_.add(LossKind::k_lost_samples, lost->lost);
      }
    }
  }

  const Recording& recording_;
  LossLedger& losses_;
  SidebandResult result_;
};

}  // namespace

bool file_order_is_time(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return !event.attr.samples(abi::kSampleTime) || event.attr.sample_id_all == 0;
  });
}

SidebandResult read_sideband(const Recording& recording, Machine& machine, LossLedger& losses,
                             uint64_t first_rank) {
  SidebandPass pass(recording, losses);
  pass.walk(first_rank);
  SidebandResult result = std::move(pass).result();

  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < result.others.size(); ++i)
    if (changes_state(result.others[i].view.type)) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return result.others[i].time; });
  SampleLayout none;
  for (uint32_t i : order) {
    const OtherRecord& other = result.others[i];
    machine.apply(other.view, other.event.valid() ? recording.events()[other.event].layout : none,
                  other.time, losses);
  }
  for (const BuildIdEntry& entry : recording.features().build_ids)
    machine.set_build_id(entry.path, entry.build_id, entry.misc);
  machine.freeze();
  return result;
}

}  // namespace sonde
