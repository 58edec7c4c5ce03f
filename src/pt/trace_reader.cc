#include "pt/trace_reader.h"

#include <bit>

#include "pt/packet.h"
#include "pt/packet_bytes.h"

namespace sonde::pt {

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

TraceReader::TraceReader(Bytes trace, const TraceSetup& setup, const WalkQuirks& quirks)
    : begin_(reinterpret_cast<const uint8_t*>(trace.data())),
      end_(begin_ + trace.size()),
      time_(setup),
      last_time_(setup),
      quirks_(quirks),
      traces_events_(setup.traces_events) {}

void TraceReader::reset() {
  enabled_ = consumes_ = has_event_ = false;
  last_address_ = {};
  bit_count_ = 0;
  time_.forget();
  last_time_.forget();
  at_psb_end_.count = at_tip_.count = at_fup_.count = 0;
  at_interrupt_.reset();
  first_datum_ = group_ = nullptr;
  broken_ = kDone;
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
    case kCfeByte:
      return Next::kCfe;
    case kEvdByte:
      return Next::kEvd;
    case kBbpByte:
      return Next::kBbp;
    case kBepByte:
    case kBepWithIpByte:
      return Next::kBep;
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
    if (group_ != nullptr) [[unlikely]]
      return look_into_block();
    return kDone;
  }
  if (left() < 2 || (left() == 2 && at_[1] == kMntByte)) return kEnd;
  next_ = extended();
  if (group_ != nullptr) [[unlikely]]
    return look_into_block();
  return kDone;
}

/// Items are told from other packets by being inside of a block; some packets end it.
Status TraceReader::look_into_block() {
  Packet packet;
  bool is_packet = block_.read_packet(rest(), packet);
  if (!is_packet && next_ == Next::kShortTnt) {  // a part of an item
    at_ = end_;
    next_ = Next::kNone;
    return kEnd;
  }
  if (is_packet && packet.type == PacketType::kBip) next_ = Next::kBip;
  if (!is_packet || block_.is_inside() || packet.type == PacketType::kBep) return kDone;
  group_ = nullptr;
  ++cut_groups_;
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
    case Next::kCfe:
      return !enabled_ && left() >= kCfeSize && (at_[2] & kCfeHasIp) == 0;
    case Next::kFup:
      return at_fup_.count > 0;
    case Next::kBep:
      return at_[1] == kBepByte;
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

/// Behind an answer, which has been given whatever comes next.
Status TraceReader::look_ahead() {
  Status got = read_ahead();
  if (got == kEnd) return kDone;
  if (got == kDone || !quirks_.resumes) return got;
  broken_ = got;
  next_ = Next::kNone;
  return kDone;
}

void TraceReader::note_answer() {
  answered_ = {at_, last_address_, time_};
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
  note_answer();
  before_event_ = answered_;
  if (Status got = quirks_.resumes ? look_ahead() : read_ahead(); got != kDone) return got;
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
      if (broken_ != kDone) return broken_;
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
  note_answer();
  return look_ahead();
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
      if (broken_ != kDone) return broken_;
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
  note_answer();
  if (Status got = look_ahead(); got != kDone) return got;
  update_flags();
  return kDone;
}

Status TraceReader::event(TraceEvent& event) {
  flags_ = 0;
  if (bit_count_ > 0) return kBadQuery;
  before_event_ = answered_;
  for (;;) {
    if (next_ == Next::kNone) {
      if (broken_ != kDone) return broken_;
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
  note_answer();
  if (Status got = look_ahead(); got != kDone) return got;
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
  uint64_t payload = next_ == Next::kShortTnt ? *at_ >> 1 : packet_number(at_, kLongTntSize) >> 16;
  if (payload < 2) return false;
  bit_count_ = static_cast<unsigned>(std::bit_width(payload) - 1);
  bits_ = payload << (64 - bit_count_);
  at_ = answered_.at = behind;
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
      left() > 8 ? packet_number(at_ + 1, 8) & (~uint64_t{0} >> (64 - 8 * size)) : number(1, size);
  (void)last_address_.update(form, payload);
  target = last_address_.value();
  answered_.address = last_address_;
  at_ = answered_.at = behind;
  next_ = next;
  return true;
}

}  // namespace sonde::pt
