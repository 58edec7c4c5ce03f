// Decodes samples and the id blocks of other records, by a layout that is computed once per event.
//
// An event's attr determines what a sample contains, and where. `SampleLayout` computes that once;
// `decode_sample` then reads a record in one pass without allocation: variable parts (call chain,
// raw data, branches, registers, stack) remain views into the record.
#pragma once

#include <optional>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "perfdata/records/record.h"

namespace sonde {

using EventId = Id<struct EventTag>;  // index into EventTable

/// Who, when, where: the fields that sample_id_all appends to every record and that samples begin
/// with. Fields that the event did not ask for keep their defaults.
struct SampleId {
  uint32_t pid = UINT32_MAX;   // process
  uint32_t tid = UINT32_MAX;   // thread
  uint64_t time = UINT64_MAX;  // ns of the recording's clock; UINT64_MAX if not recorded
  uint64_t id = 0;
  uint64_t stream_id = 0;
  uint32_t cpu = UINT32_MAX;

  [[nodiscard]] bool has_time() const { return time != UINT64_MAX; }
  [[nodiscard]] bool has_cpu() const { return cpu != UINT32_MAX; }
};

/// 64-bit words of a record, in the record's byte order.
class WordView {
 public:
  WordView() = default;
  WordView(Bytes bytes, ByteOrder order) : bytes_(bytes), order_(order) {}
  [[nodiscard]] size_t size() const { return bytes_.size() / 8; }
  [[nodiscard]] bool empty() const { return bytes_.size() < 8; }
  uint64_t operator[](size_t i) const { return load<uint64_t>(bytes_.data() + i * 8, order_); }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// The words after the first `count`, which must be there.
  [[nodiscard]] WordView without_first(size_t count) const {
    return {bytes_.subspan(count * 8), order_};
  }

 private:
  Bytes bytes_;
  ByteOrder order_ = kHostOrder;
};

/// Why a recorder that unwound the stack itself could not reach its end (unwound_sample.h).
enum class ChainCut : uint8_t {
  kNone,       // it is complete, or nobody unwound it
  kStackCopy,  // the next frame was beyond the copied part of the stack
  kBroken,     // no unwind rule, no mapping, or nonsense
  kLimit,      // the maximum number of frames was reached
  kRejoined,   // from there on it is the kernel's frame-pointer chain
};
inline constexpr size_t kChainCuts = 5;

/// A value of PERF_SAMPLE_READ or of a READ record.
struct ReadValue {
  uint64_t value = 0;
  uint64_t id = 0;
  uint64_t lost = 0;
};
/// The read_format block: values stay in the record and are read by index.
struct ReadBlock {
  bool present = false;
  uint64_t read_format = 0;
  uint64_t time_enabled = 0;
  uint64_t time_running = 0;
  uint64_t count = 0;  // number of values: 1 without PERF_FORMAT_GROUP
  WordView values;     // value[, id][, lost] per item
  [[nodiscard]] ReadValue at(size_t i) const;
};

/// Registers of PERF_SAMPLE_REGS_*: one word per set bit of the attr's mask, lowest bit first.
struct SampleRegs {
  uint64_t abi = abi::kRegsAbiNone;
  uint64_t mask = 0;
  WordView words;
  /// The value of register number `reg` (perf_regs numbering of the architecture), if it was
  /// sampled.
  [[nodiscard]] std::optional<uint64_t> get(uint32_t reg) const;
};

struct Sample {
  SampleId id;
  uint16_t cpu_mode = 0;  // of the record's misc
  uint16_t misc = 0;
  uint64_t ip = 0;
  uint64_t addr = 0;
  uint64_t period = 1;          // the attr's fixed period if samples do not carry one
  uint64_t weight = 0;          // weight, or the low 32 bits (var1) of weight_struct
  uint16_t ins_latency = 0;     // var2
  uint16_t p_stage_cycles = 0;  // var3
  uint64_t data_src = 0;
  uint64_t transaction = 0;
  uint64_t phys_addr = 0;
  uint64_t cgroup = 0;
  uint64_t data_page_size = 0;
  uint64_t code_page_size = 0;
  ReadBlock read;
  WordView callchain;  // as the kernel wrote it: ips and context markers, leaf first
  Bytes raw;           // tracepoint fields, bpf-output …
  bool has_branches = false;
  uint64_t branch_hw_index = 0;
  WordView branches;  // from, to, flags per entry
  WordView branch_counters;
  SampleRegs regs_user;
  SampleRegs regs_intr;
  Bytes stack_user;  // cut to the dynamic size
  ChainCut chain_cut = ChainCut::kNone;
  Bytes aux;
  ByteOrder order = kHostOrder;

  [[nodiscard]] size_t branch_count() const { return branches.size() / 3; }
  /// The flags of big-endian recordings are converted to the layout that BranchEntry documents.
  [[nodiscard]] abi::BranchEntry branch(size_t i) const;
};

/// Where an event's records have their fields; computed once per attr.
class SampleLayout {
 public:
  SampleLayout() = default;
  explicit SampleLayout(const abi::EventAttr& attr);

  /// Byte offset of the id (IDENTIFIER or ID) in a sample's payload, if it has a fixed position.
  [[nodiscard]] std::optional<uint32_t> id_in_sample() const { return id_in_sample_; }
  /// Distance of the id from the end of a non-sample record's payload.
  [[nodiscard]] std::optional<uint32_t> id_from_end() const { return id_from_end_; }
  [[nodiscard]] uint32_t sample_id_size() const {
    return sample_id_size_;
  }  // of the id block of non-sample records
  [[nodiscard]] const abi::EventAttr& attr() const { return attr_; }

 private:
  friend bool decode_sample_id(const RecordView&, const SampleLayout&, SampleId&);
  friend SampleId decode_trailing_id(const RecordView&, const SampleLayout&);
  template <bool kSwap>
  friend struct SampleDecoder;

  /// The position of SampleId fields, in bytes from the start of the sample's payload or of the id
  /// block.
  struct IdOffsets {
    static constexpr uint8_t kNowhere = UINT8_MAX;
    uint8_t tid = kNowhere, time = kNowhere, id = kNowhere, stream_id = kNowhere, cpu = kNowhere;
    uint8_t size = 0;  // of the whole run of fixed fields
  };
  template <bool kSwap>
  static void read_id(const std::byte* base, const IdOffsets& places, SampleId& id);

  abi::EventAttr attr_;
  std::optional<uint32_t> id_in_sample_;
  std::optional<uint32_t> id_from_end_;
  uint32_t sample_id_size_ = 0;
  IdOffsets head_;                         // in samples; size covers IDENTIFIER … PERIOD
  IdOffsets tail_;                         // in the id block of non-sample records
  uint8_t user_regs_ = 0, intr_regs_ = 0;  // words per set of registers
  uint32_t fixed_tail_size_ = 0;           // of the fields after the branch stack, if fixed
  bool has_fixed_tail_ = false;
};

/// Returns false if the record is shorter than its layout demands; then `sample` must not be used
/// (loss: bad_record).
bool decode_sample(const RecordView& record, const SampleLayout& layout, Sample& sample);

/// The same, but sets only the fields of `sample` that sums need: the id block, the mode, ip, addr,
/// period and weight.
bool decode_sample_for_sums(const RecordView& record, const SampleLayout& layout, Sample& sample);

/// Decodes only who, when and where, which is all that ordering and filtering need. Cheaper than
/// decode_sample.
bool decode_sample_id(const RecordView& record, const SampleLayout& layout, SampleId& id);

/// Decodes a standalone read_format block (READ records); false if it is truncated.
bool decode_read_block(Bytes bytes, ByteOrder order, const SampleLayout& layout, ReadBlock& block);

/// The id block after a non-sample record of an event with sample_id_all; otherwise an empty
/// SampleId.
SampleId decode_trailing_id(const RecordView& record, const SampleLayout& layout);

}  // namespace sonde
