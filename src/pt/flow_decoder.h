// Follows an Intel PT trace through the program's code, by Intel's libipt: which instructions ran,
// in order, and what else the trace says between them.
//
//   TRY(pt::follow(trace, setup, code, observer));
//
// After an error (code that cannot be read, a trace that does not fit it, lost packets) the
// observer is told, and decoding continues at the next packet with an address (of a trace that
// libipt has to follow: at the next PSB). Untrusted traces end: a position at which code runs in
// circles without consuming any trace is an error, too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "pt/block_items.h"

namespace sonde::pt {

/// How the processor traced. Zeros: not known.
struct TraceSetup {
  uint32_t family = 0, model = 0, stepping = 0;             // of an Intel CPU, for its errata
  uint32_t crystal_numerator = 0, crystal_denominator = 0;  // TSC per crystal clock (CPUID 0x15)
  uint8_t mtc_period = 0;          // an MTC packet every 2^this crystal clocks
  uint8_t non_turbo_ratio = 0;     // TSC frequency in bus clocks
  bool compresses_returns = true;  // a bit may say that a RET went where its CALL came from
  bool counts_cycles = false;      // tell the observer of CYC packets
  bool traces_other = false;       // CYC, PTWRITE or power packets were asked for
  bool traces_events = false;      // MODE.Exec packets also tell of CLI, STI and the like
};

enum class InstructionKind : uint8_t {
  kOther,
  kCall,
  kReturn,
  kJump,
  kConditional,
  kFarCall,    // syscall, int
  kFarReturn,  // iret, sysret
  kFarJump,
  kPtWrite,
  kSystemCall,  // of other processors than x86
};

struct Instruction {
  uint64_t ip = 0;
  uint8_t size = 0;
  InstructionKind kind = InstructionKind::kOther;
  bool in_transaction = false;
  bool is_64_bit = true;
  std::array<uint8_t, 15> bytes = {};
};

/// Instructions that ran one behind the other in memory.
struct Block {
  uint64_t ip = 0;     // of the first
  uint32_t count = 1;  // of instructions
  Instruction last;    // the only one that may branch
  uint64_t began = 0;  // the time of those before the last
};

/// For whoever needs more of a block than its ends.
class BlockSizes {
 public:
  virtual ~BlockSizes() = default;
  /// The size of each instruction in bytes; valid until the next call.
  virtual std::span<const uint8_t> of(const Block& block) = 0;
};

/// Whether the trace has a packet, or a bit of one, for where this instruction goes.
bool consumes_trace(const Instruction& instruction);

/// What happened to the processor's power state.
struct PowerEvent {
  enum class Kind : uint8_t { kMwait, kPwre, kExStop, kPwrx };
  Kind kind = Kind::kMwait;
  uint64_t payload = 0;  // as in the packet (packet.h), MWAIT's extensions in the upper half
};

/// What an interrupt or the like was about (EVD): a page fault's address, a VM exit's
/// qualification.
struct EventDatum {
  uint8_t type = 0;
  uint64_t payload = 0;
};

/// An event of the event trace (CFE), with the packets' numbers.
struct ControlFlowEvent {
  uint8_t type = 0, vector = 0;
  bool has_ip = false;               // the trace tells where
  std::span<const EventDatum> data;  // valid during the call
  // That of the interrupt that is told next, and that this is about.
  bool is_interrupt = false, ends_tracing = false;
  std::optional<uint64_t> to;
  std::optional<bool> allows_interrupts;  // from then on, if that changes
};

/// How a change of the interrupt flag (RFLAGS.IF) is told.
enum class FlagChange : uint8_t {
  kKnown,     // it is none: so it is at a PSB
  kByBranch,  // that which is told next, or whose instruction was told last
  kAtPlace,   // before the instruction there
};

/// Why the flow was lost, with the numbers that perf gives these errors.
enum class FlowError : uint8_t {
  kInternal = 2,
  kBadPacket = 3,
  kNoData = 4,
  kNoInstruction = 5,  // the code could not be read
  kMismatch = 6,       // the trace does not fit the code
  kOverflow = 7,       // the processor dropped packets
  kLost = 8,           // data was lost between the processor and the file
  kLoop = 10,          // code that runs in circles without consuming trace
};
/// "Failed to get instruction", as perf says it.
std::string_view describe(FlowError error);

/// The program's code. It may differ from one moment to the next.
class CodeReader {
 public:
  virtual ~CodeReader() = default;
  /// Copies the bytes at `address`, as many as there are; returns their number. `tsc` is the time.
  virtual size_t read(uint64_t address, std::span<std::byte> to, uint64_t tsc) = 0;
  /// The part of a file around `address` that is what `read` copies from, if it is one: decoding is
  /// several times faster where whole files are known.
  struct FilePart {
    std::string path;
    uint64_t offset = 0, size = 0;  // in the file, in bytes
    uint64_t address = 0;           // of its first byte
  };
  virtual std::optional<FilePart> file_part(uint64_t /*address*/, uint64_t /*tsc*/) { return {}; }
  /// Another number as soon as what was read before may not be the code any more.
  virtual uint64_t version(uint64_t /*tsc*/) { return 0; }
};

/// What is told comes in the order of execution. `now` is the time stamp counter, estimated from
/// the latest packets with a time; 0 before the first one.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;
  virtual void instruction(const Instruction& instruction, uint64_t now) = 0;
  /// Several of them; `now` is the time of the last. Passed on one by one, unless overridden.
  virtual void ran(const Block& block, BlockSizes& sizes, uint64_t now);
  /// What the observer can do without.
  struct Indifference {
    uint64_t instructions = 0;  // so many next ones, all at the time of the latest, may be skipped
    bool to_calls = false;      // else it is told where blocks end with calls and returns
  };
  /// Asked from time to time; decoding is faster for whoever is indifferent.
  virtual Indifference indifference(uint64_t /*now*/) { return {}; }
  /// In place of `ran`: `count` instructions from `ip` on, which branched in between. All of it was
  /// at the time `now`, as what was told before.
  virtual void skipped(uint64_t /*ip*/, uint64_t /*count*/, const Instruction& /*last*/,
                       uint64_t /*now*/) {}
  /// Tracing begins, or resumes, at `ip`.
  virtual void enabled(uint64_t ip, uint64_t now) = 0;
  /// Tracing ends after the latest instruction, which goes to `to` if that is known; or at `at`, by
  /// an interrupt.
  virtual void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) = 0;
  /// An interrupt or an exception.
  virtual void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) = 0;
  virtual void transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) = 0;
  virtual void ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now) = 0;
  /// Between the latest instruction and the next, where the trace has no address.
  virtual void power(const PowerEvent& /*event*/, std::optional<uint64_t> /*ip*/,
                     uint64_t /*now*/) {}
  /// `ip` is where it happened.
  virtual void control_flow(const ControlFlowEvent& /*event*/, std::optional<uint64_t> /*ip*/,
                            uint64_t /*now*/) {}
  virtual void interrupt_flag(bool /*allows*/, FlagChange /*how*/, std::optional<uint64_t> /*ip*/,
                              uint64_t /*now*/) {}
  /// What the processor wrote down of itself, as a PEBS record.
  virtual void items(const BlockItems& /*items*/, std::optional<uint64_t> /*ip*/,
                     uint64_t /*now*/) {}
  /// At the end: so many of these records were cut off by other packets, and not told.
  virtual void items_cut(uint64_t /*records*/) {}
  /// Cycles of the core, up to the next instruction that consumes_trace or the next event. Told
  /// only if the setup says so.
  virtual void cycles(uint64_t /*count*/) {}
  /// In bus clocks; told again at every PSB.
  virtual void core_frequency(uint32_t ratio, uint64_t now) = 0;
  /// Whether packets_read is called: of interest for logs only, and slow.
  [[nodiscard]] virtual bool watches_packets() const { return false; }
  /// What is told next is told by the trace's bytes up to `offset`, or by code that needs none.
  virtual void packets_read(uint64_t /*offset*/) {}
  /// `ip` is the latest address known, 0 if there is none.
  virtual void lost(FlowError why, uint64_t ip, uint64_t now) = 0;
};

/// Whether this build can follow traces: there is no libipt for machines other than x86.
bool can_follow();

/// kUnsupported without libipt.
Result<> follow(Bytes trace, const TraceSetup& setup, CodeReader& code, FlowObserver& observer);

}  // namespace sonde::pt
