#include "pt/vm_time.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace sonde::pt {
namespace {

constexpr uint64_t kSevenBytes = (uint64_t{1} << 56) - 1;  // of the counter, in a TSC packet
constexpr uint64_t kNoVmcs = (uint64_t{1} << 40) - 1;      // the packet's number outside guests
constexpr size_t kLongestPacket = 16;

/// The full counter nearest to `near` that has these seven bytes.
uint64_t full_tsc(uint64_t seven_bytes, uint64_t near) {
  constexpr uint64_t kTurn = uint64_t{1} << 56;
  uint64_t tsc = (seven_bytes & kSevenBytes) | (near & ~kSevenBytes);
  if (tsc < near && near - tsc > kTurn / 2) return tsc + kTurn;
  if (tsc > near && tsc - near > kTurn / 2) return tsc - kTurn;
  return tsc;
}

}  // namespace

TscTranslation::TscTranslation(const TraceSetup& setup, TscOffsets& offsets, Note note)
    : setup_(setup), offsets_(offsets), note_(std::move(note)) {
  constexpr uint8_t kMostBits = 15;  // IA32_RTIT_CTL.MTCFreq has four bits
  setup_.mtc_period = std::min(setup_.mtc_period, kMostBits);
}

TscOffsets::Offset* TscOffsets::of(uint64_t vmcs) {
  auto found = by_vmcs_.find(vmcs);
  if (found != by_vmcs_.end()) return &found->second;
  if (vmcs == 0 && default_ == 0) return nullptr;
  return &by_vmcs_.emplace(vmcs, Offset{default_, default_ != 0, false}).first->second;
}

void TscTranslation::run(const std::vector<TimedPiece>& pieces, const Change& change) {
  pieces_ = &pieces;
  change_ = &change;
  Place place;
  while (synchronize(place)) {
    ItemBlock block;
    for (Packet packet; !at_end(place);) {
      Place start = place;
      end_tsc_ = pieces[start.piece].end_tsc;
      if (!read(place, packet, block)) break;
      take(packet, start, place);
    }
    if (at_end(place)) return;
    // Not a packet: its successors are found after the next PSB.
    place = past(place, 1);
    crystal_.is_running = false;
    goes_on_ = false;
  }
}

bool TscTranslation::at_end(const Place& place) const {
  return place.piece >= pieces_->size();
}

TscTranslation::Place TscTranslation::past(Place place, size_t bytes) const {
  place.at += bytes;
  while (!at_end(place) && place.at >= (*pieces_)[place.piece].bytes.size()) {
    place.at -= (*pieces_)[place.piece].bytes.size();
    ++place.piece;
  }
  return place;
}

/// The packet at `place`, which may begin in one piece and end in another.
bool TscTranslation::read(Place& place, Packet& packet, ItemBlock& block) {
  if (at_end(place)) return false;
  Bytes bytes = (*pieces_)[place.piece].bytes.subspan(place.at);
  std::array<std::byte, kLongestPacket> joined{};
  if (bytes.size() < kLongestPacket) {
    size_t size = 0;
    for (Place from = place; size < kLongestPacket && !at_end(from); from = past(from, 1))
      joined[size++] = (*pieces_)[from.piece].bytes[from.at];
    bytes = Bytes(joined).first(size);
  }
  if (!block.read_packet(bytes, packet)) return false;
  place = past(place, packet.size);
  return true;
}

/// To the next PSB.
bool TscTranslation::synchronize(Place& place) const {
  place = past(place, 0);
  for (; !at_end(place); place = past({place.piece + 1, 0}, 0)) {
    Bytes bytes = (*pieces_)[place.piece].bytes;
    place.at = find_psb(bytes, place.at);
    if (place.at < bytes.size()) return true;
  }
  return false;
}

void TscTranslation::take(const Packet& packet, const Place& start, const Place& next) {
  switch (packet.type) {
    case PacketType::kPsb:
      return begin_psb(next);
    case PacketType::kPsbEnd:
      in_psb_ = false;
      around_ = {};
      return;
    case PacketType::kTnt:
    case PacketType::kTip:
    case PacketType::kTipPge:
      is_enabled_ = true;
      return;
    case PacketType::kFup:
      if (in_psb_) is_enabled_ = true;
      return;
    case PacketType::kTraceStop:
      crystal_.is_running = false;
      [[fallthrough]];
    case PacketType::kTipPgd:
      is_enabled_ = goes_on_ = false;
      return;
    case PacketType::kOvf:
      in_psb_ = false;
      is_enabled_ = is_followed_by_fup(next);
      goes_on_ &= is_enabled_;
      return;
    case PacketType::kVmcs:
      if (packet.payload != kNoVmcs) vmcs_ = packet.payload;
      return;
    case PacketType::kMtc:
      return take_mtc(packet);
    case PacketType::kTma:
      return take_tma(packet);
    case PacketType::kTsc:
      return take_tsc(packet, start, next);
    default:
      return;
  }
}

TscTranslation::Around TscTranslation::look_at_psb(Place place) {
  Around around;
  ItemBlock block;
  for (Packet packet; read(place, packet, block);) {
    switch (packet.type) {
      case PacketType::kPad:
      case PacketType::kMnt:
      case PacketType::kModeExec:
      case PacketType::kModeTsx:
      case PacketType::kMtc:
      case PacketType::kFup:
      case PacketType::kCyc:
      case PacketType::kCbr:
        break;
      case PacketType::kTsc:
        around.has_tsc = true;
        break;
      case PacketType::kTma:
        around.tma = packet;
        break;
      case PacketType::kPip:
        around.pip = packet;
        break;
      case PacketType::kVmcs:
        around.vmcs = packet;
        break;
      case PacketType::kPsbEnd:
        around.ends = true;
        return around;
      default:
        return around;
    }
  }
  return around;
}

void TscTranslation::begin_psb(const Place& next) {
  around_ = look_at_psb(next);
  if (around_.has_tsc && !around_.ends) note_("ERROR: PSB without PSBEND");
  in_psb_ = around_.ends;
}

std::optional<Packet> TscTranslation::tma_after(Place place) {
  ItemBlock block;
  for (Packet packet; read(place, packet, block);) {
    if (packet.type == PacketType::kCyc || packet.type == PacketType::kMtc) continue;
    if (packet.type == PacketType::kTma) return packet;
    break;
  }
  return std::nullopt;
}

bool TscTranslation::is_followed_by_fup(Place place) {
  constexpr int kMost = 16;
  ItemBlock block;
  Packet packet;
  for (int i = 0; i < kMost && read(place, packet, block); ++i) {
    bool is_time = packet.type == PacketType::kCyc || packet.type == PacketType::kMtc ||
                   packet.type == PacketType::kTsc;
    if (!is_time) return packet.type == PacketType::kFup;
  }
  return false;
}

void TscTranslation::take_tsc(const Packet& packet, const Place& start, const Place& next) {
  uint64_t tsc = packet.payload & kSevenBytes;
  uint64_t corrected = correct_tsc(tsc, next) & kSevenBytes;
  if (corrected != tsc) put(corrected, past(start, 1));
  keep_time(corrected);
  has_tsc_ = true;
  goes_on_ = is_enabled_;
}

/// The packet may begin in one piece and end in another.
void TscTranslation::put(uint64_t tsc, Place place) const {
  constexpr size_t kBytes = 7;
  std::array<std::byte, kBytes> bytes{};
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(tsc >> (8 * i));
  for (Bytes rest(bytes); !rest.empty();) {
    size_t count = std::min(rest.size(), (*pieces_)[place.piece].bytes.size() - place.at);
    (*change_)(place.piece, place.at, rest.first(count));
    rest = rest.subspan(count);
    place = past(place, count);
  }
}

/// What the packet would have been on the host.
uint64_t TscTranslation::correct_tsc(uint64_t tsc, const Place& next) {
  if (!in_psb_) {
    around_ = {};
    around_.tma = tma_after(next);
  }
  if (!around_.tma) {
    note_("ERROR: TSC without TMA");
    return tsc;
  }
  uint64_t vmcs = around_.vmcs ? around_.vmcs->payload : vmcs_;
  if (vmcs == kNoVmcs) vmcs = 0;
  TscOffsets::Offset* known = offsets_.of(vmcs);
  uint64_t as_hosts = full_tsc(tsc, now_ != 0 ? now_ : end_tsc_);
  if (crystal_.tsc == 0) return first_tsc(tsc, as_hosts, known);

  uint64_t expected = expected_tsc(*around_.tma);
  uint64_t offset = as_hosts - expected;
  if (around_.pip) {
    if (!around_.pip->flag) {
      sure_tsc_ = as_hosts;
      is_sure_ = true;
      return tsc;
    }
    if (known == nullptr) {
      note_("ERROR: Missing VMCS");
      is_sure_ = false;
      return tsc - offset;
    }
    return guests_tsc(tsc, vmcs, offset, known);
  }
  // Nobody says who was running.
  bool is_guests = false;
  if (in_psb_) {
    if (offset == 0) return tsc;
    is_guests = known != nullptr && ((offset ^ known->ticks) & kSevenBytes) == 0;
  }
  // Amid traced instructions the clock may have stood still; elsewhere the host's time is not
  // behind it.
  bool follows_clock = as_hosts >= expected || (is_enabled_ && !in_psb_);
  if (!is_guests && follows_clock && is_possible(as_hosts)) {
    is_sure_ = false;
    return tsc;
  }
  uint64_t corrected = guests_tsc(tsc, vmcs, offset, known);
  is_sure_ = false;
  return corrected;
}

/// Before any TMA packet there is no clock to compare with.
uint64_t TscTranslation::first_tsc(uint64_t tsc, uint64_t as_hosts, TscOffsets::Offset* known) {
  bool has_offset = known != nullptr && known->ticks != 0;
  if (around_.pip) {
    if (!around_.pip->flag) {
      is_sure_ = true;
      return tsc;
    }
    if (has_offset) {
      is_sure_ = true;
      return tsc - known->ticks;
    }
    note_("ERROR: First TSC, unknown TSC Offset");
    return tsc;
  }
  is_sure_ = false;
  if (is_possible(as_hosts)) return tsc;
  if (has_offset) return tsc - known->ticks;
  note_("ERROR: First TSC, no PIP, unknown TSC Offset");
  return tsc;
}

uint64_t TscTranslation::guests_tsc(uint64_t tsc, uint64_t vmcs, uint64_t offset,
                                    TscOffsets::Offset* known) {
  bool is_known = known != nullptr && known->ticks != 0 && known->is_certain;
  // A PSB amid a trace is no place where time is lost, so the clock is right.
  bool can_learn = known != nullptr && vmcs != 0 && !is_known && in_psb_ && around_.pip && has_tsc_;
  if (can_learn) {
    bool is_certain = is_sure_ && goes_on_;
    bool is_new = known->ticks != offset;
    known->ticks = offset;
    known->is_certain = is_certain;
    if (is_new) note_(fmt::format("VMCS: {:#x}  TSC Offset {:#x}", vmcs, offset));
  }
  if (known != nullptr && known->ticks != 0) {
    is_sure_ = known->is_certain;
    return tsc - known->ticks;
  }
  is_sure_ = false;
  if (known == nullptr) {
    say_once(said_unknown_, "ERROR: Unknown VMCS");
  } else if (!known->was_missed) {
    known->was_missed = true;
    note_(fmt::format("ERROR: Unknown TSC Offset for VMCS {:#x}", vmcs));
  }
  return tsc - offset;
}

void TscTranslation::keep_time(uint64_t tsc) {
  crystal_.is_running = false;
  if (now_ == 0) {
    now_ = latest_tsc_ = full_tsc(tsc, end_tsc_);
    return;
  }
  // A TSC packet may come behind MTC packets that are a little later.
  constexpr uint64_t kSlip = 0x10000;
  uint64_t full = full_tsc(tsc, now_);
  latest_tsc_ = full;
  bool is_wrong = false;
  if (full < now_) {
    is_wrong = now_ - full >= kSlip;
    full = now_;
  }
  if (is_wrong || !is_possible(full)) say_once(said_range_, "Timestamp out of range");
  now_ = full;
}

uint64_t TscTranslation::in_tsc(uint64_t crystal_ticks) const {
  uint64_t n = setup_.crystal_numerator, d = setup_.crystal_denominator;
  return d == 0 ? 0 : crystal_ticks / d * n + crystal_ticks % d * n / d;
}

void TscTranslation::take_tma(const Packet& packet) {
  if (setup_.crystal_denominator == 0) return;
  auto ticks = static_cast<uint32_t>(packet.payload);
  uint32_t rest = ticks & ((1u << setup_.mtc_period) - 1);
  constexpr uint32_t kMtcMask = 0xff;
  crystal_.last_mtc = (ticks >> setup_.mtc_period) & kMtcMask;
  crystal_.ticks = ticks - rest;
  crystal_.tsc = latest_tsc_ - packet.payload2 - in_tsc(rest);
  crystal_.since = 0;
  crystal_.is_running = true;
  crystal_.is_partial = true;
}

void TscTranslation::take_mtc(const Packet& packet) {
  if (!crystal_.is_running) return;
  auto mtc = static_cast<uint32_t>(packet.payload);
  // TMA packets have 16 bits of the crystal's clock: of long periods they lack the upper ones.
  constexpr uint32_t kMtcBits = 8, kTmaBits = 16;
  if (setup_.mtc_period > kMtcBits && crystal_.is_partial) {
    crystal_.is_partial = false;
    uint32_t mask = (1u << (kTmaBits - setup_.mtc_period)) - 1;
    crystal_.last_mtc |= mtc & ~mask & ((1u << kMtcBits) - 1);
    if (crystal_.last_mtc >= mtc) crystal_.last_mtc -= mask + 1;
    crystal_.last_mtc &= (1u << kMtcBits) - 1;
  }
  uint32_t periods = (mtc - crystal_.last_mtc) & ((1u << kMtcBits) - 1);
  constexpr uint32_t kTurn = 1u << kMtcBits;
  if (periods == 0) periods = kTurn;
  crystal_.since += uint64_t{periods} << setup_.mtc_period;
  crystal_.last_mtc = mtc;
  now_ = std::max(now_, crystal_.tsc + in_tsc(crystal_.since));
}

/// When a TMA packet says what the crystal's clock shows, by that clock alone.
uint64_t TscTranslation::expected_tsc(const Packet& tma) const {
  uint64_t last = crystal_.ticks + crystal_.since;
  auto more =
      static_cast<int16_t>(static_cast<uint16_t>(tma.payload) - static_cast<uint16_t>(last));
  uint64_t ticks = crystal_.since + static_cast<uint64_t>(int64_t{more});
  return crystal_.tsc + in_tsc(ticks) + tma.payload2;
}

bool TscTranslation::is_possible(uint64_t tsc) const {
  return tsc >= sure_tsc_ && tsc < end_tsc_;
}

void TscTranslation::say_once(bool& was_said, std::string_view text) {
  if (!was_said) note_(text);
  was_said = true;
}

}  // namespace sonde::pt
