// What an Intel PT trace says, in the order in which a walk through the code asks for it: which way
// a conditional branch went, where an indirect one did, and what happened in between (TraceEvent).
//
//   TraceReader reader(trace, setup);
//   reader.synchronize(ip);                 // to the next PSB
//   reader.conditional(taken);              // kBadQuery: there is an event or a target instead
//   reader.indirect(target);
//   if (reader.flags() & kEventPending) reader.event(event);
//
// Packets are read ahead up to the next one that matters; events are told once the bits of the TNT
// packet before them are used up. Times are those of the packet that the latest answer came from.
// All of it is as libipt's query decoder does it, which tests compare with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "pt/flow_decoder.h"
#include "pt/packet.h"
#include "pt/packet_bytes.h"
#include "pt/trace_time.h"
#include "pt/walk_quirks.h"

namespace sonde::pt {

/// How a step of a walk ended. Below kDone: the walk ends.
enum Status : int8_t {
  kReached = 1,
  kDone = 0,
  kEnd = -1,
  kNotMapped = -2,
  kBadInstruction = -3,
  kUnknownPacket = -4,
  kDamagedPacket = -5,
  kBadQuery = -6,  // the trace says something else than what is asked for
  kBadContext = -7,
  kBadReturn = -8,
  kBadUpdate = -9,
  kNoAddress = -10,
  kImpossible = -11,
  kCircles = -12,  // code that runs on without trace
};

enum StatusFlag : uint8_t { kEventPending = 1, kTraceEnds = 2, kTargetHidden = 4 };

enum class EventType : uint8_t {
  kEnabled,
  kDisabled,
  kAsyncDisabled,
  kAsyncBranch,
  kPaging,
  kAsyncPaging,
  kVmcs,
  kAsyncVmcs,
  kOverflow,
  kMode,
  kTransaction,
  kStop,
  kFrequency,
  kMaintenance,
  kControlFlow,
  kInterruptFlag,
  kItems,
};

struct TraceEvent {
  EventType type = EventType::kEnabled;
  bool has_ip = true;      // else `ip` is not known
  bool is_update = false;  // of the state, as a PSB repeats it
  bool has_time = false;
  uint64_t time = 0;
  uint64_t ip = 0;     // where it happened; of disabling and of branches: where the program went
  uint64_t from = 0;   // of kAsyncDisabled and kAsyncBranch: where it happened
  uint64_t value = 0;  // kMode: 1: 64 bits; kFrequency; paging: CR3; kVmcs: its base
  bool begins = false, aborts = false;  // kTransaction
  /// Interrupts are allowed from then on, or not.
  std::optional<bool> allows_interrupts;
  // Of kControlFlow: from its first EVD packet, if it has some, to its CFE packet.
  // Of kItems: from its first BBP packet, null if that is not there, to its BEP packet.
  const uint8_t *packets = nullptr, *packet = nullptr;
  bool is_interrupt = false, ends_tracing = false;  // kControlFlow: at `from`, on to `ip`
};

/// The address of the latest packet that had one (SDM, "IP Compression").
class LastAddress {
 public:
  /// `form`: the upper three bits of the packet's first byte.
  [[nodiscard]] bool update(uint8_t form, uint64_t payload) {
    constexpr unsigned kUnused = 16;  // bits above those of an address
    switch (form) {
      case 0:
        is_hidden_ = true;
        return true;
      case 1:
        value_ = (value_ & ~uint64_t{0xffff}) | payload;
        break;
      case 2:
        value_ = (value_ & ~uint64_t{0xffff'ffff}) | payload;
        break;
      case 3:
        value_ = static_cast<uint64_t>(static_cast<int64_t>(payload << kUnused) >> kUnused);
        break;
      case 4:
        value_ = (value_ & ~uint64_t{0xffff'ffff'ffff}) | payload;
        break;
      case 6:
        value_ = payload;
        break;
      default:
        return false;
    }
    is_known_ = true;
    is_hidden_ = false;
    return true;
  }
  [[nodiscard]] bool is_known() const { return is_known_ && !is_hidden_; }
  /// Whether a packet without the whole address can be read.
  [[nodiscard]] bool can_continue() const { return is_known_; }
  [[nodiscard]] uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
  bool is_known_ = false, is_hidden_ = false;
};

/// Where a walk goes on behind an error.
struct Resumption {
  enum class Kind : uint8_t {
    kPlace,     // code runs at `ip`
    kOverflow,  // an event, and with it the place, is pending
    kPsb,       // `synchronize` reads it
  };
  Kind kind = Kind::kPlace;
  uint64_t ip = 0;
  std::optional<bool> is_64_bit;      // if a packet on the way says so
  std::optional<uint32_t> frequency;  // likewise
};

class TraceReader {
 public:
  /// With `resumes`, what is not a packet is reported by is_broken, once all before it is used up;
  /// else by the answer that it is read behind.
  TraceReader(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks);

  /// Goes on at the next PSB. Sets `ip` if tracing is on there, else kTargetHidden in flags().
  Status synchronize(uint64_t& ip);
  Status conditional(bool& taken);
  /// kTargetHidden is in flags() if the packet has no address.
  Status indirect(uint64_t& target);
  Status event(TraceEvent& event);
  /// Of the latest answer.
  [[nodiscard]] uint8_t flags() const { return flags_; }
  /// False before the first time.
  [[nodiscard]] bool has_time() const { return last_time_.has_value(); }
  [[nodiscard]] uint64_t time() const { return last_time_.value(); }
  /// Changes as trace is consumed.
  [[nodiscard]] const uint8_t* position() const { return at_; }

  /// The PSB that was synchronised to.
  [[nodiscard]] const uint8_t* synchronized_at() const { return sync_; }
  /// Groups of blocks that another packet ended than theirs.
  [[nodiscard]] uint64_t cut_groups() const { return cut_groups_; }

  // Behind an error (trace_resumption.cc).

  /// Whether what comes next cannot be read, and nothing is left before it.
  [[nodiscard]] bool is_broken() const {
    return broken_ != kDone && bit_count_ == 0 && next_ == Next::kNone;
  }
  /// Whether that is only a byte, or packet, that can be passed over.
  [[nodiscard]] bool is_damaged() const {
    return broken_ == kUnknownPacket || broken_ == kDamagedPacket;
  }
  [[nodiscard]] Status broken() const { return broken_; }
  /// A PSB whose packets cannot be read, too.
  [[nodiscard]] bool is_at_psb() const {
    return left() >= kSyncSize && find_psb(rest().first(kSyncSize), 0) == 0;
  }
  [[nodiscard]] bool is_at_end() const { return at_ == end_; }
  /// Passes it over. False if it was a packet, with a value that is not understood.
  bool skip_damage();
  /// Goes back behind the latest answer, or the one before the latest event, and passes the packet
  /// that the walk which failed was to lead to. False if there is none.
  bool pass_destination(bool before_event);
  /// Goes on at the next packet with an address that can be known: if `needs_whole`, without the
  /// one before it.
  Status resume(bool needs_whole, Resumption& found);

  // The short ways: what is the same as asking above, for the most frequent packets. They do
  // nothing, and say so, where more than that packet has to be looked at.

  [[nodiscard]] unsigned bits() const { return bit_count_; }
  /// Whether the last bit may be taken by `take_bit`: nothing but branches follows.
  [[nodiscard]] bool is_quiet() const {
    return is_tnt(next_) || (next_ == Next::kTip && at_tip_.count == 0);
  }
  [[nodiscard]] bool next_bit() const { return (bits_ >> 63) != 0; }
  bool take_bit() {
    bool taken = next_bit();
    bits_ <<= 1;
    --bit_count_;
    return taken;
  }
  /// Loads the next TNT packet if the time stands still and another such packet follows.
  bool load_bits();
  /// Takes a TIP packet, likewise.
  bool take_target(uint64_t& target);

 private:
  enum class Next : uint8_t {
    kNone,
    kUnknown,
    kPad,
    kShortTnt,
    kLongTnt,
    kTip,
    kTipPge,
    kTipPgd,
    kFup,
    kPip,
    kMode,
    kStop,
    kCbr,
    kTsc,
    kMtc,
    kTma,
    kVmcs,
    kOvf,
    kPsb,
    kPsbEnd,
    kMnt,
    kCfe,
    kEvd,
    kBbp,
    kBip,
    kBep,
  };
  /// Events that are told at a later packet.
  struct Waiting {
    static constexpr size_t kMost = 6;
    std::array<TraceEvent, kMost> events;
    size_t count = 0;
    TraceEvent* add();
    TraceEvent take();
    [[nodiscard]] TraceEvent* find(EventType type);
  };

  static bool is_tnt(Next next) { return next == Next::kShortTnt || next == Next::kLongTnt; }
  [[nodiscard]] bool is_branch() const { return next_ == Next::kTip || is_tnt(next_); }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] Bytes rest() const { return {reinterpret_cast<const std::byte*>(at_), left()}; }
  [[nodiscard]] uint64_t number(size_t offset, size_t size) const {
    return packet_number(at_ + offset, size);
  }
  static Next kind_of(uint8_t first);
  Next extended() const;
  Status fetch();
  Status look_into_block();
  [[nodiscard]] bool is_event() const;
  Status read_ahead();
  Status look_ahead();
  void note_answer();
  void take_back(bool before_event);
  void pass(const Packet& packet);
  Status resume_at(const Packet& packet, Resumption& found);
  void update_flags();
  Status cache_bits();
  void reset();
  Status publish(const TraceEvent& event);
  void stamp(TraceEvent& event) const;
  void locate(TraceEvent& event) const;
  void note_interrupt_flag(TraceEvent& event);

  Status decode();
  Status decode_header();
  Status read_address(size_t& size);
  Status decode_tnt();
  Status decode_tip();
  Status decode_tip_pge();
  Status decode_tip_pgd();
  Status decode_fup();
  Status decode_pip();
  Status decode_mode();
  Status decode_control_flow();
  Status decode_block();
  [[nodiscard]] bool tells_interrupt_flag_only() const;
  Status decode_vmcs();
  Status decode_overflow();
  Status decode_psb();
  Status decode_psb_end();
  Status decode_other();
  Status skip_other();
  Status decode_time();
  Status read_header();
  Status header_event();
  Status header_address();
  /// Whether a TIP.PGE follows what a PSB may consist of.
  [[nodiscard]] bool is_before_enabling(size_t size) const;
  /// 1: the packets behind an OVF end with a FUP; 0: they don't.
  Status find_overflow_address() const;

  const uint8_t *begin_, *end_;
  const uint8_t* at_ = nullptr;    // null: before the first synchronisation
  const uint8_t* sync_ = nullptr;  // of the latest PSB synchronised to
  Next next_ = Next::kNone;
  uint8_t flags_ = 0;
  bool enabled_ = false, consumes_ = false, has_event_ = false;
  TraceEvent event_;
  uint64_t bits_ = 0;  // the next one is the highest
  unsigned bit_count_ = 0;
  LastAddress last_address_;
  TraceTime time_, last_time_;
  /// What was known right behind a packet.
  struct Answer {
    const uint8_t* at = nullptr;
    LastAddress address;
    TraceTime time;
  };
  Answer answered_, before_event_;  // behind the latest answer, and that before the latest event
  WalkQuirks quirks_;
  Status broken_ = kDone;  // what stopped reading ahead
  Waiting at_psb_end_, at_tip_, at_fup_;
  std::optional<TraceEvent> at_interrupt_;  // kControlFlow that the next interrupt's FUP locates
  const uint8_t* first_datum_ = nullptr;    // an EVD packet whose CFE is still to come
  const uint8_t* group_ = nullptr;          // the first BBP packet, inside of a group of blocks
  ItemBlock block_;
  uint64_t cut_groups_ = 0;
  bool traces_events_;
};

}  // namespace sonde::pt
