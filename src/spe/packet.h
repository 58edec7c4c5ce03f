// Packets of an Arm SPE trace (Arm DDI 0487, "Statistical Profiling Extension Sample Record
// Specification"): where each one ends and what it says. What several of them tell of one
// operation is put together in itrace/spe_records.h.
//
//   for (size_t at = 0; at < trace.size(); at += packet.size)
//     if (!read_packet(trace, at, packet)) ...   // not a packet
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/sink.h"

namespace sonde::spe {

enum class PacketType : uint8_t {
  kPad,
  kEnd,
  kTimestamp,
  kEvents,
  kDataSource,
  kContext,
  kOperation,
  kAddress,
  kCounter,
};

struct Packet {
  /// Indexes of addresses that the architecture names first.
  enum Address : uint8_t { kProgramCounter, kBranchTarget, kVirtual, kPhysical };
  /// Indexes of counters: from dispatch to completion, until issue, of the address's translation.
  enum Counter : uint8_t { kTotal, kIssue, kTranslation };
  /// Indexes of operations.
  enum Operation : uint8_t { kOther, kLoadOrStore, kBranch };

  PacketType type = PacketType::kPad;
  uint8_t index = 0;     // of address, counter, operation; CONTEXT: exception level, less one
  size_t size = 1;       // bytes
  uint64_t payload = 0;  // as in the packet
};

/// Reads the packet at `at`, which is before the end; alignment counts from the trace's start.
/// False if there is none: its size is 1 then, or more than is left of the trace, if it is cut off.
bool read_packet(Bytes trace, size_t at, Packet& packet);

/// "PC 0x401005 el0 ns=1", as perf prints it.
void append_text(const Packet& packet, std::string& out);

/// A line for each packet: offset, bytes, meaning. Padding is up to sixteen bytes a line.
void put_packets(Bytes trace, Sink& out);

}  // namespace sonde::spe
