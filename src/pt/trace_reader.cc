#include "pt/trace_reader.h"

#include <bit>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "pt/packet.h"

namespace sonde::pt {
namespace {

// First bytes of packets, and second ones of those that begin with kExtended.
constexpr uint8_t kExtended = 0x02, kModeByte = 0x99, kTscByte = 0x19, kMtcByte = 0x59;
constexpr uint8_t kPsbByte = 0x82, kPsbEndByte = 0x23, kOvfByte = 0xf3, kStopByte = 0x83,
                  kCbrByte = 0x03, kPipByte = 0x43, kLongTntByte = 0xa3, kVmcsByte = 0xc8,
                  kTmaByte = 0x73, kMntByte = 0xc3, kMntThirdByte = 0x88;
constexpr size_t kSyncSize = 16, kLongTntSize = 8, kCbrSize = 4, kPipSize = 8, kVmcsSize = 7,
                 kTmaSize = 7, kMntSize = 11, kTscSize = 8, kShortSize = 2;
/// Bytes of the address by a packet's form; 0xff: there is no such form.
constexpr std::array<uint8_t, 8> kAddressSizes = {0, 2, 4, 6, 6, 0xff, 8, 0xff};

uint64_t load(const uint8_t* from, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, from, size);  // packets are little-endian, and so is all that has libipt
  return value;
}

}  // namespace

TraceEvent* TraceReader::Waiting::add() {
  if (count == kMost) return nullptr;
  events[count] = {};
  return &events[count++];
}

TraceEvent TraceReader::Waiting::take() {
  TraceEvent first = events[0];
  --count;
  for (size_t i = 0; i < count; ++i) events[i] = events[i + 1];
  return first;
}

TraceEvent* TraceReader::Waiting::find(EventType type) {
  for (size_t i = 0; i < count; ++i)
    if (events[i].type == type) return &events[i];
  return nullptr;
}

TraceReader::TraceReader(Bytes trace, const TraceSetup& setup)
    : begin_(reinterpret_cast<const uint8_t*>(trace.data())),
      end_(begin_ + trace.size()),
      time_(setup),
      last_time_(setup) {}

uint64_t TraceReader::number(size_t offset, size_t size) const {
  return load(at_ + offset, size);
}

void TraceReader::reset() {
  enabled_ = consumes_ = has_event_ = false;
  last_address_ = {};
  bit_count_ = 0;
  time_.forget();
  last_time_.forget();
  at_psb_end_.count = at_tip_.count = at_fup_.count = 0;
}

TraceReader::Next TraceReader::kind_of(uint8_t first) {
  static constexpr std::array<Next, 256> kKinds = [] {
    std::array<Next, 256> kinds{};
    kinds.fill(Next::kUnknown);
    for (size_t form = 0; form < 8; ++form) {
      kinds[form << 5 | 0x0d] = Next::kTip;
      kinds[form << 5 | 0x1d] = Next::kFup;
      kinds[form << 5 | 0x11] = Next::kTipPge;
      kinds[form << 5 | 0x01] = Next::kTipPgd;
    }
    for (size_t even = 0; even < kinds.size(); even += 2) kinds[even] = Next::kShortTnt;
    kinds[0] = Next::kPad;
    kinds[kExtended] = Next::kUnknown;  // by its second byte
    kinds[kModeByte] = Next::kMode;
    kinds[kTscByte] = Next::kTsc;
    kinds[kMtcByte] = Next::kMtc;
    return kinds;
  }();
  return kKinds[first];
}

TraceReader::Next TraceReader::extended() const {
  switch (at_[1]) {
    case kPsbByte:
      return Next::kPsb;
    case kPsbEndByte:
      return Next::kPsbEnd;
    case kOvfByte:
      return Next::kOvf;
    case kStopByte:
      return Next::kStop;
    case kCbrByte:
      return Next::kCbr;
    case kPipByte:
      return Next::kPip;
    case kLongTntByte:
      return Next::kLongTnt;
    case kVmcsByte:
      return Next::kVmcs;
    case kTmaByte:
      return Next::kTma;
    case kMntByte:
      return left() > 2 && at_[2] == kMntThirdByte ? Next::kMnt : Next::kUnknown;
    default:
      return Next::kUnknown;
  }
}

/// Says what the next packet is, by its first bytes.
Status TraceReader::fetch() {
  next_ = Next::kNone;
  if (at_ == end_) return kEnd;
  if (*at_ != kExtended) {
    next_ = kind_of(*at_);
    return kDone;
  }
  if (left() < 2 || (left() == 2 && at_[1] == kMntByte)) return kEnd;
  next_ = extended();
  return kDone;
}

/// Whether decoding the next packet makes an event.
bool TraceReader::is_event() const {
  switch (next_) {
    case Next::kTipPge:
    case Next::kTipPgd:
    case Next::kPip:
    case Next::kMode:
    case Next::kStop:
    case Next::kCbr:
    case Next::kVmcs:
    case Next::kOvf:
    case Next::kMnt:
      return true;
    case Next::kPsbEnd:
      return at_psb_end_.count > 0;
    case Next::kTip:
      return at_tip_.count > 0;
    case Next::kFup:
      return at_fup_.count > 0;
    default:
      return false;
  }
}

Status TraceReader::read_ahead() {
  for (;;) {
    if (Status got = fetch(); got != kDone) return got;
    if (is_branch() || is_event()) return kDone;
    if (Status got = decode(); got != kDone) {
      if (got == kEnd) {
        at_ = end_;
        next_ = Next::kNone;
      }
      return got;
    }
  }
}

void TraceReader::update_flags() {
  flags_ &= kTargetHidden;
  if (bit_count_ > 0) return;
  if (is_event()) flags_ |= kEventPending;
  if (next_ == Next::kNone && at_ == end_) flags_ |= kTraceEnds;
  // A packet of which only the first byte is there.
  if (next_ == Next::kNone && at_ != end_ && *at_ == kExtended && left() <= 2) flags_ |= kTraceEnds;
}

Status TraceReader::synchronize(uint64_t& ip) {
  if (at_ == nullptr) at_ = begin_;
  if (at_ == sync_) at_ += kSyncSize;
  Bytes all(reinterpret_cast<const std::byte*>(begin_), static_cast<size_t>(end_ - begin_));
  const uint8_t* found = begin_ + find_psb(all, static_cast<size_t>(at_ - begin_));
  if (found == end_) return kEnd;
  // Of several, the last one.
  while (end_ - found >= static_cast<ptrdiff_t>(kSyncSize) + 2 && found[kSyncSize] == kExtended &&
         found[kSyncSize + 1] == kPsbByte)
    found += 2;
  sync_ = at_ = found;
  reset();
  flags_ = 0;
  if (Status got = fetch(); got != kDone) return got;
  if (Status got = decode_psb(); got != kDone) return got;
  bool is_known = last_address_.is_known();
  ip = last_address_.value();
  if (Status got = read_ahead(); got != kDone) return got;
  // A PSB right behind this one may have it.
  if (!is_known) {
    ip = last_address_.value();
    if (!last_address_.is_known()) flags_ |= kTargetHidden;
  }
  update_flags();
  return kDone;
}

Status TraceReader::cache_bits() {
  for (;;) {
    if (next_ == Next::kNone) {
      Status got = fetch();
      return got == kDone ? kImpossible : got;
    }
    if (is_event() || next_ == Next::kTip) return kBadQuery;
    bool is_last = is_tnt(next_);
    has_event_ = false;
    if (Status got = decode(); got != kDone) return got;
    if (has_event_) return kImpossible;
    if (is_last) break;
    if (Status got = read_ahead(); got != kDone) return got;
  }
  last_time_ = time_;
  Status got = read_ahead();
  return got == kEnd ? kDone : got;
}

Status TraceReader::conditional(bool& taken) {
  flags_ = 0;
  if (bit_count_ == 0)
    if (Status got = cache_bits(); got != kDone) return got;
  taken = take_bit();
  update_flags();
  return kDone;
}

Status TraceReader::indirect(uint64_t& target) {
  flags_ = 0;
  for (;;) {
    if (next_ == Next::kNone) {
      Status got = fetch();
      return got == kDone ? kImpossible : got;
    }
    if (is_event() || (is_tnt(next_) && bit_count_ > 0)) return kBadQuery;
    bool is_last = next_ == Next::kTip;
    has_event_ = false;
    if (Status got = decode(); got != kDone) return got;
    if (has_event_) return kImpossible;
    if (is_last) break;
    if (Status got = read_ahead(); got != kDone) return got;
  }
  if (last_address_.is_known())
    target = last_address_.value();
  else
    flags_ |= kTargetHidden;
  last_time_ = time_;
  if (Status got = read_ahead(); got != kDone && got != kEnd) return got;
  update_flags();
  return kDone;
}

Status TraceReader::event(TraceEvent& event) {
  flags_ = 0;
  if (bit_count_ > 0) return kBadQuery;
  for (;;) {
    if (next_ == Next::kNone) {
      Status got = fetch();
      return got == kDone ? kImpossible : got;
    }
    if (is_branch() && !is_event()) return kBadQuery;
    has_event_ = false;
    if (Status got = decode(); got != kDone) return got;
    if (has_event_) break;
    if (Status got = read_ahead(); got != kDone) return got;
  }
  event = event_;
  last_time_ = time_;
  if (Status got = read_ahead(); got != kDone && got != kEnd) return got;
  update_flags();
  return kDone;
}

bool TraceReader::load_bits() {
  if (!is_tnt(next_) || at_tip_.count > 0 || time_.value() != last_time_.value() ||
      time_.has_value() != last_time_.has_value())
    return false;
  size_t size = next_ == Next::kShortTnt ? 1 : kLongTntSize;
  if (left() < size + 2) return false;
  const uint8_t* behind = at_ + size;
  Next next = *behind == kExtended && behind[1] == kLongTntByte ? Next::kLongTnt : kind_of(*behind);
  if (next != Next::kTip && !is_tnt(next)) return false;
  // Eight bytes are the size of a long packet, whose bits are the upper six.
  uint64_t payload = next_ == Next::kShortTnt ? *at_ >> 1 : load(at_, kLongTntSize) >> 16;
  if (payload < 2) return false;
  bit_count_ = static_cast<unsigned>(std::bit_width(payload) - 1);
  bits_ = payload << (64 - bit_count_);
  at_ = behind;
  next_ = next;
  return true;
}

bool TraceReader::take_target(uint64_t& target) {
  if (next_ != Next::kTip || bit_count_ > 0 || at_tip_.count > 0 ||
      time_.value() != last_time_.value() || time_.has_value() != last_time_.has_value())
    return false;
  uint8_t form = *at_ >> 5, size = kAddressSizes[form];
  if (form == 0 || size == 0xff || left() < size + 3u) return false;
  const uint8_t* behind = at_ + size + 1;
  Next next = *behind == kExtended && behind[1] == kLongTntByte ? Next::kLongTnt : kind_of(*behind);
  if (next != Next::kTip && !is_tnt(next)) return false;
  // Eight bytes can be read at once, but near the end.
  uint64_t payload =
      left() > 8 ? load(at_ + 1, 8) & (~uint64_t{0} >> (64 - 8 * size)) : number(1, size);
  (void)last_address_.update(form, payload);
  target = last_address_.value();
  at_ = behind;
  next_ = next;
  return true;
}

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
      case EventType::kAsyncPaging:
      case EventType::kAsyncVmcs:
      case EventType::kMode:
        break;
      default:
        return kBadContext;
    }
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

Status TraceReader::decode_mode() {
  if (left() < kShortSize) return kEnd;
  uint8_t mode = at_[1];
  TraceEvent event;
  stamp(event);
  if (mode >> 5 == 0) {
    event.type = EventType::kMode;
    event.value = mode & 1;
    TraceEvent* waiting = at_tip_.add();
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

Status TraceReader::header_address() {
  size_t size = 0;
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
      return kUnknownPacket;
  }
  if (left() < size) return kEnd;
  stamp(event);
  at_ += size;
  return publish(event);
}

namespace {

/// 16-bit code is libipt's.
bool is_readable_mode(uint8_t mode) {
  constexpr uint8_t kWidth = 3, k64Bit = 1, k32Bit = 2;
  if (mode >> 5 != 0) return mode >> 5 == 1;
  return (mode & kWidth) == k64Bit || (mode & kWidth) == k32Bit;
}

/// The size of a packet that its second byte tells.
size_t size_of_extended(const uint8_t* at, size_t left) {
  if (left < 2) return kShortSize;
  switch (at[1]) {
    case kLongTntByte:
      return kLongTntSize;
    case kPsbByte:
      return kSyncSize;
    case kPsbEndByte:
    case kOvfByte:
    case kStopByte:
      return kShortSize;
    case kCbrByte:
      return kCbrSize;
    case kPipByte:
      return kPipSize;
    case kVmcsByte:
      return kVmcsSize;
    case kTmaByte:
      return kTmaSize;
    case kMntByte:
      return left < 3 || at[2] == kMntThirdByte ? kMntSize : 0;
    default:
      return 0;
  }
}

/// Sizes of packets by their first byte; 0: more has to be looked at, or there is no such packet.
constexpr std::array<uint8_t, 256> kPacketSizes = [] {
  std::array<uint8_t, 256> sizes{};
  for (size_t even = 0; even < sizes.size(); even += 2) sizes[even] = 1;
  for (size_t form = 0; form < kAddressSizes.size(); ++form)
    for (size_t kind : {0x0du, 0x1du, 0x11u, 0x01u})
      if (kAddressSizes[form] != 0xff)
        sizes[form << 5 | kind] = static_cast<uint8_t>(kAddressSizes[form] + 1);
  sizes[kTscByte] = kTscSize;
  sizes[kMtcByte] = kShortSize;
  sizes[kExtended] = sizes[kModeByte] = 0;
  return sizes;
}();

/// The size of a packet that TraceReader knows; 0: it is not one.
size_t readable_size(const uint8_t* at, size_t left) {
  if (size_t size = kPacketSizes[*at]; size > 0) return size;
  if (*at == kExtended) return size_of_extended(at, left);
  return *at == kModeByte && (left < 2 || is_readable_mode(at[1])) ? kShortSize : 0;
}

/// Looks at packets from one PSB on, to another one or the end.
TraceContents look_at_packets(Bytes trace, size_t from, size_t to) {
  TraceContents contents;
  const auto* bytes = reinterpret_cast<const uint8_t*>(trace.data());
  size_t at = from;
  while (at < to && contents.is_readable) {
    size_t left = trace.size() - at;
    size_t size = readable_size(bytes + at, left);
    contents.is_readable = size > 0;
    if (size == kShortSize && left >= size) {
      contents.has_overflows |= bytes[at] == kExtended && bytes[at + 1] == kOvfByte;
      contents.has_transactions |= bytes[at] == kModeByte && bytes[at + 1] >> 5 == 1;
    }
    at += size;
  }
  // A PSB inside of a packet is none, and what was seen from there on means nothing.
  contents.is_readable &= at == to || to == trace.size();
  return contents;
}

}  // namespace

TraceContents look_through(Bytes trace, const TraceSetup& setup) {
  constexpr size_t kPart = size_t{4} << 20;
  std::vector<size_t> parts = {find_psb(trace, 0)};
  while (trace.size() - parts.back() > kPart)
    parts.push_back(find_psb(trace, parts.back() + kPart));
  if (parts.back() != trace.size()) parts.push_back(trace.size());
  std::vector<TraceContents> found(parts.size() - 1);
  parallel_jobs(found.size(),
                [&](size_t i) { found[i] = look_at_packets(trace, parts[i], parts[i + 1]); });
  TraceContents all;
  all.is_readable = setup.mtc_period < TraceTime::kTmaBits;
  for (const TraceContents& part : found) {
    all.is_readable &= part.is_readable;
    all.has_overflows |= part.has_overflows;
    all.has_transactions |= part.has_transactions;
  }
  return all;
}

}  // namespace sonde::pt
