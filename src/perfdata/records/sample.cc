#include "perfdata/records/sample.h"

#include <bit>

#include "perfdata/records/attr_codec.h"

namespace sonde {
namespace {

using abi::EventAttr;

constexpr uint64_t kHeadBits = abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTid |
                               abi::kSampleTime | abi::kSampleAddr | abi::kSampleId |
                               abi::kSampleStreamId | abi::kSampleCpu | abi::kSamplePeriod;

template <typename T, bool kSwap>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return kSwap ? std::byteswap(value) : value;
}

/// Lays out consecutive fields of eight bytes.
class Placer {
 public:
  explicit Placer(uint64_t sample_type) : sample_type_(sample_type) {}
  bool place(uint64_t bit, uint8_t& offset) {
    if ((sample_type_ & bit) == 0) return false;
    offset = size_;
    size_ = static_cast<uint8_t>(size_ + 8);
    return true;
  }
  void skip(uint64_t bit) {
    uint8_t ignored;
    place(bit, ignored);
  }
  [[nodiscard]] uint8_t size() const { return size_; }

 private:
  uint64_t sample_type_;
  uint8_t size_ = 0;
};

size_t words_per_value(uint64_t read_format) {
  return 1u + ((read_format & abi::kFormatId) != 0) + ((read_format & abi::kFormatLost) != 0);
}

}  // namespace

SampleLayout::SampleLayout(const EventAttr& attr) : attr_(attr) {
  uint64_t type = attr.sample_type;
  Placer head(type);
  uint8_t identifier = IdOffsets::kNowhere;
  head.place(abi::kSampleIdentifier, identifier);
  head.skip(abi::kSampleIp);
  head.place(abi::kSampleTid, head_.tid);
  head.place(abi::kSampleTime, head_.time);
  head.skip(abi::kSampleAddr);
  head.place(abi::kSampleId, head_.id);
  head.place(abi::kSampleStreamId, head_.stream_id);
  head.place(abi::kSampleCpu, head_.cpu);
  head.skip(abi::kSamplePeriod);
  head_.size = head.size();
  if (identifier != IdOffsets::kNowhere) head_.id = identifier;
  if (head_.id != IdOffsets::kNowhere) id_in_sample_ = head_.id;

  if (attr.sample_id_all) {
    Placer tail(type);
    tail.place(abi::kSampleTid, tail_.tid);
    tail.place(abi::kSampleTime, tail_.time);
    tail.place(abi::kSampleId, tail_.id);
    tail.place(abi::kSampleStreamId, tail_.stream_id);
    tail.place(abi::kSampleCpu, tail_.cpu);
    tail.place(abi::kSampleIdentifier, tail_.id);
    tail_.size = tail.size();
    sample_id_size_ = tail.size();
    if (tail_.id != IdOffsets::kNowhere) id_from_end_ = sample_id_size_ - tail_.id;
  }

  user_regs_ = static_cast<uint8_t>(std::popcount(attr.sample_regs_user));
  intr_regs_ = static_cast<uint8_t>(std::popcount(attr.sample_regs_intr));
  constexpr uint64_t kVariableTail =
      abi::kSampleRegsUser | abi::kSampleStackUser | abi::kSampleRegsIntr | abi::kSampleAux;
  constexpr uint64_t kFixedTail = abi::kSampleDataSrc | abi::kSampleTransaction |
                                  abi::kSamplePhysAddr | abi::kSampleCgroup |
                                  abi::kSampleDataPageSize | abi::kSampleCodePageSize;
  has_fixed_tail_ = (type & kVariableTail) == 0;
  fixed_tail_size_ = 8u * (static_cast<uint32_t>(std::popcount(type & kFixedTail)) +
                           ((type & abi::kSampleWeightAny) != 0));
}

template <bool kSwap>
void SampleLayout::read_id(const std::byte* base, const IdOffsets& places, SampleId& id) {
  id = {};
  if (places.tid != IdOffsets::kNowhere) {
    id.pid = read<uint32_t, kSwap>(base + places.tid);
    id.tid = read<uint32_t, kSwap>(base + places.tid + 4);
  }
  if (places.time != IdOffsets::kNowhere) id.time = read<uint64_t, kSwap>(base + places.time);
  if (places.id != IdOffsets::kNowhere) id.id = read<uint64_t, kSwap>(base + places.id);
  if (places.stream_id != IdOffsets::kNowhere)
    id.stream_id = read<uint64_t, kSwap>(base + places.stream_id);
  if (places.cpu != IdOffsets::kNowhere) id.cpu = read<uint32_t, kSwap>(base + places.cpu);
}

bool decode_sample_id(const RecordView& record, const SampleLayout& layout, SampleId& id) {
  if (record.payload.size() < layout.head_.size) return false;
  if (record.order == kHostOrder)
    SampleLayout::read_id<false>(record.payload.data(), layout.head_, id);
  else
    SampleLayout::read_id<true>(record.payload.data(), layout.head_, id);
  return true;
}

SampleId decode_trailing_id(const RecordView& record, const SampleLayout& layout) {
  SampleId id;
  size_t size = layout.sample_id_size_;
  if (size == 0 || record.payload.size() < size || record.type >= abi::kRecordUserStart) return id;
  const std::byte* base = record.payload.data() + (record.payload.size() - size);
  if (record.order == kHostOrder)
    SampleLayout::read_id<false>(base, layout.tail_, id);
  else
    SampleLayout::read_id<true>(base, layout.tail_, id);
  return id;
}

/// Decodes a sample in one pass. Every step returns false if the record ends too early.
template <bool kSwap>
struct SampleDecoder {
  static constexpr ByteOrder kOrder =
      kSwap == (kHostOrder == ByteOrder::kBig) ? ByteOrder::kLittle : ByteOrder::kBig;

  const SampleLayout& layout;
  const EventAttr& attr;
  uint64_t type;
  const std::byte* at;
  const std::byte* end;

  SampleDecoder(const RecordView& record, const SampleLayout& sample_layout)
      : layout(sample_layout),
        attr(sample_layout.attr()),
        type(attr.sample_type),
        at(record.payload.data()),
        end(at + record.payload.size()) {}

  [[nodiscard]] size_t left() const { return static_cast<size_t>(end - at); }
  [[nodiscard]] bool has(uint64_t bit) const { return (type & bit) != 0; }
  uint64_t word() {
    uint64_t value = read<uint64_t, kSwap>(at);
    at += 8;
    return value;
  }
  /// A one-word field if the bit asks for it, else its default.
  bool field(uint64_t bit, uint64_t& value) {
    if (!has(bit)) {
      value = 0;
      return true;
    }
    if (left() < 8) return false;
    value = word();
    return true;
  }
  bool words(uint64_t count, WordView& view) {
    if (count > left() / 8) return false;
    view = WordView(Bytes(at, count * 8), kOrder);
    at += count * 8;
    return true;
  }
  bool bytes(uint64_t count, Bytes& view) {
    if (count > left()) return false;
    view = Bytes(at, count);
    at += count;
    return true;
  }

  bool head(Sample& s) {
    if (left() < layout.head_.size) return false;
    SampleLayout::read_id<kSwap>(at, layout.head_, s.id);
    const std::byte* start = at;
    if (has(abi::kSampleIdentifier)) at += 8;
    s.ip = has(abi::kSampleIp) ? word() : 0;
    at += (has(abi::kSampleTid) ? 8 : 0) + (has(abi::kSampleTime) ? 8 : 0);
    s.addr = has(abi::kSampleAddr) ? word() : 0;
    at = start + layout.head_.size;
    s.period = has(abi::kSamplePeriod) ? read<uint64_t, kSwap>(at - 8) : attr.sample_period;
    return true;
  }

  bool read_block(ReadBlock& block) {
    uint64_t format = attr.read_format;
    block = {};
    block.present = true;
    block.read_format = format;
    size_t times = ((format & abi::kFormatTotalTimeEnabled) != 0) +
                   ((format & abi::kFormatTotalTimeRunning) != 0);
    if (left() < 8 * (1 + times)) return false;
    size_t stride = words_per_value(format);
    if ((format & abi::kFormatGroup) != 0) {
      block.count = word();
      read_times(format, block);
      if (block.count > left() / (8 * stride)) return false;
      return words(block.count * stride, block.values);
    }
    // Without GROUP the times are between the value and its id; the view starts at the value and
    // `at` knows where the rest is.
    block.count = 1;
    const std::byte* start = at;
    at += 8;
    read_times(format, block);
    if (left() < 8 * (stride - 1)) return false;
    at += 8 * (stride - 1);
    block.values = WordView(Bytes(start, at), kOrder);
    return true;
  }
  void read_times(uint64_t format, ReadBlock& block) {
    if ((format & abi::kFormatTotalTimeEnabled) != 0) block.time_enabled = word();
    if ((format & abi::kFormatTotalTimeRunning) != 0) block.time_running = word();
  }

  bool callchain(WordView& chain) {
    if (left() < 8) return false;
    return words(word(), chain);
  }

  bool raw(Bytes& data) {
    if (left() < 4) return false;
    uint32_t size = read<uint32_t, kSwap>(at);
    at += 4;
    return bytes(size, data);
  }

  bool branches(Sample& s) {
    if (left() < 8) return false;
    uint64_t count = word();
    s.has_branches = true;
    bool hw_index = (attr.branch_sample_type & abi::kBranchHwIndex) != 0;
    // The kernel omits the index if it has no branch stack at all for this sample.
    if (hw_index && count == 0 && layout.has_fixed_tail_ && left() == layout.fixed_tail_size_)
      hw_index = false;
    if (hw_index) {
      if (left() < 8) return false;
      s.branch_hw_index = word();
    }
    if (count > left() / sizeof(abi::BranchEntry)) return false;
    if (!words(count * 3, s.branches)) return false;
    if ((attr.branch_sample_type & abi::kBranchCounters) == 0) return true;
    return words(count, s.branch_counters);
  }

  bool regs(uint64_t mask, uint8_t count, SampleRegs& regs) {
    if (left() < 8) return false;
    regs.abi = word();
    if (regs.abi == abi::kRegsAbiNone) return words(0, regs.words);
    regs.mask = mask;
    return words(count, regs.words);
  }

  bool stack(Sample& s) {
    if (left() < 8) return false;
    uint64_t size = word();
    if (size == 0) return true;
    if (!bytes(size, s.stack_user) || left() < 8) return false;
    uint64_t dynamic_size = word();
    if (dynamic_size == 0 && size == 8 && attr.sample_stack_user != size) {
      uint64_t cut = read<uint64_t, kSwap>(s.stack_user.data());
      if (cut < kChainCuts) s.chain_cut = static_cast<ChainCut>(cut);
    }
    if (dynamic_size < size) s.stack_user = s.stack_user.first(dynamic_size);
    return true;
  }

  bool weight(Sample& s) {
    s.weight = 0;
    s.ins_latency = s.p_stage_cycles = 0;
    if (!has(abi::kSampleWeightAny)) return true;
    if (left() < 8) return false;
    uint64_t value = word();
    if (has(abi::kSampleWeight)) {
      s.weight = value;
    } else {
      s.weight = static_cast<uint32_t>(value);
      s.ins_latency = static_cast<uint16_t>(value >> 32);
      s.p_stage_cycles = static_cast<uint16_t>(value >> 48);
    }
    return true;
  }

  bool aux(Bytes& view) {
    if (left() < 8) return false;
    return bytes(word(), view);
  }

  /// Everything from READ to the user stack: the parts of variable size.
  bool variable(Sample& s) {
    if (has(abi::kSampleRead)) {
      if (!read_block(s.read)) return false;
    } else {
      s.read.present = false;
    }
    s.callchain = {};
    if (has(abi::kSampleCallchain) && !callchain(s.callchain)) return false;
    s.raw = {};
    if (has(abi::kSampleRaw) && !raw(s.raw)) return false;
    s.has_branches = false;
    s.branch_hw_index = 0;
    s.branches = s.branch_counters = {};
    if (has(abi::kSampleBranchStack) && !branches(s)) return false;
    s.regs_user = s.regs_intr = {};
    if (has(abi::kSampleRegsUser) && !regs(attr.sample_regs_user, layout.user_regs_, s.regs_user))
      return false;
    s.stack_user = {};
    s.chain_cut = ChainCut::kNone;
    return !has(abi::kSampleStackUser) || stack(s);
  }

  bool rest(Sample& s) {
    if (!weight(s) || !field(abi::kSampleDataSrc, s.data_src) ||
        !field(abi::kSampleTransaction, s.transaction))
      return false;
    if (has(abi::kSampleRegsIntr) && !regs(attr.sample_regs_intr, layout.intr_regs_, s.regs_intr))
      return false;
    if (!field(abi::kSamplePhysAddr, s.phys_addr) || !field(abi::kSampleCgroup, s.cgroup) ||
        !field(abi::kSampleDataPageSize, s.data_page_size) ||
        !field(abi::kSampleCodePageSize, s.code_page_size))
      return false;
    s.aux = {};
    return !has(abi::kSampleAux) || aux(s.aux);
  }

  bool decode(Sample& s) {
    if (!head(s)) return false;
    if ((type & ~(kHeadBits | abi::kSampleCallchain)) == 0) [[likely]] {
      clear_rest(s);
      return !has(abi::kSampleCallchain) || callchain(s.callchain);
    }
    return variable(s) && rest(s);
  }
  bool decode_for_sums(Sample& s) {
    if (!head(s)) return false;
    if ((type & ~(kHeadBits | abi::kSampleCallchain)) != 0) [[unlikely]]
      return variable(s) && rest(s);
    s.weight = 0;
    WordView chain;
    return !has(abi::kSampleCallchain) || callchain(chain);
  }
  static void clear_rest(Sample& s) {
    s.weight = s.data_src = s.transaction = s.phys_addr = s.cgroup = 0;
    s.data_page_size = s.code_page_size = s.branch_hw_index = 0;
    s.ins_latency = s.p_stage_cycles = 0;
    s.read.present = s.has_branches = false;
    s.callchain = s.branches = s.branch_counters = {};
    s.raw = s.stack_user = s.aux = {};
    s.chain_cut = ChainCut::kNone;
    s.regs_user = s.regs_intr = {};
  }
};

bool decode_sample(const RecordView& record, const SampleLayout& layout, Sample& sample) {
  sample.misc = record.misc;
  sample.cpu_mode = record.cpu_mode();
  sample.order = record.order;
  if (record.order == kHostOrder) return SampleDecoder<false>(record, layout).decode(sample);
  return SampleDecoder<true>(record, layout).decode(sample);
}

bool decode_sample_for_sums(const RecordView& record, const SampleLayout& layout, Sample& sample) {
  sample.cpu_mode = record.cpu_mode();
  if (record.order == kHostOrder)
    return SampleDecoder<false>(record, layout).decode_for_sums(sample);
  return SampleDecoder<true>(record, layout).decode_for_sums(sample);
}

bool decode_read_block(Bytes bytes, ByteOrder order, const SampleLayout& layout, ReadBlock& block) {
  RecordView record;
  record.payload = bytes;
  if (order == kHostOrder) return SampleDecoder<false>(record, layout).read_block(block);
  return SampleDecoder<true>(record, layout).read_block(block);
}

ReadValue ReadBlock::at(size_t i) const {
  size_t stride = words_per_value(read_format);
  // Without GROUP: value, the times that were requested, then id and lost.
  bool group = (read_format & abi::kFormatGroup) != 0;
  size_t next = i * stride;
  ReadValue item;
  item.value = values[next++];
  if (!group) next = values.size() - (stride - 1);
  if ((read_format & abi::kFormatId) != 0) item.id = values[next++];
  if ((read_format & abi::kFormatLost) != 0) item.lost = values[next];
  return item;
}

std::optional<uint64_t> SampleRegs::get(uint32_t reg) const {
  if (reg >= 64 || ((mask >> reg) & 1) == 0) return std::nullopt;
  uint64_t below = mask & ((uint64_t{1} << reg) - 1);
  return words[static_cast<size_t>(std::popcount(below))];
}

abi::BranchEntry Sample::branch(size_t i) const {
  constexpr uint8_t kWidths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
  uint64_t flags = branches[i * 3 + 2];
  if (order == ByteOrder::kBig) flags = mirror_bit_fields(flags, kWidths, true);
  return {branches[i * 3], branches[i * 3 + 1], flags};
}

}  // namespace sonde
