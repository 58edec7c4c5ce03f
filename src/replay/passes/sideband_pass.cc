#include "replay/passes/sideband_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "abi/record_names.h"
#include "perfdata/records/user_records.h"
#include "replay/passes/machine_builder.h"

namespace sonde {
namespace {

/// The content of a block that was not cut out of a file.
BlockContent look_at(const RecordBlock& block, ByteOrder order) {
  BlockContent content;
  RecordRange range(block, order);
  size_t offset = 0;
  for (RecordView record; range.next(record); offset = range.stopped_at())
    content.count(record.type, record.misc, static_cast<uint32_t>(record.size()), offset);
  return content;
}

class SidebandPass {
 public:
  SidebandPass(const Recording& recording, LossLedger& losses)
      : recording_(recording), losses_(losses) {
    result_.rank_is_time = file_order_is_time(recording.events());
    result_.counts.records_by_type.resize(128);
  }

  void walk(uint64_t rank) {
    ByteOrder order = recording_.byte_order();
    result_.others.reserve(count_others());
    for (const RecordBlock& block : recording_.blocks()) {
      BlockContent seen;
      if (!block.content) seen = look_at(block, order);
      const BlockContent& content = block.content ? *block.content : seen;
      result_.samples_before.push_back(result_.counts.samples);
      result_.records_before.push_back(rank);
      result_.counts.samples += content.samples();
      for (const BlockContent::Place& place : content.others)
        take(record_at(block, place, order), rank + place.rank);
      rank += content.records;
    }
    result_.samples_before.push_back(result_.counts.samples);
    result_.records_before.push_back(rank);
    result_.counts.records_by_type[abi::kRecordSample] = result_.counts.samples;
  }

  SidebandResult result() && {
    result_.counts.lost = result_.losses.counts(recording_.events());
    return std::move(result_);
  }

 private:
  /// Of the blocks whose content is known, which are nearly always all.
  [[nodiscard]] size_t count_others() const {
    size_t count = 0;
    for (const RecordBlock& block : recording_.blocks())
      if (block.content) count += block.content->others.size();
    return count;
  }

  /// Whether a record ends a round that has nothing in it, which no recorder writes: it says
  /// nothing, however many there are.
  [[nodiscard]] bool is_empty_round(const RecordView& record, uint64_t rank) {
    bool is_round = record.type == abi::kRecordFinishedRound;
    bool is_empty = is_round && rank == next_after_round_;
    if (is_round) next_after_round_ = rank + 1;
    return is_empty;
  }

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
    if (is_empty_round(record, rank)) return;
    OtherRecord other{rank, EventId(), record};
    if (record.type < abi::kRecordUserStart) {
      other.event = recording_.events().of(record);
      if (other.event.valid() && !result_.rank_is_time) {
        SampleId id = decode_trailing_id(record, recording_.events()[other.event].layout);
        other.time = id.has_time() ? id.time : 0;
      }
      result_.losses.add(record, other.event, recording_.events());
    } else if (!result_.rank_is_time) {
      other.time = 0;
      if (record.type == abi::kRecordAuxtraceError)
        if (auto error = decode_user<AuxtraceErrorRecord>(record)) other.time = error->time;
    }
    result_.others.push_back(other);
  }

  const Recording& recording_;
  LossLedger& losses_;
  SidebandResult result_;
  uint64_t next_after_round_ = UINT64_MAX;  // rank of the record after the last round's end
};

}  // namespace

bool file_order_is_time(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return !event.attr.samples(abi::kSampleTime) || event.attr.sample_id_all == 0;
  });
}

SidebandResult read_sideband(const Recording& recording, Machine& machine, LossLedger& losses,
                             uint64_t first_rank, JitReplay* jit) {
  SidebandPass pass(recording, losses);
  pass.walk(first_rank);
  SidebandResult result = std::move(pass).result();

  MachineBuilder builder(MachineLevel::kAll);
  for (const OtherRecord& other : result.others) builder.keep(other);
  builder.build(machine, recording.events(), recording.features(), losses, jit);
  return result;
}

}  // namespace sonde
