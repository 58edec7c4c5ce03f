#include "pt/cycle_packets.h"

#include <algorithm>

#include "pt/packet.h"

namespace sonde::pt {

void CyclePackets::begin(uint64_t offset) {
  at_ = offset;
  bits_ = 0;
  waiting_.clear();
}

void CyclePackets::ran(const Instruction& last, uint64_t offset) {
  read_to(offset);
  bool may_take_bit =
      last.kind == InstructionKind::kConditional || last.kind == InstructionKind::kReturn;
  // Returns have a TIP packet of their own if there is no bit for them.
  if (!may_take_bit || bits_ == 0) return;
  --bits_;
  for (Waiting& one : waiting_)
    if (one.bits > 0) --one.bits;
}

uint64_t CyclePackets::due(uint64_t offset) {
  read_to(offset);
  uint64_t cycles = 0;
  for (; !waiting_.empty() && waiting_.front().bits == 0; waiting_.pop_front())
    cycles += waiting_.front().cycles;
  return cycles;
}

void CyclePackets::read_to(uint64_t offset) {
  offset = std::min<uint64_t>(offset, trace_.size());
  Packet packet;
  while (at_ < offset) {
    // What is no packet here is one to libipt: nothing is known of it but where it ends.
    if (!read_packet(trace_.subspan(at_), packet)) {
      at_ = offset;
      return;
    }
    at_ += packet.size;
    if (packet.type == PacketType::kTnt) bits_ += packet.count;
    if (packet.type != PacketType::kCyc) continue;
    if (waiting_.empty() || waiting_.back().bits != bits_) waiting_.push_back({bits_, 0});
    waiting_.back().cycles += packet.payload;
  }
}

}  // namespace sonde::pt
