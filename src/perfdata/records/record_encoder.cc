#include "perfdata/records/record_encoder.h"

#include <bit>

namespace sonde {
namespace {

constexpr size_t kMaxRecordSize = UINT16_MAX;

void pad_to_eight(size_t start, ByteBuilder& out) {
  out.zeros((8 - (out.size() - start) % 8) % 8);
}

/// A record whose payload is appended piece by piece; its size is set and checked at the end.
class OpenRecord {
 public:
  OpenRecord(uint32_t type, uint16_t misc, ByteBuilder& out) : out_(out), start_(out.size()) {
    out.u32(type);
    out.u16(misc);
    out.u16(0);
  }
  /// Appends the id block and sets the size. If the record is too long, returns false and removes
  /// it.
  bool close(const RecordFrame& frame) {
    if (frame.attr != nullptr) encode_trailing_id(frame.id, *frame.attr, out_);
    return close();
  }
  bool close() {
    size_t size = out_.size() - start_;
    if (size > kMaxRecordSize) {
      out_.truncate(start_);
      return false;
    }
    out_.patch(start_ + offsetof(abi::RecordHeader, size), static_cast<uint16_t>(size));
    return true;
  }

 private:
  ByteBuilder& out_;
  size_t start_;
};

void put_number(uint32_t value, ByteBuilder& out) {
  out.u32(value);
}
void put_number(uint64_t value, ByteBuilder& out) {
  out.u64(value);
}

/// A record that consists of numbers only, each as wide as its type.
template <typename... Numbers>
bool encode_numbers(uint32_t type, const RecordFrame& frame, ByteBuilder& out, Numbers... numbers) {
  OpenRecord open(type, frame.misc, out);
  (put_number(numbers, out), ...);
  return open.close(frame);
}

void put_read(const ReadBlock& read, ByteBuilder& out) {
  uint64_t format = read.read_format;
  bool group = (format & abi::kFormatGroup) != 0;
  auto put_times = [&] {
    if ((format & abi::kFormatTotalTimeEnabled) != 0) out.u64(read.time_enabled);
    if ((format & abi::kFormatTotalTimeRunning) != 0) out.u64(read.time_running);
  };
  auto put_details = [&](const ReadValue& value) {
    if ((format & abi::kFormatId) != 0) out.u64(value.id);
    if ((format & abi::kFormatLost) != 0) out.u64(value.lost);
  };
  if (!group) {
    ReadValue value = read.count > 0 ? read.at(0) : ReadValue{};
    out.u64(value.value);
    put_times();
    put_details(value);
    return;
  }
  out.u64(read.count);
  put_times();
  for (size_t i = 0; i < read.count; ++i) {
    ReadValue value = read.at(i);
    out.u64(value.value);
    put_details(value);
  }
}

void put_regs(const SampleRegs& regs, uint64_t mask, ByteBuilder& out) {
  out.u64(regs.abi);
  if (regs.abi == abi::kRegsAbiNone) return;
  auto count = static_cast<size_t>(std::popcount(mask));
  for (size_t i = 0; i < count; ++i) out.u64(i < regs.words.size() ? regs.words[i] : 0);
}

void put_branches(const Sample& sample, const abi::EventAttr& attr, ByteBuilder& out) {
  size_t count = sample.branch_count();
  out.u64(count);
  if ((attr.branch_sample_type & abi::kBranchHwIndex) != 0) out.u64(sample.branch_hw_index);
  for (size_t i = 0; i < count * 3; ++i) out.u64(sample.branches[i]);
  if ((attr.branch_sample_type & abi::kBranchCounters) == 0) return;
  for (size_t i = 0; i < count; ++i)
    out.u64(i < sample.branch_counters.size() ? sample.branch_counters[i] : 0);
}

void put_user_stack(Bytes stack, ChainCut cut, ByteBuilder& out) {
  if (cut != ChainCut::kNone) {  // see unwound_sample.h
    out.u64(sizeof(uint64_t));
    out.u64(static_cast<uint64_t>(cut));
    out.u64(0);
    return;
  }
  size_t stored = (stack.size() + 7) / 8 * 8;
  out.u64(stored);
  if (stored == 0) return;
  out.bytes(stack);
  out.zeros(stored - stack.size());
  out.u64(stack.size());
}

}  // namespace

void put_words(WordView words, ByteBuilder& out) {
  for (size_t i = 0; i < words.size(); ++i) out.u64(words[i]);
}

void encode_trailing_id(const SampleId& id, const abi::EventAttr& attr, ByteBuilder& out) {
  if (!attr.sample_id_all) return;
  if (attr.samples(abi::kSampleTid)) {
    out.u32(id.pid);
    out.u32(id.tid);
  }
  if (attr.samples(abi::kSampleTime)) out.u64(id.time);
  if (attr.samples(abi::kSampleId)) out.u64(id.id);
  if (attr.samples(abi::kSampleStreamId)) out.u64(id.stream_id);
  if (attr.samples(abi::kSampleCpu)) {
    out.u32(id.cpu);
    out.u32(0);
  }
  if (attr.samples(abi::kSampleIdentifier)) out.u64(id.id);
}

bool encode(const MmapRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  uint16_t misc = record.misc | frame.misc;
  if (!record.build_id.empty()) misc |= abi::kMiscMmapBuildId;
  OpenRecord open(record.is_v2 ? abi::kRecordMmap2 : abi::kRecordMmap, misc, out);
  out.u32(record.pid);
  out.u32(record.tid);
  out.u64(record.start.value);
  out.u64(record.length);
  out.u64(record.offset.value);
  if (record.is_v2) {
    if (!record.build_id.empty()) {
      constexpr size_t kRoom = 20;
      Bytes id = record.build_id.first(std::min(record.build_id.size(), kRoom));
      out.u8(static_cast<uint8_t>(id.size()));
      out.zeros(3);
      out.bytes(id);
      out.zeros(kRoom - id.size());
    } else {
      out.u32(record.major);
      out.u32(record.minor);
      out.u64(record.inode);
      out.u64(record.inode_generation);
    }
    out.u32(record.protection);
    out.u32(record.flags);
  }
  out.padded_string(record.path, 8);
  return open.close(frame);
}

bool encode(const CommRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  uint16_t misc = frame.misc;
  if (record.exec) misc |= abi::kMiscCommExec;
  OpenRecord open(abi::kRecordComm, misc, out);
  out.u32(record.pid);
  out.u32(record.tid);
  out.padded_string(record.comm, 8);
  return open.close(frame);
}

bool encode(const TaskRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(frame.type != 0 ? frame.type : abi::kRecordFork, frame, out, record.pid,
                        record.ppid, record.tid, record.ptid, record.time);
}

bool encode(const LostRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(abi::kRecordLost, frame, out, record.id, record.lost);
}

bool encode(const LostSamplesRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(abi::kRecordLostSamples, frame, out, record.lost);
}

bool encode(const ThrottleRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(frame.type != 0 ? frame.type : abi::kRecordThrottle, frame, out,
                        record.time, record.id, record.stream_id);
}

bool encode(const SwitchRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  uint16_t misc = frame.misc;
  if (record.out) misc |= abi::kMiscSwitchOut;
  if (record.preempt) misc |= abi::kMiscSwitchOutPreempt;
  OpenRecord open(record.cpu_wide ? abi::kRecordSwitchCpuWide : abi::kRecordSwitch, misc, out);
  if (record.cpu_wide) {
    out.u32(record.other_pid);
    out.u32(record.other_tid);
  }
  return open.close(frame);
}

bool encode(const NamespacesRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  OpenRecord open(abi::kRecordNamespaces, frame.misc, out);
  out.u32(record.pid);
  out.u32(record.tid);
  out.u64(record.count);
  put_words(record.links, out);
  return open.close(frame);
}

bool encode(const KsymbolRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  OpenRecord open(abi::kRecordKsymbol, frame.misc, out);
  out.u64(record.address.value);
  out.u32(record.length);
  out.u16(record.ksym_type);
  out.u16(record.flags);
  out.padded_string(record.name, 8);
  return open.close(frame);
}

bool encode(const BpfEventRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  constexpr size_t kTagSize = 8;
  OpenRecord open(abi::kRecordBpfEvent, frame.misc, out);
  out.u16(record.event_type);
  out.u16(record.flags);
  out.u32(record.id);
  Bytes tag = record.tag.first(std::min(record.tag.size(), kTagSize));
  out.bytes(tag);
  out.zeros(kTagSize - tag.size());
  return open.close(frame);
}

bool encode(const CgroupRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  OpenRecord open(abi::kRecordCgroup, frame.misc, out);
  out.u64(record.id);
  out.padded_string(record.path, 8);
  return open.close(frame);
}

bool encode(const TextPokeRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  if (record.old_bytes.size() > UINT16_MAX || record.new_bytes.size() > UINT16_MAX) return false;
  size_t start = out.size();
  OpenRecord open(abi::kRecordTextPoke, frame.misc, out);
  out.u64(record.address.value);
  out.u16(static_cast<uint16_t>(record.old_bytes.size()));
  out.u16(static_cast<uint16_t>(record.new_bytes.size()));
  out.bytes(record.old_bytes);
  out.bytes(record.new_bytes);
  pad_to_eight(start, out);
  return open.close(frame);
}

bool encode(const AuxRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(abi::kRecordAux, frame, out, record.offset, record.size, record.flags);
}

bool encode(const ItraceStartRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(abi::kRecordItraceStart, frame, out, record.pid, record.tid);
}

bool encode(const AuxOutputHwIdRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  return encode_numbers(abi::kRecordAuxOutputHwId, frame, out, record.hw_id);
}

bool encode(const CallchainDeferredRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  OpenRecord open(abi::kRecordCallchainDeferred, frame.misc, out);
  out.u64(record.cookie);
  out.u64(record.ips.size());
  put_words(record.ips, out);
  return open.close(frame);
}

bool encode(const ReadRecord& record, const RecordFrame& frame, ByteBuilder& out) {
  OpenRecord open(abi::kRecordRead, frame.misc, out);
  out.u32(record.pid);
  out.u32(record.tid);
  put_read(record.read, out);
  return open.close(frame);
}

bool encode_sample(const Sample& sample, const abi::EventAttr& attr, ByteBuilder& out) {
  auto has = [&](uint64_t bit) { return attr.samples(bit); };
  OpenRecord open(abi::kRecordSample, sample.misc, out);
  if (has(abi::kSampleIdentifier)) out.u64(sample.id.id);
  if (has(abi::kSampleIp)) out.u64(sample.ip);
  if (has(abi::kSampleTid)) {
    out.u32(sample.id.pid);
    out.u32(sample.id.tid);
  }
  if (has(abi::kSampleTime)) out.u64(sample.id.time);
  if (has(abi::kSampleAddr)) out.u64(sample.addr);
  if (has(abi::kSampleId)) out.u64(sample.id.id);
  if (has(abi::kSampleStreamId)) out.u64(sample.id.stream_id);
  if (has(abi::kSampleCpu)) {
    out.u32(sample.id.cpu);
    out.u32(0);
  }
  if (has(abi::kSamplePeriod)) out.u64(sample.period);
  if (has(abi::kSampleRead)) {
    ReadBlock read = sample.read;
    read.read_format = attr.read_format;
    put_read(read, out);
  }
  if (has(abi::kSampleCallchain)) {
    out.u64(sample.callchain.size());
    put_words(sample.callchain, out);
  }
  if (has(abi::kSampleRaw)) {
    out.u32(static_cast<uint32_t>(sample.raw.size()));
    out.bytes(sample.raw);
  }
  if (has(abi::kSampleBranchStack)) put_branches(sample, attr, out);
  if (has(abi::kSampleRegsUser)) put_regs(sample.regs_user, attr.sample_regs_user, out);
  if (has(abi::kSampleStackUser)) put_user_stack(sample.stack_user, sample.chain_cut, out);
  // The struct's members are ordered so that the 64-bit value is the same in both byte orders.
  if (has(abi::kSampleWeight))
    out.u64(sample.weight);
  else if (has(abi::kSampleWeightStruct))
    out.u64((sample.weight & UINT32_MAX) | uint64_t{sample.ins_latency} << 32 |
            uint64_t{sample.p_stage_cycles} << 48);
  if (has(abi::kSampleDataSrc)) out.u64(sample.data_src);
  if (has(abi::kSampleTransaction)) out.u64(sample.transaction);
  if (has(abi::kSampleRegsIntr)) put_regs(sample.regs_intr, attr.sample_regs_intr, out);
  if (has(abi::kSamplePhysAddr)) out.u64(sample.phys_addr);
  if (has(abi::kSampleCgroup)) out.u64(sample.cgroup);
  if (has(abi::kSampleDataPageSize)) out.u64(sample.data_page_size);
  if (has(abi::kSampleCodePageSize)) out.u64(sample.code_page_size);
  if (has(abi::kSampleAux)) {
    out.u64(sample.aux.size());
    out.bytes(sample.aux);
  }
  return open.close();
}

bool encode_raw(uint32_t type, uint16_t misc, Bytes payload, ByteBuilder& out) {
  if (payload.size() + sizeof(abi::RecordHeader) > kMaxRecordSize) return false;
  OpenRecord open(type, misc, out);
  out.bytes(payload);
  return open.close();
}

}  // namespace sonde
