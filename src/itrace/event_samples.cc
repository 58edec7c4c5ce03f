#include "itrace/event_samples.h"

#include <algorithm>

#include "pt/packet.h"

namespace sonde::itrace {
namespace {

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;

struct PsbFacts {
  uint64_t tsc = 0, ip = 0;
};

/// What is between a PSB and its PSBEND.
PsbFacts read_psb(Bytes trace, size_t at) {
  constexpr size_t kMostBytes = 512;
  trace = trace.first(std::min(trace.size(), at + kMostBytes));
  PsbFacts facts;
  pt::Packet packet;
  for (; at < trace.size() && pt::read_packet(trace.subspan(at), packet); at += packet.size) {
    if (packet.type == pt::PacketType::kPsbEnd || packet.type == pt::PacketType::kOvf) break;
    if (packet.type == pt::PacketType::kTsc) facts.tsc = packet.payload;
    // The first address after a PSB is not compressed; 6 bytes are sign-extended.
    if (packet.type == pt::PacketType::kFup && packet.count != 0)
      facts.ip = packet.count == 6
                     ? static_cast<uint64_t>(static_cast<int64_t>(packet.payload << 16) >> 16)
                     : packet.payload;
  }
  return facts;
}

}  // namespace

std::vector<TraceEventKind> wanted_trace_events(const ItraceOptions& options) {
  using enum TraceEventKind;
  std::vector<TraceEventKind> kinds;
  if (options.ptwrites) kinds.push_back(kPtWrite);
  if (options.power) kinds.insert(kinds.end(), {kCbr, kPsb, kMwait, kPwre, kExStop, kPwrx});
  if (options.interrupts) kinds.insert(kinds.end(), {kEvt, kInterruptFlag});
  return kinds;
}

const char* name_of(TraceEventKind kind) {
  constexpr std::array<const char*, kTraceEventKinds> kNames = {
      "ptwrite", "mwait", "pwre", "exstop", "pwrx", "cbr", "psb", "evt", "iflag"};
  return kNames[static_cast<size_t>(kind)];
}

EventSamples::EventSamples(const TraceEventIds& events, const TraceInput& input, Put put)
    : events_(events),
      put_(std::move(put)),
      tells_ptwrite_ip_(input.tells_ptwrite_ip),
      base_ratio_(base_ratio(input)) {
  uint64_t tsc_Hz = input.clock.to_ticks(kNanosecondsPerSecond);
  kilohertz_per_ratio_ = base_ratio_ == 0 ? 0 : tsc_Hz / base_ratio_ / 1000;
}

void EventSamples::ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now) {
  take(TraceEventKind::kPtWrite, {tells_ptwrite_ip_ ? 1u : 0u, value}, ip, now);
}

void EventSamples::power(const pt::PowerEvent& event, std::optional<uint64_t> ip, uint64_t now) {
  switch (event.kind) {
    case pt::PowerEvent::Kind::kMwait:
      // What it led to has no address of its own, and was told while this one's was waited for.
      if (ip && waiting_.size() == 1 && waiting_.front().kind == TraceEventKind::kPwre) {
        put(TraceEventKind::kMwait, {0, event.payload}, *ip, now);
        return put_waiting(*ip);
      }
      return take(TraceEventKind::kMwait, {0, event.payload}, ip, now);
    case pt::PowerEvent::Kind::kPwre:
      return take(TraceEventKind::kPwre, {0, event.payload}, ip, now);
    case pt::PowerEvent::Kind::kExStop:
      return take(TraceEventKind::kExStop, {ip ? 1u : 0u, 0}, ip, now);
    case pt::PowerEvent::Kind::kPwrx:
      return take(TraceEventKind::kPwrx, {0, event.payload}, ip, now);
  }
}

void EventSamples::core_frequency(uint32_t ratio, uint64_t now) {
  if (ratio_ == ratio) return;
  ratio_ = ratio;
  // The frequency is a 32-bit number.
  uint64_t kilohertz = (ratio * kilohertz_per_ratio_) & UINT32_MAX;
  take(TraceEventKind::kCbr, {(ratio & 0xff) | (base_ratio_ & 0xff) << 16, kilohertz}, {}, now);
}

void EventSamples::psbs(Bytes trace, uint64_t offset) {
  if (!events_[static_cast<size_t>(TraceEventKind::kPsb)].valid()) return;
  uint64_t tsc = 0;
  constexpr size_t kPsbSize = 16;
  for (size_t at = pt::find_psb(trace, 0); at < trace.size();
       at = pt::find_psb(trace, std::min(trace.size(), at + kPsbSize))) {
    PsbFacts facts = read_psb(trace, at);
    if (facts.tsc != 0) tsc = facts.tsc;
    put(TraceEventKind::kPsb, {0, offset + at}, facts.ip, tsc);
  }
}

void EventSamples::put_waiting(uint64_t ip) {
  for (const Waiting& one : waiting_) put(one.kind, one.data, ip, one.now);
  waiting_.clear();
}

void EventSamples::take(TraceEventKind kind, const TraceEventData& data, std::optional<uint64_t> ip,
                        uint64_t now) {
  if (!events_[static_cast<size_t>(kind)].valid()) return;
  if (!ip) return waiting_.push_back({kind, data, now});
  goes_on(*ip);
  put(kind, data, *ip, now);
}

void EventSamples::put(TraceEventKind kind, const TraceEventData& data, uint64_t ip, uint64_t now) {
  raw_.clear();
  append_trace_event(kind, data, raw_);
  put_(events_[static_cast<size_t>(kind)], ip, raw_.view(), now);
}

}  // namespace sonde::itrace
