#include "pt/quick_flow.h"

#include <algorithm>

#include "pt/packet.h"

namespace sonde::pt {
namespace {

/// Times of MTC packets: the bits of the crystal's clock above the period, from a TMA on.
class QuickClock {
 public:
  explicit QuickClock(const TraceSetup& setup) : setup_(setup) {}
  [[nodiscard]] uint64_t now() const { return now_; }

  void tsc(uint64_t tsc) {
    now_ = tsc;
    has_base_ = false;
  }
  void tma(const Packet& packet) {
    has_base_ = setup_.crystal_denominator != 0;
    base_ = now_ - packet.payload2;
    base_ticks_ = packet.payload;
    periods_ = base_ticks_ >> setup_.mtc_period;
  }
  void mtc(uint64_t low_bits) {
    if (!has_base_) return;
    periods_ += (low_bits - periods_) & 0xff;
    uint64_t ticks = (periods_ << setup_.mtc_period) - base_ticks_;
    uint64_t tsc = base_ + ticks * setup_.crystal_numerator / setup_.crystal_denominator;
    if (static_cast<int64_t>(ticks) > 0) now_ = std::max(now_, tsc);
  }

 private:
  const TraceSetup& setup_;
  uint64_t now_ = 0, base_ = 0, base_ticks_ = 0, periods_ = 0;
  bool has_base_ = false;
};

class QuickFollower {
 public:
  QuickFollower(Bytes trace, const TraceSetup& setup, QuickDetail detail, FlowObserver& observer)
      : trace_(trace),
        detail_(detail),
        observer_(observer),
        watches_packets_(observer.watches_packets()),
        clock_(setup) {}

  void run() {
    read_packets();
    if (cut_groups_ > 0) observer_.items_cut(cut_groups_);
  }

 private:
  void read_packets() {
    size_t at = find_psb(trace_, 0);
    while (at < trace_.size()) {
      Packet packet;
      if (!block_.read_packet(trace_.subspan(at), packet)) {
        // The last packet may be cut off.
        size_t next = find_psb(trace_, at);
        if (next < trace_.size()) observer_.lost(FlowError::kBadPacket, ip_, clock_.now());
        at = next;
        continue;
      }
      if (watches_packets_) observer_.packets_read(at + packet.size);
      if (detail_ == QuickDetail::kAddresses || in_psb_ || packet.type == PacketType::kPsb)
        take(packet, at);
      at += packet.size;
      if (detail_ == QuickDetail::kPsbs && !in_psb_) at = find_psb(trace_, at);
    }
  }

  /// What waits for the FUP that has its address.
  enum class Wait : uint8_t { kNothing, kPtWrite, kPower, kTransaction, kOverflow, kItems };

  /// False if the packet has no address.
  bool read_ip(const Packet& packet, size_t at) {
    if (packet.count == 0) return false;
    constexpr unsigned kSignExtended = 3;
    unsigned form = std::to_integer<unsigned>(trace_[at]) >> 5;
    if (form == kSignExtended) {
      ip_ = static_cast<uint64_t>(static_cast<int64_t>(packet.payload << 16) >> 16);
    } else {
      uint64_t kept = packet.count >= 8 ? 0 : ~uint64_t{0} << (8 * packet.count);
      ip_ = (ip_ & kept) | packet.payload;
    }
    return true;
  }

  void pass(uint64_t ip) {
    Instruction place;
    place.ip = ip;
    observer_.instruction(place, clock_.now());
  }

  void take(const Packet& packet, size_t at) {
    if (group_ && !block_.is_inside() && packet.type != PacketType::kBep) {
      group_.reset();
      ++cut_groups_;
    }
    switch (packet.type) {
      case PacketType::kPsb:
        in_psb_ = true;
        ip_ = 0;
        return;
      case PacketType::kPsbEnd:
        in_psb_ = false;
        return;
      case PacketType::kTsc:
        return clock_.tsc(packet.payload);
      case PacketType::kTma:
        return clock_.tma(packet);
      case PacketType::kMtc:
        return clock_.mtc(packet.payload);
      case PacketType::kCbr:
        return observer_.core_frequency(static_cast<uint32_t>(packet.payload & 0xff), clock_.now());
      case PacketType::kFup:
        if (read_ip(packet, at)) take_fup();
        return;
      case PacketType::kTip:
      case PacketType::kTipPge:
      case PacketType::kTipPgd:
        return take_tip(packet, at);
      case PacketType::kOvf:
        in_psb_ = false;
        interrupted_.reset();
        observer_.lost(FlowError::kOverflow, ip_, clock_.now());
        wait_ = Wait::kOverflow;
        return;
      default:
        if (!in_psb_) take_event(packet, at);
    }
  }

  void take_event(const Packet& packet, size_t at) {
    using Kind = PowerEvent::Kind;
    auto power = [&](Kind kind) { observer_.power({kind, packet.payload}, {}, clock_.now()); };
    switch (packet.type) {
      case PacketType::kPtWrite:
        if (!packet.flag) return observer_.ptwrite(ip_, packet.payload, clock_.now());
        wait_ = Wait::kPtWrite;
        value_ = packet.payload;
        return;
      case PacketType::kModeTsx:
        wait_ = Wait::kTransaction;
        value_ = packet.payload;
        return;
      case PacketType::kMwait:
        return observer_.power({Kind::kMwait, packet.payload | packet.payload2 << 32}, {},
                               clock_.now());
      case PacketType::kExStop:
        if (!packet.flag) return power(Kind::kExStop);
        wait_ = Wait::kPower;
        return;
      case PacketType::kPwre:
        return power(Kind::kPwre);
      case PacketType::kPwrx:
        return power(Kind::kPwrx);
      case PacketType::kBbp:
        if (!group_) group_ = at;
        return;
      case PacketType::kBep:
        return take_items(packet, at);
      default:
        return;
    }
  }

  void take_items(const Packet& end, size_t at) {
    if (end.flag) wait_ = Wait::kItems;
    has_items_ = group_.has_value();
    if (!group_) return;
    items_.read(trace_.subspan(*group_, at - *group_));
    group_.reset();
    if (!end.flag) observer_.items(items_, {}, clock_.now());
  }

  void take_fup() {
    if (in_psb_) return pass(ip_);
    constexpr uint64_t kBegins = 1, kAborted = 2;
    switch (std::exchange(wait_, Wait::kNothing)) {
      case Wait::kPtWrite:
        observer_.ptwrite(ip_, value_, clock_.now());
        return pass(ip_);
      case Wait::kPower:
        observer_.power({PowerEvent::Kind::kExStop, 0}, ip_, clock_.now());
        return pass(ip_);
      case Wait::kTransaction:
        observer_.transaction((value_ & kBegins) != 0, (value_ & kAborted) != 0, ip_, clock_.now());
        // An abort goes elsewhere.
        if ((value_ & kAborted) != 0)
          interrupted_ = ip_;
        else
          pass(ip_);
        return;
      case Wait::kOverflow:
        observer_.enabled(ip_, clock_.now());
        return pass(ip_);
      case Wait::kItems:
        if (has_items_) observer_.items(items_, ip_, clock_.now());
        return pass(ip_);
      case Wait::kNothing:
        interrupted_ = ip_;
        return;
    }
  }

  void take_tip(const Packet& packet, size_t at) {
    bool has_ip = read_ip(packet, at);
    std::optional<uint64_t> from = std::exchange(interrupted_, std::nullopt);
    std::optional<uint64_t> to;
    if (has_ip) to = ip_;
    wait_ = Wait::kNothing;
    bool ends = packet.type == PacketType::kTipPgd;
    if (from) {
      pass(*from);
      if (ends)
        observer_.disabled(from, to, clock_.now());
      else
        observer_.interrupted(*from, to, clock_.now());
    } else if (packet.type == PacketType::kTipPge && has_ip) {
      observer_.enabled(ip_, clock_.now());
    }
    // Which branch ended tracing is not known without the code.
    if (has_ip && (from || !ends)) pass(ip_);
  }

  Bytes trace_;
  QuickDetail detail_;
  FlowObserver& observer_;
  bool watches_packets_;
  QuickClock clock_;
  bool in_psb_ = false;
  Wait wait_ = Wait::kNothing;
  uint64_t ip_ = 0;  // the latest; addresses are compressed against it
  uint64_t value_ = 0;
  ItemBlock block_;
  std::optional<size_t> group_;  // where the group of blocks begins that is being read
  BlockItems items_;             // of the latest one
  bool has_items_ = false;
  uint64_t cut_groups_ = 0;
  std::optional<uint64_t> interrupted_;  // the address of a FUP that a TIP follows
};

}  // namespace

void follow_quickly(Bytes trace, const TraceSetup& setup, QuickDetail detail,
                    FlowObserver& observer) {
  QuickFollower(trace, setup, detail, observer).run();
}

}  // namespace sonde::pt
