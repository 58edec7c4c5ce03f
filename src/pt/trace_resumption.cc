// How TraceReader goes on behind an error: where the code cannot be followed, at the next packet
// that has an address; where bytes are not a packet, behind them.
#include "pt/packet.h"
#include "pt/packet_bytes.h"
#include "pt/trace_reader.h"

namespace sonde::pt {
namespace {

constexpr size_t kMostBytes = 16;

/// Forms of addresses that do not depend on the one before (SDM, "IP Compression").
bool has_whole_address(const Packet& packet, uint8_t form) {
  constexpr uint8_t kSignExtended = 3, kFull = 6;
  return packet.count > 0 && (form == kSignExtended || form == kFull);
}

}  // namespace

bool TraceReader::skip_damage() {
  Packet packet;
  bool is_packet = broken_ == kDamagedPacket && block_.read_packet(rest(), packet);
  at_ += is_packet ? packet.size : 1;
  broken_ = kDone;
  last_time_ = time_;
  note_answer();
  (void)look_ahead();
  update_flags();
  return !is_packet;
}

void TraceReader::take_back(bool before_event) {
  const Answer& to = before_event ? before_event_ : answered_;
  // Behind an answer that was given the short way nothing is read ahead.
  if (to.at == at_) return;
  at_ = to.at;
  last_address_ = to.address;
  time_ = to.time;
}

/// What a packet says of time and addresses.
void TraceReader::pass(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kTsc:
      time_.set_tsc(packet.payload);
      break;
    case PacketType::kTma:
      (void)time_.set_tma(static_cast<uint16_t>(packet.payload),
                          static_cast<uint16_t>(packet.payload2));
      break;
    case PacketType::kMtc:
      (void)time_.set_mtc(static_cast<uint8_t>(packet.payload));
      break;
    case PacketType::kPsb:
      last_address_ = {};
      break;
    case PacketType::kTip:
    case PacketType::kTipPge:
    case PacketType::kTipPgd:
    case PacketType::kFup: {
      uint8_t form = *at_ >> 5;
      if (packet.count > 0 && (last_address_.can_continue() || has_whole_address(packet, form)))
        (void)last_address_.update(form, packet.payload);
      break;
    }
    default:
      break;
  }
  at_ += packet.size;
}

bool TraceReader::pass_destination(bool before_event) {
  bool has_bits = bit_count_ > 0 && !before_event;
  bit_count_ = 0;
  take_back(before_event);
  block_ = {};
  if (has_bits) {
    last_time_ = time_;
    return true;
  }
  bool in_psb = false, is_there = false;
  for (Packet packet; !is_there && block_.read_packet(rest(), packet);) {
    switch (packet.type) {
      case PacketType::kPsb:
        in_psb = true;
        break;
      case PacketType::kPsbEnd:
        in_psb = false;
        break;
      case PacketType::kOvf:
      case PacketType::kTipPge:
        last_time_ = time_;
        return false;
      case PacketType::kTnt:
      case PacketType::kTip:
      case PacketType::kTipPgd:
        is_there = true;
        break;
      case PacketType::kFup:
        is_there = !in_psb;
        break;
      default:
        break;
    }
    pass(packet);
  }
  last_time_ = time_;
  return is_there;
}

Status TraceReader::resume(bool needs_whole, Resumption& found) {
  found = {};
  flags_ = 0;
  next_ = Next::kNone;
  broken_ = kDone;
  block_ = {};
  consumes_ = has_event_ = false;
  bit_count_ = 0;
  at_psb_end_.count = at_tip_.count = at_fup_.count = 0;
  at_interrupt_.reset();
  first_datum_ = group_ = nullptr;
  if (needs_whole) last_address_ = {};
  for (Packet packet; at_ != end_;) {
    if (!block_.read_packet(rest(), packet)) {
      if (left() < kMostBytes) return kEnd;
      ++at_;
      last_time_ = time_;
      return kUnknownPacket;
    }
    switch (packet.type) {
      case PacketType::kPsb:
        found.kind = Resumption::Kind::kPsb;
        return kDone;
      case PacketType::kOvf:
        found.kind = Resumption::Kind::kOverflow;
        enabled_ = false;
        last_time_ = time_;
        note_answer();
        (void)look_ahead();
        update_flags();
        return kDone;
      case PacketType::kModeExec:
        found.is_64_bit = (at_[1] & 1) != 0;
        break;
      case PacketType::kCbr:
        found.frequency = static_cast<uint32_t>(packet.payload & 0xff);
        break;
      case PacketType::kTip:
      case PacketType::kTipPge:
      case PacketType::kFup:
        if (packet.count > 0 &&
            (last_address_.can_continue() || has_whole_address(packet, *at_ >> 5)))
          return resume_at(packet, found);
        break;
      default:
        break;
    }
    pass(packet);
  }
  return kEnd;
}

Status TraceReader::resume_at(const Packet& packet, Resumption& found) {
  pass(packet);
  found.ip = last_address_.value();
  enabled_ = true;
  last_time_ = time_;
  note_answer();
  (void)look_ahead();
  update_flags();
  return kDone;
}

}  // namespace sonde::pt
