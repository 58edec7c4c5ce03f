// Traces of machines that run guests: the time stamps that were taken in a guest, as the host's.
//
// While a guest runs, the processor adds the TSC offset of its VMCS (virtual machine control
// structure) to the time stamp counter, and TSC packets carry the sum (Intel SDM, volume 3, "VMX
// Support for Intel PT"). A decoder cannot use such times together with others. TscTranslation
// goes through the packets of one trace, tells the guest's TSC packets from the host's, and says
// what each should have been:
//
//   - In a PSB+, a PIP packet's non-root bit says who was running, and a VMCS packet which guest.
//   - Elsewhere a TSC packet is the host's if it continues the clock. The clock is known without
//     TSC packets: MTC and TMA packets count the crystal, which knows nothing of guests.
//
// An offset that nobody gave follows from the same clock, where a trace went on without a gap.
//
//   TscOffsets offsets;
//   TscTranslation translation(setup, offsets, note);
//   translation.run(pieces, [&](size_t piece, size_t at, Bytes instead) { … });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "pt/flow_decoder.h"
#include "pt/packet.h"

namespace sonde::pt {

/// TSC offsets by VMCS, as far as they were given or found out; shared by all traces of a
/// recording. A VMCS is named by the number in its packet, its address in pages.
class TscOffsets {
 public:
  struct Offset {
    uint64_t ticks = 0;       // modulo 2^64; 0: not known
    bool is_certain = false;  // given, or seen in a trace without gaps
    bool was_missed = false;  // a message said that it is not known
  };
  /// For guests without an offset of their own.
  void set_default(uint64_t ticks) { default_ = ticks; }
  void set(uint64_t vmcs, uint64_t ticks) { by_vmcs_[vmcs] = {ticks, ticks != 0, false}; }
  /// Of a guest; `vmcs` 0: of the one that is not known. Null if nothing can be remembered of it.
  Offset* of(uint64_t vmcs);

 private:
  uint64_t default_ = 0;
  std::map<uint64_t, Offset> by_vmcs_;
};

/// A part of a trace, as one AUXTRACE record brought it.
struct TimedPiece {
  Bytes bytes;
  uint64_t end_tsc = 0;  // the host's counter when it was read; 0: not known
};

class TscTranslation {
 public:
  /// A line about what was found out, or could not be.
  using Note = std::function<void(std::string_view)>;
  /// Bytes of a piece that should be others: at most seven, those of a TSC packet.
  using Change = std::function<void(size_t piece, size_t at, Bytes bytes)>;

  TscTranslation(const TraceSetup& setup, TscOffsets& offsets, Note note);

  /// The pieces follow one another without a gap.
  void run(const std::vector<TimedPiece>& pieces, const Change& change);

 private:
  /// Where a packet begins.
  struct Place {
    size_t piece = 0, at = 0;
  };
  /// What the packets after a TSC packet, or of a whole PSB+, say.
  struct Around {
    bool has_tsc = false, ends = false;
    std::optional<Packet> pip, vmcs, tma;
  };
  /// The crystal's clock since the latest TMA packet; times are of the host's counter.
  struct Crystal {
    uint64_t tsc = 0;         // when it last had a multiple of the MTC period; 0: never
    uint32_t ticks = 0;       // then
    uint64_t since = 0;       // ticks since then, by MTC packets
    uint32_t last_mtc = 0;    // the latest one
    bool is_running = false;  // whether MTC packets can be counted
    bool is_partial = false;  // last_mtc has more bits than an MTC packet of this period
  };

  /// `block`: that of the packets read before one after the other.
  bool read(Place& place, Packet& packet, ItemBlock& block);
  bool at_end(const Place& place) const;
  Place past(Place place, size_t bytes) const;
  bool synchronize(Place& place) const;
  void take(const Packet& packet, const Place& start, const Place& next);
  [[nodiscard]] Around look_at_psb(Place place);
  [[nodiscard]] std::optional<Packet> tma_after(Place place);
  [[nodiscard]] bool is_followed_by_fup(Place place);
  void begin_psb(const Place& next);
  void take_tsc(const Packet& packet, const Place& start, const Place& next);
  void put(uint64_t tsc, Place place) const;
  [[nodiscard]] uint64_t correct_tsc(uint64_t tsc, const Place& next);
  [[nodiscard]] uint64_t first_tsc(uint64_t tsc, uint64_t as_hosts, TscOffsets::Offset* known);
  [[nodiscard]] uint64_t guests_tsc(uint64_t tsc, uint64_t vmcs, uint64_t offset,
                                    TscOffsets::Offset* known);
  void keep_time(uint64_t tsc);
  void take_tma(const Packet& packet);
  void take_mtc(const Packet& packet);
  [[nodiscard]] uint64_t expected_tsc(const Packet& tma) const;
  [[nodiscard]] uint64_t in_tsc(uint64_t crystal_ticks) const;
  [[nodiscard]] bool is_possible(uint64_t tsc) const;
  void say_once(bool& was_said, std::string_view text);

  TraceSetup setup_;
  TscOffsets& offsets_;
  Note note_;
  const std::vector<TimedPiece>* pieces_ = nullptr;
  const Change* change_ = nullptr;

  Around around_;  // of the PSB+ that is being read
  bool in_psb_ = false;
  bool is_enabled_ = false;  // whether instructions are traced
  bool goes_on_ = false;     // ... since the latest TSC packet
  bool has_tsc_ = false;     // there was one
  bool is_sure_ = false;     // the latest TSC packet's side is certain
  uint64_t vmcs_ = 0;        // the latest one
  uint64_t end_tsc_ = 0;     // of the current piece
  uint64_t sure_tsc_ = 0;    // the latest time that is certainly the host's
  uint64_t now_ = 0;         // the host's counter, as far as it is known
  uint64_t latest_tsc_ = 0;  // by the latest TSC packet
  Crystal crystal_;
  bool said_range_ = false, said_unknown_ = false;
};

}  // namespace sonde::pt
