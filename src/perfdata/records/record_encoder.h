// The inverse of sample.h and sideband.h: encodes decoded records, in either byte order.
//
//   ByteBuilder out;
//   encode(CommRecord{pid, tid, "bash", false}, RecordFrame{.attr = &attr}, out);
//
// Law 4: decode(encode(x)) == x for every type here. A record that would exceed its 16-bit size
// (65,535 bytes) is not written: `encode` then returns false and leaves `out` unchanged. Where its
// layout allows, a record is padded to a multiple of eight bytes, as the kernel's are.
#pragma once

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "perfdata/records/sample.h"
#include "perfdata/records/sideband.h"

namespace sonde {

/// What surrounds a record's own fields.
struct RecordFrame {
  /// Only for structs that serve several types (TaskRecord, ThrottleRecord); 0 means the struct's
  /// first type (FORK, THROTTLE).
  uint32_t type = 0;
  /// ORed with the bits implied by the record's fields (exec, switch out, build id …).
  uint16_t misc = 0;
  /// With an attr that has sample_id_all, `id` is appended to the record as that attr's sample_type
  /// demands; otherwise no id block is written. Synthesised records carry zeros: `kSynthesisedId`.
  const abi::EventAttr* attr = nullptr;
  SampleId id;
};
/// The id block of records that the recorder makes up: all zero, as perf writes it.
inline constexpr SampleId kSynthesisedId{
    .pid = 0, .tid = 0, .time = 0, .id = 0, .stream_id = 0, .cpu = 0};

bool encode(const MmapRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const CommRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const TaskRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const LostRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const LostSamplesRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const ThrottleRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const SwitchRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const NamespacesRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const KsymbolRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const BpfEventRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const CgroupRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const TextPokeRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const AuxRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const ItraceStartRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const AuxOutputHwIdRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const CallchainDeferredRecord& record, const RecordFrame& frame, ByteBuilder& out);
bool encode(const ReadRecord& record, const RecordFrame& frame, ByteBuilder& out);

/// A sample as `attr.sample_type` lays it out. Fields that the attr does not ask for are not
/// written. `sample.misc` is the header's misc.
bool encode_sample(const Sample& sample, const abi::EventAttr& attr, ByteBuilder& out);

/// The id block alone, as it follows non-sample records; nothing without sample_id_all.
void encode_trailing_id(const SampleId& id, const abi::EventAttr& attr, ByteBuilder& out);

void put_words(WordView words, ByteBuilder& out);

/// Header and payload as given; false if the payload is too long.
bool encode_raw(uint32_t type, uint16_t misc, Bytes payload, ByteBuilder& out);

}  // namespace sonde
