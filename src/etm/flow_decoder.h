// Follows CoreSight traces through the programs' code, by OpenCSD: which instructions ran, in
// order.
//
//   FlowDecoder decoder = TRY(FlowDecoder::make(units, Format::kFrames, code, observer));
//   decoder.decode(bytes);   // one stretch of trace after another
//
// Where the trace cannot be followed (code that cannot be read, lost or damaged bytes), decoding
// goes on at the next synchronization point, and the observer is told.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "etm/trace_unit.h"

namespace sonde::etm {

/// Instructions that ran one after the other, the last of them a branch if `last` says so.
struct ExecutedRange {
  enum class Last : uint8_t {
    kOther,
    kJump,
    kCall,
    kIndirectJump,
    kIndirectCall,
    kReturn,
    kExceptionReturn
  };
  uint64_t start = 0, end = 0;  // end: after the last instruction
  uint8_t last_size = 0;        // bytes, of the last instruction
  Last last = Last::kOther;
  bool is_conditional = false;
  bool was_taken = false;  // the branch
  bool is_thumb = false;   // instructions of 2 or 4 bytes; otherwise of 4
};

/// Why a unit's trace could not be followed for a while.
enum class Lost : uint8_t { kNoCode, kBadPacket, kOverflow };

/// The programs' code.
class CodeReader {
 public:
  virtual ~CodeReader() = default;
  /// Copies the bytes at `address`, as many as there are; returns their number. `trace_id` is the
  /// unit's.
  virtual size_t read(uint8_t trace_id, uint64_t address, std::span<std::byte> to) = 0;
};

/// Told in the order of execution, for each unit.
class FlowObserver {
 public:
  virtual ~FlowObserver() = default;
  virtual void ran(uint8_t trace_id, const ExecutedRange& range) = 0;
  /// What follows does not continue what ran before: tracing begins or resumes.
  virtual void interrupted(uint8_t trace_id) = 0;
  virtual void exception(uint8_t trace_id, uint32_t number, uint64_t return_address) = 0;
  virtual void timestamp(uint8_t trace_id, uint64_t time) = 0;
  /// The thread that runs next, as far as the unit traces it: CONTEXTIDR, or CONTEXTIDR_EL2 if the
  /// kernel runs at EL2.
  virtual void context(uint8_t trace_id, uint32_t context_id) = 0;
  /// `address` is that of the code that could not be read, or 0.
  virtual void lost(uint8_t trace_id, Lost why, uint64_t address) = 0;
};

class FlowDecoder {
 public:
  /// Both references must outlive it. kUnsupported without the library.
  [[nodiscard]] static Result<FlowDecoder> make(std::span<const TraceUnit> units, Format format,
                                                CodeReader& code, FlowObserver& observer);
  FlowDecoder(FlowDecoder&&) noexcept;
  FlowDecoder& operator=(FlowDecoder&&) noexcept;
  ~FlowDecoder();

  /// A stretch that was recorded without a gap: nothing of the one before is needed for it. False
  /// if the decoder gave up within it; the rest of the stretch is lost.
  [[nodiscard]] bool decode(Bytes trace);

  /// Of all that was decoded, the bytes whose trace id is that of no unit.
  [[nodiscard]] uint64_t bytes_of_unknown_units() const;

 private:
  struct State;
  explicit FlowDecoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde::etm
