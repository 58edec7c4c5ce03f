// Decodes the records that change state or report losses. Strings are views into the record.
//
// `decode_as<MmapRecord>(view, layout)` checks lengths; nullopt means damaged (loss: bad_record).
#pragma once

#include <optional>
#include <string_view>

#include "perfdata/records/record.h"
#include "perfdata/records/sample.h"

namespace sonde {

struct MmapRecord {  // MMAP and MMAP2
  uint32_t pid, tid;
  RuntimeAddr start;
  uint64_t length;
  FileOffset offset;
  std::string_view path;
  uint32_t major = 0, minor = 0;  // MMAP2 without build id
  uint64_t inode = 0, inode_generation = 0;
  uint32_t protection = 0, flags = 0;  // PROT_*, MAP_*: MMAP2 only
  Bytes build_id;                      // MMAP2 with kMiscMmapBuildId; else empty
  bool is_v2 = false;
  bool executable() const;  // by PROT_EXEC, or by misc for the first version
  uint16_t misc = 0;
};
struct CommRecord {
  uint32_t pid, tid;
  std::string_view comm;
  bool exec;
};
struct TaskRecord {
  uint32_t pid, ppid, tid, ptid;
  uint64_t time;
};  // FORK and EXIT
struct LostRecord {
  uint64_t id, lost;
};
struct LostSamplesRecord {
  uint64_t lost;
};
struct ThrottleRecord {
  uint64_t time, id, stream_id;
};
struct SwitchRecord {
  bool out, preempt, cpu_wide;
  uint32_t other_pid, other_tid;
};
struct NamespaceLink {
  uint64_t device, inode;
};
struct NamespacesRecord {
  uint32_t pid, tid;
  uint64_t count;
  WordView links;
};  // device, inode pairs
struct KsymbolRecord {
  RuntimeAddr address;
  uint32_t length;
  uint16_t ksym_type, flags;
  std::string_view name;
};
struct BpfEventRecord {
  uint16_t event_type, flags;
  uint32_t id;
  Bytes tag;
};
struct CgroupRecord {
  uint64_t id;
  std::string_view path;
};
struct TextPokeRecord {
  RuntimeAddr address;
  Bytes old_bytes, new_bytes;
};
struct AuxRecord {
  uint64_t offset, size, flags;
};
struct ItraceStartRecord {
  uint32_t pid, tid;
};
struct AuxOutputHwIdRecord {
  uint64_t hw_id;
};
struct CallchainDeferredRecord {
  uint64_t cookie;
  WordView ips;
};
struct ReadRecord {
  uint32_t pid, tid;
  ReadBlock read;
};

template <typename Record>
std::optional<Record> decode_as(const RecordView& record, const SampleLayout& layout);

template <>
std::optional<MmapRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<CommRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<TaskRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<LostRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<LostSamplesRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<ThrottleRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<SwitchRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<NamespacesRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<KsymbolRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<BpfEventRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<CgroupRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<TextPokeRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<AuxRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<ItraceStartRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<AuxOutputHwIdRecord> decode_as(const RecordView& record, const SampleLayout& layout);
template <>
std::optional<CallchainDeferredRecord> decode_as(const RecordView& record,
                                                 const SampleLayout& layout);
template <>
std::optional<ReadRecord> decode_as(const RecordView& record, const SampleLayout& layout);

}  // namespace sonde
