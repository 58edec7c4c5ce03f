// Decodes and encodes the records that recorders write themselves (types from 64 on): events and
// features in a pipe, maps of threads and CPUs, counts of `stat record`, AUX trace descriptions.
//
// Decoding follows sideband.h: `decode_user<IdIndexRecord>(view)` checks lengths and counts;
// nullopt means damaged. Strings and arrays are views into the record. Law 4 holds for `encode`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "perfdata/header/features.h"
#include "perfdata/records/record.h"
#include "perfdata/records/sample.h"

namespace sonde {

/// For BUILD_ID records, PERF_RECORD_MISC_BUILD_ID_SIZE: a byte after the id gives its length.
inline constexpr uint16_t kMiscBuildIdSize = 1u << 15;

/// "SondeFil": in a BUILD_ID record, the path is followed by the identity of the file at that path.
/// Readers that don't know this stop at the end of the path.
inline constexpr uint64_t kFileIdentityMagic = 0x6c696646646e6f53;  // in the record's byte order

struct HeaderAttrRecord {  // one event of a pipe
  abi::EventAttr attr;
  WordView ids;
};
struct EventTypeRecord {  // before Linux 3.3: the name of a tracepoint
  uint64_t id;
  std::string_view name;
};
struct TracingDataRecord {  // followed by `size` bytes not counted in the record's own size
  uint32_t size;
};
struct IdIndexRecord {
  struct Entry {
    uint64_t id, index, cpu, tid;
  };
  struct Guest {
    uint64_t machine_pid, vcpu;
  };
  WordView entries;  // id, index, cpu, tid per entry
  WordView guests;   // machine_pid, vcpu per entry; for every entry or none
  [[nodiscard]] size_t size() const { return entries.size() / 4; }
  [[nodiscard]] Entry entry(size_t i) const {
    return {entries[i * 4], entries[i * 4 + 1], entries[i * 4 + 2], entries[i * 4 + 3]};
  }
  [[nodiscard]] std::optional<Guest> guest(size_t i) const {
    if (guests.size() < (i + 1) * 2) return std::nullopt;
    return Guest{guests[i * 2], guests[i * 2 + 1]};
  }
};
/// AuxtraceInfoRecord::type: what traced. Others are Arm's SPE (4), s390's sampling (5) and
/// HiSilicon's PCIe traces (6).
inline constexpr uint32_t kAuxtraceIntelPt = 1, kAuxtraceIntelBts = 2, kAuxtraceCoreSight = 3;
struct AuxtraceInfoRecord {
  uint32_t type;
  WordView priv;
};
struct AuxtraceRecord {  // followed by `size` bytes not counted in the record's own size
  uint64_t size, offset, reference;
  uint32_t index, tid, cpu;
};
struct AuxtraceErrorRecord {
  uint32_t type, code, cpu, pid, tid, format;
  uint64_t ip, time;
  std::string_view message;
  uint32_t machine_pid = 0, vcpu = 0;
};
struct ThreadMapRecord {
  struct Entry {
    uint64_t tid;
    std::string_view comm;
  };
  std::vector<Entry> threads;
};
struct CpuMapRecord {
  std::vector<int> cpus;  // -1: any CPU
};
struct StatConfigRecord {
  WordView terms;  // tag, value per term
};
struct StatRecord {
  uint64_t id;
  uint32_t cpu, thread;
  uint64_t value, enabled, running;
};
struct StatRoundRecord {
  uint64_t type, time;
};
enum class EventUpdateKind : uint64_t {
  kUnit = 0,
  kScale = 1,
  kName = 2,
  kCpus = 3,
  /// Our own, in pipes: more of what the section INTERPRETED_FILES has in files. perf ignores kinds
  /// that it does not know, if the id is that of an event.
  kInterpretedFiles = 192,
};
struct EventUpdateRecord {
  EventUpdateKind kind;
  uint64_t id;
  std::string_view text;  // unit, name
  double scale = 0;
  CpuMapRecord cpus;
  Bytes files = {};  // encoded as in the section; zeros may follow
};
struct TimeConvRecord {
  uint64_t shift, multiplier, zero;
  bool has_cycles = false;  // the fields below, since Linux 5.9
  uint64_t cycles = 0, mask = 0;
  uint8_t cap_user_time_zero = 0, cap_user_time_short = 0;
};
struct HeaderFeatureRecord {
  uint64_t feature;  // 32 (or one past the recorder's last) without content: end of the features
  Bytes content;
};
struct BpfMetadataRecord {
  std::string_view program;
  std::vector<std::pair<std::string_view, std::string_view>> entries;
};

/// The CPU that a STAT record means, -1 for any: the number of a CPU of the file's CPU_MAP, or of
/// those that the event has for itself. perf before 5.18 wrote the place in the map instead.
std::optional<int> counted_cpu(uint32_t recorded, std::span<const int> map,
                               std::span<const int> own);

template <typename Record>
std::optional<Record> decode_user(const RecordView& record);
template <>
std::optional<HeaderAttrRecord> decode_user(const RecordView& record);
template <>
std::optional<EventTypeRecord> decode_user(const RecordView& record);
template <>
std::optional<TracingDataRecord> decode_user(const RecordView& record);
template <>
std::optional<IdIndexRecord> decode_user(const RecordView& record);
template <>
std::optional<AuxtraceInfoRecord> decode_user(const RecordView& record);
template <>
std::optional<AuxtraceRecord> decode_user(const RecordView& record);
template <>
std::optional<AuxtraceErrorRecord> decode_user(const RecordView& record);
template <>
std::optional<ThreadMapRecord> decode_user(const RecordView& record);
template <>
std::optional<CpuMapRecord> decode_user(const RecordView& record);
template <>
std::optional<StatConfigRecord> decode_user(const RecordView& record);
template <>
std::optional<StatRecord> decode_user(const RecordView& record);
template <>
std::optional<StatRoundRecord> decode_user(const RecordView& record);
template <>
std::optional<EventUpdateRecord> decode_user(const RecordView& record);
template <>
std::optional<TimeConvRecord> decode_user(const RecordView& record);
template <>
std::optional<HeaderFeatureRecord> decode_user(const RecordView& record);
template <>
std::optional<BpfMetadataRecord> decode_user(const RecordView& record);

bool encode(const HeaderAttrRecord& record, ByteBuilder& out);
bool encode(const EventTypeRecord& record, ByteBuilder& out);
/// Only the record; the caller writes what follows it, padded to eight bytes.
bool encode(const TracingDataRecord& record, ByteBuilder& out);
bool encode(const IdIndexRecord& record, ByteBuilder& out);
bool encode(const AuxtraceInfoRecord& record, ByteBuilder& out);
bool encode(const AuxtraceRecord& record, ByteBuilder& out);
bool encode(const AuxtraceErrorRecord& record, ByteBuilder& out);
bool encode(const ThreadMapRecord& record, ByteBuilder& out);
bool encode(const CpuMapRecord& record, ByteBuilder& out);
bool encode(const StatConfigRecord& record, ByteBuilder& out);
bool encode(const StatRecord& record, ByteBuilder& out);
bool encode(const StatRoundRecord& record, ByteBuilder& out);
bool encode(const EventUpdateRecord& record, ByteBuilder& out);
bool encode(const TimeConvRecord& record, ByteBuilder& out);
bool encode(const HeaderFeatureRecord& record, ByteBuilder& out);
bool encode(const BpfMetadataRecord& record, ByteBuilder& out);

/// BUILD_ID as a record in a pipe (`type` kRecordHeaderBuildId) or in the header section (0).
bool encode(const BuildIdEntry& entry, uint32_t type, ByteBuilder& out);
/// The entry in a BUILD_ID record; its misc omits the bit that says that the size is stored.
std::optional<BuildIdEntry> decode_build_id(const RecordView& record);

/// FINISHED_ROUND, FINISHED_INIT: records without content.
void encode_empty(uint32_t type, ByteBuilder& out);

}  // namespace sonde
