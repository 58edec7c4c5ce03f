#include "perfdata/records/sideband.h"

#include <sys/mman.h>

namespace sonde {
namespace {

constexpr size_t kBuildIdField = 20;
constexpr size_t kBpfTagSize = 8;

/// What precedes the id block of a record.
ByteCursor body(const RecordView& record, const SampleLayout& layout) {
  size_t tail = layout.sample_id_size();
  size_t size = record.payload.size();
  return ByteCursor(record.payload.first(size >= tail ? size - tail : 0), record.order);
}

std::string_view rest_as_string(ByteCursor& in) {
  return in.fixed_string(in.left());
}

template <typename Record>
std::optional<Record> checked(const ByteCursor& in, const Record& record) {
  if (!in.ok()) return std::nullopt;
  return record;
}

void read_mmap2(ByteCursor& in, bool has_build_id, MmapRecord& m) {
  m.is_v2 = true;
  if (has_build_id) {
    uint8_t size = in.u8();
    in.skip(3);
    Bytes field = in.take(kBuildIdField);
    m.build_id = field.first(std::min<size_t>(size, field.size()));
  } else {
    m.major = in.u32();
    m.minor = in.u32();
    m.inode = in.u64();
    m.inode_generation = in.u64();
  }
  m.protection = in.u32();
  m.flags = in.u32();
}

}  // namespace

bool MmapRecord::executable() const {
  return is_v2 ? (protection & PROT_EXEC) != 0 : (misc & abi::kMiscMmapData) == 0;
}

template <>
std::optional<MmapRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  MmapRecord m{};
  m.misc = record.misc;
  m.pid = in.u32();
  m.tid = in.u32();
  m.start = RuntimeAddr(in.u64());
  m.length = in.u64();
  m.offset = FileOffset(in.u64());
  if (record.type == abi::kRecordMmap2)
    read_mmap2(in, (record.misc & abi::kMiscMmapBuildId) != 0, m);
  m.path = rest_as_string(in);
  return checked(in, m);
}

template <>
std::optional<CommRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  CommRecord c{};
  c.pid = in.u32();
  c.tid = in.u32();
  c.comm = rest_as_string(in);
  c.exec = (record.misc & abi::kMiscCommExec) != 0;
  return checked(in, c);
}

template <>
std::optional<TaskRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  TaskRecord t{};
  t.pid = in.u32();
  t.ppid = in.u32();
  t.tid = in.u32();
  t.ptid = in.u32();
  t.time = in.u64();
  return checked(in, t);
}

template <>
std::optional<LostRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  LostRecord l{};
  l.id = in.u64();
  l.lost = in.u64();
  return checked(in, l);
}

template <>
std::optional<LostSamplesRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  LostSamplesRecord l{in.u64()};
  return checked(in, l);
}

template <>
std::optional<ThrottleRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  ThrottleRecord t{};
  t.time = in.u64();
  t.id = in.u64();
  t.stream_id = in.u64();
  return checked(in, t);
}

template <>
std::optional<SwitchRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  SwitchRecord s{};
  s.out = (record.misc & abi::kMiscSwitchOut) != 0;
  s.preempt = (record.misc & abi::kMiscSwitchOutPreempt) != 0;
  s.cpu_wide = record.type == abi::kRecordSwitchCpuWide;
  if (s.cpu_wide) {
    s.other_pid = in.u32();
    s.other_tid = in.u32();
  }
  return checked(in, s);
}

template <>
std::optional<NamespacesRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  NamespacesRecord n{};
  n.pid = in.u32();
  n.tid = in.u32();
  n.count = in.u64();
  if (!in.fits(n.count, sizeof(NamespaceLink))) return std::nullopt;
  n.links = WordView(in.take(n.count * sizeof(NamespaceLink)), record.order);
  return checked(in, n);
}

template <>
std::optional<KsymbolRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  KsymbolRecord k{};
  k.address = RuntimeAddr(in.u64());
  k.length = in.u32();
  k.ksym_type = in.u16();
  k.flags = in.u16();
  k.name = rest_as_string(in);
  return checked(in, k);
}

template <>
std::optional<BpfEventRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  BpfEventRecord b{};
  b.event_type = in.u16();
  b.flags = in.u16();
  b.id = in.u32();
  b.tag = in.take(kBpfTagSize);
  return checked(in, b);
}

template <>
std::optional<CgroupRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  CgroupRecord c{};
  c.id = in.u64();
  c.path = rest_as_string(in);
  return checked(in, c);
}

template <>
std::optional<TextPokeRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  TextPokeRecord t{};
  t.address = RuntimeAddr(in.u64());
  uint16_t old_size = in.u16();
  uint16_t new_size = in.u16();
  t.old_bytes = in.take(old_size);
  t.new_bytes = in.take(new_size);
  return checked(in, t);
}

template <>
std::optional<AuxRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  AuxRecord a{};
  a.offset = in.u64();
  a.size = in.u64();
  a.flags = in.u64();
  return checked(in, a);
}

template <>
std::optional<ItraceStartRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  ItraceStartRecord i{};
  i.pid = in.u32();
  i.tid = in.u32();
  return checked(in, i);
}

template <>
std::optional<AuxOutputHwIdRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  AuxOutputHwIdRecord a{in.u64()};
  return checked(in, a);
}

template <>
std::optional<CallchainDeferredRecord> decode_as(const RecordView& record,
                                                 const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  CallchainDeferredRecord c{};
  c.cookie = in.u64();
  uint64_t count = in.u64();
  if (!in.fits(count, sizeof(uint64_t))) return std::nullopt;
  c.ips = WordView(in.take(count * sizeof(uint64_t)), record.order);
  return checked(in, c);
}

template <>
std::optional<ReadRecord> decode_as(const RecordView& record, const SampleLayout& layout) {
  ByteCursor in = body(record, layout);
  ReadRecord r{};
  r.pid = in.u32();
  r.tid = in.u32();
  if (!in.ok() || !decode_read_block(in.rest(), record.order, layout, r.read)) return std::nullopt;
  return r;
}

}  // namespace sonde
