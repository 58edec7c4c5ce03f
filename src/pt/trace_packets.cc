// What TraceReader makes of each packet: bits, addresses, times, and events, which are told at once
// or wait for the packet that has their address.
#include <bit>
#include <utility>

#include "pt/packet.h"
#include "pt/packet_bytes.h"
#include "pt/trace_reader.h"

namespace sonde::pt {

Status TraceReader::publish(const TraceEvent& event) {
  event_ = event;
  has_event_ = true;
  return kDone;
}

void TraceReader::stamp(TraceEvent& event) const {
  if (!time_.has_value()) return;
  event.has_time = true;
  event.time = time_.value();
}

void TraceReader::locate(TraceEvent& event) const {
  event.has_ip = last_address_.is_known();
  event.ip = event.has_ip ? last_address_.value() : 0;
}

/// A MODE.Exec packet that waits for the same address belongs to this event, too.
void TraceReader::note_interrupt_flag(TraceEvent& event) {
  if (event.type == EventType::kMode) return;
  if (const TraceEvent* mode = at_tip_.find(EventType::kMode))
    event.allows_interrupts = mode->allows_interrupts;
}

Status TraceReader::decode() {
  switch (next_) {
    case Next::kShortTnt:
    case Next::kLongTnt:
      return decode_tnt();
    case Next::kTip:
      return decode_tip();
    case Next::kTipPge:
      return decode_tip_pge();
    case Next::kTipPgd:
      return decode_tip_pgd();
    case Next::kFup:
      return decode_fup();
    case Next::kPip:
      return decode_pip();
    case Next::kMode:
      return decode_mode();
    case Next::kCfe:
      return decode_control_flow();
    case Next::kEvd:
      if (left() < kEvdSize) return kEnd;
      if (first_datum_ == nullptr) first_datum_ = at_;
      at_ += kEvdSize;
      return kDone;
    case Next::kBbp:
    case Next::kBip:
    case Next::kBep:
      return decode_block();
    case Next::kVmcs:
      return decode_vmcs();
    case Next::kOvf:
      return decode_overflow();
    case Next::kPsb:
      return decode_psb();
    case Next::kPsbEnd:
      return decode_psb_end();
    case Next::kPad:
      ++at_;
      return kDone;
    case Next::kTsc:
    case Next::kTma:
    case Next::kMtc:
      return decode_time();
    default:
      return decode_other();
  }
}

Status TraceReader::decode_tnt() {
  bool is_short = next_ == Next::kShortTnt;
  size_t size = is_short ? 1 : kLongTntSize;
  if (left() < size) return kEnd;
  uint64_t payload = is_short ? *at_ >> 1 : number(2, kLongTntSize - 2);
  if (payload < 2) return kDamagedPacket;
  bit_count_ = static_cast<unsigned>(std::bit_width(payload) - 1);
  bits_ = payload << (64 - bit_count_);
  at_ += size;
  return kDone;
}

/// Of the packet at at_, which is not consumed.
Status TraceReader::read_address(size_t& size) {
  uint8_t form = *at_ >> 5, bytes = kAddressSizes[form];
  if (bytes == 0xff) return kDamagedPacket;
  if (left() < bytes + 1u) return kEnd;
  size = bytes + 1u;
  return last_address_.update(form, number(1, bytes)) ? kDone : kDamagedPacket;
}

Status TraceReader::decode_tip() {
  size_t size = 0;
  if (Status got = read_address(size); got != kDone) return got;
  if (at_tip_.count > 0) {
    TraceEvent event = at_tip_.take();
    switch (event.type) {
      case EventType::kAsyncBranch:
        consumes_ = true;
        break;
      case EventType::kControlFlow:
      case EventType::kAsyncPaging:
      case EventType::kAsyncVmcs:
      case EventType::kMode:
        break;
      default:
        return kBadContext;
    }
    note_interrupt_flag(event);
    locate(event);
    (void)publish(event);
    // The packet is there until something takes it.
    if (at_tip_.count > 0 || !consumes_) return kDone;
    consumes_ = false;
  }
  at_ += size;
  return kDone;
}

Status TraceReader::decode_tip_pge() {
  size_t size = 0;
  if (Status got = read_address(size); got != kDone) return got;
  if (!consumes_) {
    // Told before the events that wait for it.
    if (!last_address_.is_known()) return kDamagedPacket;
    TraceEvent event;
    event.type = EventType::kEnabled;
    locate(event);
    stamp(event);
    note_interrupt_flag(event);
    bit_count_ = 0;
    consumes_ = enabled_ = true;
    (void)publish(event);
  } else {
    if (at_tip_.count == 0) return kImpossible;
    TraceEvent event = at_tip_.take();
    if (event.type != EventType::kMode) return kBadContext;
    locate(event);
    (void)publish(event);
  }
  if (at_tip_.count > 0) return kDone;
  consumes_ = false;
  at_ += size;
  return kDone;
}

Status TraceReader::decode_tip_pgd() {
  size_t size = 0;
  if (Status got = read_address(size); got != kDone) return got;
  TraceEvent event;
  if (at_tip_.count > 0) {
    event = at_tip_.take();
    switch (event.type) {
      case EventType::kAsyncBranch:
        event.type = EventType::kAsyncDisabled;
        note_interrupt_flag(event);
        locate(event);
        break;
      case EventType::kControlFlow:
        event.ends_tracing = true;
        note_interrupt_flag(event);
        locate(event);
        break;
      case EventType::kAsyncPaging:
      case EventType::kAsyncVmcs:
      case EventType::kMode:
        event.has_ip = false;
        break;
      default:
        return kBadContext;
    }
  } else {
    event.type = EventType::kDisabled;
    locate(event);
    stamp(event);
  }
  (void)publish(event);
  if (at_tip_.count > 0) return kDone;
  enabled_ = false;
  at_ += size;
  return kDone;
}

Status TraceReader::decode_fup() {
  size_t size = 0;
  if (Status got = read_address(size); got != kDone) return got;
  if (at_fup_.count > 0) {
    TraceEvent event = at_fup_.take();
    if (event.type == EventType::kOverflow) {
      consumes_ = true;
      if (!last_address_.is_known()) return kNoAddress;
    } else if (!event.aborts) {
      consumes_ = true;
    }
    locate(event);
    (void)publish(event);
    if (at_fup_.count > 0 || !consumes_) return kDone;
    consumes_ = false;
  } else {
    if (!last_address_.is_known()) return kNoAddress;
    if (at_interrupt_) {
      TraceEvent* told = at_tip_.add();
      if (told == nullptr) return kImpossible;
      *told = *std::exchange(at_interrupt_, std::nullopt);
      told->is_interrupt = true;
      told->from = last_address_.value();
    }
    TraceEvent* event = at_tip_.add();
    if (event == nullptr) return kImpossible;
    event->type = EventType::kAsyncBranch;
    event->from = last_address_.value();
    stamp(*event);
  }
  at_ += size;
  return kDone;
}

Status TraceReader::decode_pip() {
  if (left() < kPipSize) return kEnd;
  uint64_t cr3 = number(2, kPipSize - 2) >> 1 << 5;
  if (at_tip_.find(EventType::kAsyncBranch) != nullptr) {
    TraceEvent* event = at_tip_.add();
    if (event == nullptr) return kImpossible;
    event->type = EventType::kAsyncPaging;
    event->value = cr3;
    stamp(*event);
  } else {
    TraceEvent event;
    event.type = EventType::kPaging;
    event.value = cr3;
    stamp(event);
    (void)publish(event);
  }
  at_ += kPipSize;
  return kDone;
}

/// Whether the next packet is a MODE.Exec packet of CLI, STI or the like: the FUP behind it tells
/// where.
bool TraceReader::tells_interrupt_flag_only() const {
  if (!traces_events_ || !enabled_) return false;
  const uint8_t* behind = at_ + kShortSize;
  while (behind != end_ && *behind == 0) ++behind;  // padding
  return behind != end_ && kind_of(*behind) == Next::kFup;
}

/// It is about an interrupt if it has no FUP of its own, and code runs.
Status TraceReader::decode_control_flow() {
  if (left() < kCfeSize) return kEnd;
  TraceEvent event;
  event.type = EventType::kControlFlow;
  event.packet = at_;
  const uint8_t* datum = std::exchange(first_datum_, nullptr);
  event.packets = datum != nullptr ? datum : at_;
  stamp(event);
  if ((at_[2] & kCfeHasIp) != 0) {
    TraceEvent* waiting = at_fup_.add();
    if (waiting == nullptr) return kImpossible;
    *waiting = event;
  } else if (enabled_) {
    at_interrupt_ = event;
  } else {
    locate(event);
    (void)publish(event);
  }
  at_ += kCfeSize;
  return kDone;
}

/// Items are read when the group that they belong to is told.
Status TraceReader::decode_block() {
  Packet packet;
  if (!block_.read_packet(rest(), packet)) return kEnd;
  const uint8_t* begin = at_;
  at_ += packet.size;
  if (next_ == Next::kBbp && group_ == nullptr) group_ = begin;
  if (next_ != Next::kBep) return kDone;
  TraceEvent event;
  event.type = EventType::kItems;
  event.packets = std::exchange(group_, nullptr);
  event.packet = begin;
  event.has_ip = false;
  stamp(event);
  if (!packet.flag) return publish(event);
  TraceEvent* waiting = at_fup_.add();
  if (waiting == nullptr) return kImpossible;
  *waiting = event;
  return kDone;
}

Status TraceReader::decode_mode() {
  if (left() < kShortSize) return kEnd;
  uint8_t mode = at_[1];
  TraceEvent event;
  stamp(event);
  if (mode >> 5 == 0) {
    bool has_place = tells_interrupt_flag_only();
    event.type = has_place ? EventType::kInterruptFlag : EventType::kMode;
    event.value = mode & 1;
    event.allows_interrupts = (mode & kModeAllowsInterrupts) != 0;
    TraceEvent* waiting = has_place ? at_fup_.add() : at_tip_.add();
    if (waiting == nullptr) return kImpossible;
    *waiting = event;
  } else if (mode >> 5 == 1) {
    event.type = EventType::kTransaction;
    event.begins = (mode & 1) != 0;
    event.aborts = (mode & 2) != 0;
    if (enabled_) {
      TraceEvent* waiting = at_fup_.add();
      if (waiting == nullptr) return kImpossible;
      *waiting = event;
    } else {
      event.has_ip = false;
      (void)publish(event);
    }
  } else {
    return kDamagedPacket;
  }
  at_ += kShortSize;
  return kDone;
}

Status TraceReader::decode_vmcs() {
  if (left() < kVmcsSize) return kEnd;
  TraceEvent event;
  event.value = number(2, kVmcsSize - 2) << 12;
  TraceEvent* paging = at_tip_.find(EventType::kAsyncPaging);
  if (paging != nullptr || at_tip_.find(EventType::kAsyncBranch) != nullptr) {
    TraceEvent* added = at_tip_.add();
    if (added == nullptr) return kImpossible;
    event.type = EventType::kAsyncVmcs;
    // It is told before the paging event that it belongs to.
    if (paging != nullptr) {
      *added = *paging;
      event.has_time = paging->has_time;
      event.time = paging->time;
      added = paging;
    }
    *added = event;
  } else {
    event.type = EventType::kVmcs;
    stamp(event);
    (void)publish(event);
  }
  at_ += kVmcsSize;
  return kDone;
}

Status TraceReader::find_overflow_address() const {
  Packet packet;
  for (const uint8_t* at = at_; at != end_; at += packet.size) {
    Bytes rest(reinterpret_cast<const std::byte*>(at), static_cast<size_t>(end_ - at));
    if (!read_packet(rest, packet)) return kDone;  // a part of one, at the end
    switch (packet.type) {
      case PacketType::kFup:
        return kReached;
      case PacketType::kPad:
      case PacketType::kMnt:
      case PacketType::kCbr:
      case PacketType::kTsc:
      case PacketType::kTma:
      case PacketType::kMtc:
      case PacketType::kEvd:
        break;
      case PacketType::kPsbEnd:
      case PacketType::kTip:
      case PacketType::kTipPgd:
      case PacketType::kTnt:
        return kBadContext;
      default:
        return kDone;
    }
  }
  return kDone;
}

Status TraceReader::decode_overflow() {
  if (at_psb_end_.count > 0) return header_event();
  TraceTime time = time_;
  reset();
  time_ = time;
  at_ += kShortSize;
  Status found = find_overflow_address();
  if (found < kDone) return found;
  TraceEvent event;
  event.type = EventType::kOverflow;
  stamp(event);
  enabled_ = found == kReached;
  if (enabled_) {
    *at_fup_.add() = event;
    return kDone;
  }
  event.has_ip = false;
  return publish(event);
}

/// What a PSB's packets say is told at its end.
Status TraceReader::header_event() {
  TraceEvent event = at_psb_end_.take();
  event.is_update = event.type != EventType::kMaintenance;
  stamp(event);
  if (event.type != EventType::kFrequency && event.type != EventType::kMaintenance) locate(event);
  return publish(event);
}

Status TraceReader::decode_psb_end() {
  if (at_psb_end_.count > 0) return header_event();
  at_ += kShortSize;
  return kDone;
}

Status TraceReader::decode_psb() {
  const uint8_t* psb = at_;
  Bytes rest(reinterpret_cast<const std::byte*>(at_), left());
  if (left() < kSyncSize) return kEnd;
  if (find_psb(rest.first(kSyncSize), 0) != 0) return kDamagedPacket;
  at_ += kSyncSize;
  Status got = read_header();
  if (got != kDone) {
    at_ = psb;
    at_psb_end_.count = 0;
    next_ = Next::kPsb;
  }
  return got;
}

Status TraceReader::read_header() {
  last_address_ = {};
  for (;;) {
    if (Status got = fetch(); got != kDone) return got;
    if (next_ == Next::kPsbEnd || next_ == Next::kOvf) return kDone;
    if (Status got = decode_header(); got != kDone) return got;
  }
}

bool TraceReader::is_before_enabling(size_t size) const {
  Packet packet;
  for (Bytes behind = rest().subspan(size); read_packet(behind, packet);
       behind = behind.subspan(packet.size)) {
    switch (packet.type) {
      case PacketType::kPad:
      case PacketType::kTsc:
      case PacketType::kTma:
      case PacketType::kMtc:
      case PacketType::kCbr:
      case PacketType::kPip:
      case PacketType::kVmcs:
      case PacketType::kModeExec:
      case PacketType::kModeTsx:
      case PacketType::kMnt:
      case PacketType::kPsbEnd:
        break;
      default:
        return packet.type == PacketType::kTipPge;
    }
  }
  return false;
}

Status TraceReader::header_address() {
  size_t size = 0;
  if (quirks_.bdm70 && !enabled_ && kAddressSizes[*at_ >> 5] < left() &&
      is_before_enabling(kAddressSizes[*at_ >> 5] + size_t{1})) {
    at_ += kAddressSizes[*at_ >> 5] + size_t{1};
    return kDone;
  }
  if (Status got = read_address(size); got != kDone) return got;
  if (size > 1) enabled_ = true;
  at_ += size;
  return kDone;
}

Status TraceReader::decode_header() {
  TraceEvent event;
  size_t size = 0;
  switch (next_) {
    case Next::kPad:
    case Next::kTsc:
    case Next::kTma:
    case Next::kMtc:
    case Next::kUnknown:
      return decode();
    case Next::kFup:
      return header_address();
    case Next::kPip:
      size = kPipSize;
      event.type = EventType::kAsyncPaging;
      if (left() >= size) event.value = number(2, kPipSize - 2) >> 1 << 5;
      break;
    case Next::kVmcs:
      size = kVmcsSize;
      event.type = EventType::kAsyncVmcs;
      if (left() >= size) event.value = number(2, kVmcsSize - 2) << 12;
      break;
    case Next::kMnt:
      size = kMntSize;
      event.type = EventType::kMaintenance;
      break;
    case Next::kCbr:
      size = kCbrSize;
      event.type = EventType::kFrequency;
      if (left() >= size && (event.value = at_[2]) == 0) return kDamagedPacket;
      break;
    case Next::kMode:
      size = kShortSize;
      if (left() < size) return kEnd;
      if (at_[1] >> 5 > 1) return kDamagedPacket;
      event.type = at_[1] >> 5 == 0 ? EventType::kMode : EventType::kTransaction;
      event.value = event.begins = (at_[1] & 1) != 0;
      if (at_[1] >> 5 == 0) event.allows_interrupts = (at_[1] & kModeAllowsInterrupts) != 0;
      event.aborts = (at_[1] & 2) != 0;
      break;
    default:
      return kBadContext;
  }
  if (left() < size) return kEnd;
  TraceEvent* waiting = at_psb_end_.add();
  if (waiting == nullptr) return kImpossible;
  *waiting = event;
  at_ += size;
  return kDone;
}

Status TraceReader::decode_time() {
  constexpr uint16_t kFastClockMask = 0x1ff;
  if (next_ == Next::kTsc) {
    if (left() < kTscSize) return kEnd;
    time_.set_tsc(number(1, kTscSize - 1));
    at_ += kTscSize;
    return kDone;
  }
  if (next_ == Next::kMtc) {
    if (left() < kShortSize) return kEnd;
    if (!time_.set_mtc(at_[1])) return kDamagedPacket;
    at_ += kShortSize;
    return kDone;
  }
  if (left() < kTmaSize) return kEnd;
  auto fast = static_cast<uint16_t>(number(5, 2));
  if ((fast & ~kFastClockMask) != 0 || at_[4] != 0) return kDamagedPacket;
  if (!time_.set_tma(static_cast<uint16_t>(number(2, 2)), fast)) return kBadContext;
  at_ += kTmaSize;
  return kDone;
}

/// A packet that is not known here. In a damaged trace any may seem to be.
Status TraceReader::skip_other() {
  Packet packet;
  if (!quirks_.resumes || !read_packet(rest(), packet)) return kUnknownPacket;
  at_ += packet.size;
  return kDone;
}

Status TraceReader::decode_other() {
  TraceEvent event;
  size_t size = 0;
  switch (next_) {
    case Next::kCbr:
      size = kCbrSize;
      event.type = EventType::kFrequency;
      if (left() >= size && (event.value = at_[2]) == 0) return kDamagedPacket;
      break;
    case Next::kStop:
      size = kShortSize;
      event.type = EventType::kStop;
      break;
    case Next::kMnt:
      size = kMntSize;
      event.type = EventType::kMaintenance;
      break;
    default:
      return skip_other();
  }
  if (left() < size) return kEnd;
  stamp(event);
  at_ += size;
  return publish(event);
}

}  // namespace sonde::pt
