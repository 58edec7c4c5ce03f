// The records of an Arm SPE trace: what the processor noted of one sampled operation, in several
// packets (spe/packet.h).
//
//   SpeReader reader(trace);
//   for (SpeRecord record; reader.next(record);) ... record.ip ... record.events ...
//
// A record ends with an END or a TIMESTAMP packet. Bytes that are no packet, and a packet that is
// cut off at the end, are skipped and counted.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "spe/packet.h"

namespace sonde::itrace {

struct SpeRecord {
  enum class Operation : uint8_t { kOther, kLoad, kStore, kBranch };
  /// Bits of `events`.
  enum Event : uint32_t {
    kL1Access = 1u << 2,
    kL1Refill = 1u << 3,
    kTlbAccess = 1u << 4,
    kTlbWalk = 1u << 5,
    kMispredicted = 1u << 7,
    kLastLevelAccess = 1u << 8,
    kLastLevelMiss = 1u << 9,
    kRemoteAccess = 1u << 10,
  };
  uint64_t ip = 0;
  uint64_t target = 0;            // of a branch
  uint64_t virtual_address = 0;   // of the data
  uint64_t physical_address = 0;  // of the data; 0: not told
  uint64_t events = 0;
  uint16_t latency = 0;  // cycles from dispatch to completion
  uint16_t source = 0;   // of loaded data; which number is what depends on the processor
  Operation operation = Operation::kOther;
  std::optional<uint32_t> context;  // CONTEXTIDR: the thread's id, if the kernel sets it
  std::optional<uint64_t> time;     // of the generic timer

  [[nodiscard]] bool has(uint64_t any_of) const { return (events & any_of) != 0; }
  [[nodiscard]] bool is_access() const {
    return operation == Operation::kLoad || operation == Operation::kStore;
  }
};

class SpeReader {
 public:
  explicit SpeReader(Bytes trace) : trace_(trace) {}
  bool next(SpeRecord& record);
  [[nodiscard]] uint64_t bad_bytes() const { return bad_bytes_; }

 private:
  Bytes trace_;
  size_t at_ = 0;
  uint64_t bad_bytes_ = 0;
};

/// What perf_mem_data_src says of the access; 0 if it was none. `midr`: of the processor, whose
/// kind decides what `source` means.
uint64_t spe_data_source(const SpeRecord& record, uint64_t midr);

}  // namespace sonde::itrace
