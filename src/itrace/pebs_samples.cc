#include "itrace/pebs_samples.h"

#include <algorithm>
#include <array>
#include <bit>

#include "abi/data_source.h"

namespace sonde::itrace {
namespace {

using pt::BlockItems;
using pt::BlockType;

/// The item of a block of registers that has a register of perf's numbering
/// (asm/perf_regs.h); -1: none has.
constexpr std::array<int8_t, 24> kItemOfRegister = {2,  5,  3,  4,  8,  9,  7,  6,  1,  0,  -1, -1,
                                                    -1, -1, -1, -1, 10, 11, 12, 13, 14, 15, 16, 17};
/// PERF_REG_X86_XMM0: each of these is half of an XMM register, as the items are.
constexpr unsigned kFirstXmm = 32;

constexpr uint64_t kWrittenRegisters = [] {
  uint64_t mask = ~uint64_t{0} << kFirstXmm;
  for (size_t i = 0; i < kItemOfRegister.size(); ++i)
    if (kItemOfRegister[i] >= 0) mask |= uint64_t{1} << i;
  return mask;
}();

std::optional<uint64_t> register_of(const BlockItems& items, unsigned number) {
  if (number >= kFirstXmm) return items.get(BlockType::kXmm, number - kFirstXmm);
  if (number >= kItemOfRegister.size() || kItemOfRegister[number] < 0) return std::nullopt;
  return items.get(BlockType::kRegisters, static_cast<size_t>(kItemOfRegister[number]));
}

/// From IA32_LBR_x_INFO (SDM, volume 4) to the flags of a branch stack's entry.
uint64_t flags_of_branch(uint64_t info) {
  constexpr uint64_t kPredicted = 2, kInTransaction = 4, kAborted = 8;
  constexpr unsigned kCyclesShift = 4;
  uint64_t flags = (info & 0xffff) << kCyclesShift;
  flags |= (info >> 63 & 1) != 0 ? 1 : kPredicted;
  if ((info >> 62 & 1) != 0) flags |= kInTransaction;
  if ((info >> 61 & 1) != 0) flags |= kAborted;
  return flags;
}

/// Processors that tell how long an instruction took have that in the lower half, and how long the
/// cache took in the upper one.
void put_latency(uint64_t latency, Sample& sample) {
  constexpr uint64_t kOne = 0xffff;
  if (latency >> 32 == 0) {
    sample.weight = latency;
    return;
  }
  sample.weight = latency >> 32 & kOne;
  sample.ins_latency = static_cast<uint16_t>(latency & kOne);
}

/// PERF_SAMPLE_TRANSACTION: the upper half of the record's field, and an RTM abort's code from EAX.
uint64_t transaction_of(uint64_t info, uint64_t rax) {
  constexpr uint64_t kTransaction = 2;  // PERF_TXN_TRANSACTION
  constexpr unsigned kAbortShift = 32;  // PERF_TXN_ABORT_SHIFT
  uint64_t transaction = info >> 32 & 0xff;
  if ((transaction & kTransaction) != 0 && (rax & 1) != 0)
    transaction |= (rax >> 24 & 0xff) << kAbortShift;
  return transaction;
}

}  // namespace

void prepare_pebs_events(EventTable& events, const TraceInput& input) {
  for (size_t i = 0; i < events.size(); ++i) {
    EventDesc& event = events.edit(EventId(i));
    const auto& sampled = input.sampled_aux_output;
    if (event.attr.aux_output == 0 || std::ranges::find(sampled, EventId(i)) != sampled.end())
      continue;
    event.attr.sample_regs_intr &= kWrittenRegisters;
    event.layout = SampleLayout(event.attr);
  }
}

PebsOrigins::PebsOrigins(const EventTable& events, const TraceInput& input,
                         const TraceQueue& queue) {
  for (size_t i = 0; i < events.size(); ++i) {
    const EventDesc& event = events.all()[i];
    if (event.attr.aux_output == 0 || event.ids.empty()) continue;
    are_several_ = only_.event.valid();
    if (are_several_) break;
    only_ = {EventId(i), event.ids.front()};
  }
  if (are_several_) only_ = {};
  told_.resize(kCounters);
  for (const AuxOutputId& one : input.aux_output_ids) {
    bool is_here = queue.cpu == UINT32_MAX ? one.tid == queue.tid : one.cpu == queue.cpu;
    if (is_here && one.counter < kCounters)
      told_[one.counter].push_back({one.time_ns, {one.event, one.id}});
  }
  for (std::vector<Told>& of_counter : told_)
    std::ranges::stable_sort(of_counter, {}, &Told::time_ns);
}

PebsOrigins::Origin PebsOrigins::of_counter(int counter, uint64_t time_ns) const {
  const std::vector<Told>& told = told_[static_cast<size_t>(counter)];
  auto next = std::ranges::upper_bound(told, time_ns, {}, &Told::time_ns);
  return next == told.begin() ? only_ : std::prev(next)->origin;
}

uint64_t PebsOrigins::find(const BlockItems& items, uint64_t time_ns,
                           std::vector<Origin>& found) const {
  found.clear();
  uint64_t counters = items.get(BlockType::kBasic, BlockItems::kCounters).value_or(0);
  if (!are_several_) {
    found.push_back(counters == 0 ? only_ : of_counter(std::countr_zero(counters), time_ns));
    return 0;
  }
  if (counters == 0) return 1;
  uint64_t unknown = 0;
  for (; counters != 0; counters &= counters - 1) {
    Origin origin = of_counter(std::countr_zero(counters), time_ns);
    if (origin.event.valid())
      found.push_back(origin);
    else
      ++unknown;
  }
  return unknown;
}

void PebsFields::put(const BlockItems& items, const abi::EventAttr& attr, Sample& sample) {
  constexpr uint64_t kNoLevelNumber = uint64_t{0xf} << 33;  // PERF_MEM_LVLNUM_NA
  sample.data_src = abi::kNoDataSource | kNoLevelNumber;
  if (attr.samples(abi::kSampleRegsIntr)) put_registers(items, attr.sample_regs_intr, sample);
  if (attr.samples(abi::kSampleBranchStack)) put_branches(items, sample);
  if (auto address = items.get(BlockType::kMemory, BlockItems::kAddress)) sample.addr = *address;
  if (auto latency = items.get(BlockType::kMemory, BlockItems::kLatency))
    put_latency(*latency, sample);
  auto transaction = items.get(BlockType::kMemory, BlockItems::kTransaction);
  if (!transaction) return;
  // In its lower half are the cycles since the transaction began.
  if (sample.weight == 0) sample.weight = static_cast<uint32_t>(*transaction);
  uint64_t rax = items.get(BlockType::kRegisters, BlockItems::kRax).value_or(0);
  sample.transaction = transaction_of(*transaction, rax);
}

void PebsFields::put_registers(const BlockItems& items, uint64_t mask, Sample& sample) {
  registers_.clear();
  for (uint64_t left = mask; left != 0; left &= left - 1) {
    auto value = register_of(items, static_cast<unsigned>(std::countr_zero(left)));
    if (!value) return;
    registers_.push_back(*value);
  }
  sample.regs_intr.abi = items.is_32_bit() ? abi::kRegsAbi32 : abi::kRegsAbi64;
  sample.regs_intr.mask = mask;
  sample.regs_intr.words = WordView(std::as_bytes(std::span(registers_)), kHostOrder);
}

void PebsFields::put_branches(const BlockItems& items, Sample& sample) {
  constexpr uint32_t kWhole = 7;
  constexpr size_t kEntry = 3, kTo = 1, kInfo = 2;
  branches_.clear();
  for (BlockType type :
       {BlockType::kBranches, BlockType::kMoreBranches, BlockType::kMostBranches}) {
    auto values = items.all(type);
    uint32_t present = items.present(type);
    for (size_t at = 0; present != 0; present >>= kEntry, at += kEntry) {
      if ((present & kWhole) != kWhole) continue;
      branches_.insert(branches_.end(),
                       {values[at], values[at + kTo], flags_of_branch(values[at + kInfo])});
    }
  }
  if (branches_.empty()) return;
  sample.has_branches = true;
  sample.branch_hw_index = UINT64_MAX;  // not known
  sample.branches = WordView(std::as_bytes(std::span(branches_)), kHostOrder);
}

}  // namespace sonde::itrace
