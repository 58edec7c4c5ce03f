// ChainJoiner: puts the user chains that the BPF stack walker wrote into the samples that they
// belong to.
//
// The walker writes a chain through its CPU's carrier, an event of our own in the same ring,
// right before the kernel writes the sample. An interrupt may sample in between, with both of its
// records:
//
//   chain A   chain B   sample B   sample A
//
// So the last chain that has no sample yet belongs to the next sample of a walked event. When the
// ring had no room for one of the two, the kernel says so before anything else gets in, and what
// was left waits for nothing. A sample whose stack the walker copied gets the copy instead, as if
// the kernel had taken it (unwound_sample.h). Carriers appear in no file: their records are taken
// out here.
//
//   ChainJoiner joiner(events, walked);   joiner.add_ring(cpu, carrier_id);
//   Bytes records = joiner.join(cpu, piece.first, piece.second);      valid until the next call
//
// Different rings may be joined at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "bpf/unwinding/stack_walker.h"
#include "capture/unwinding/interpreters/interpreted_functions.h"
#include "perfdata/header/event_table.h"

namespace sonde {

/// Orders objects, to keep them in maps.
struct ObjectOrder {
  bool operator()(const walk_object_key& a, const walk_object_key& b) const {
    return std::tie(a.inode, a.bytes, a.device, a.is_generated) <
           std::tie(b.inode, b.bytes, b.device, b.is_generated);
  }
};

/// How the chains of a recording ended (walk_end), and in which object.
struct ChainEnds {
  using ByReason = std::array<uint64_t, WALK_ENDS>;
  ByReason by_reason{};
  std::map<walk_object_key, ByReason, ObjectOrder> unfinished;
  uint64_t copied = 0;   // samples that got a stack copy
  uint64_t missing = 0;  // samples of user tasks that got nothing

  void add(uint32_t end, const walk_object_key& object, uint64_t count = 1);
  void add(const ChainEnds& other);
  [[nodiscard]] uint64_t all() const;
};

/// How a chain that ended so is marked in its sample.
[[nodiscard]] ChainCut chain_cut_of(uint32_t end);

class ChainJoiner {
 public:
  struct Walked {
    bool is_walked = false;        // the walker is attached to this event
    bool keeps_registers = false;  // they are sampled for their own sake, too
    bool keeps_copies = false;     // and so are the stacks
  };
  /// `events` are those of the file, all with PERF_SAMPLE_IDENTIFIER; those walked have
  /// PERF_SAMPLE_CALLCHAIN, REGS_USER and STACK_USER. `walked` is in the same order.
  ChainJoiner(const std::vector<EventDesc>& events, std::vector<Walked> walked);
  /// From now on frames of interpreters are given their places.
  void set_interpreted(InterpretedFunctions* functions) { interpreted_ = functions; }
  /// `layout` is that of the carrier's records.
  void add_ring(int cpu, uint64_t carrier_id, const SampleLayout& layout);

  Bytes join(int cpu, Bytes first, Bytes rest);
  [[nodiscard]] ChainEnds ends() const;

 private:
  struct Chain {
    uint32_t tid = 0;
    uint32_t end = 0;
    walk_object_key object{};
    std::vector<uint64_t> addresses;
    std::vector<std::byte> stack;  // instead of addresses
  };
  struct Ring {
    uint64_t carrier_id = 0;
    SampleLayout layout;
    std::vector<Chain> waiting;
    std::vector<std::byte> whole, joined;
    ChainEnds ends;
  };
  void record(Ring& ring, const RecordView& record);
  void chain(Ring& ring, const RecordView& record);
  bool sample(Ring& ring, const RecordView& record);
  bool join_copy(Ring& ring, const RecordView& record, const Sample& sample, Bytes stack);
  void lost(Ring& ring, const RecordView& record);

  EventTable events_;
  std::vector<Walked> walked_;
  InterpretedFunctions* interpreted_ = nullptr;
  std::map<int, Ring> rings_;  // by CPU
};

}  // namespace sonde
