// Traces for tests of walks: of random packets, and of simulated runs through walked_program.h.
#pragma once

#include "pt/trace_builder.h"

#if __has_include(<intel-pt.h>)

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pt/instruction_decoder.h"
#include "pt/walked_program.h"

namespace sonde::pt {

/// Traces of random packets, most of which make sense here and there.
class RandomTrace {
 public:
  explicit RandomTrace(uint32_t seed) : random_(seed) {}

  Bytes make() {
    size_t packets = pick(60);
    begin();
    for (size_t i = 0; i < packets; ++i) add();
    return trace_.view();
  }

 private:
  size_t pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }
  uint64_t place() {
    if (pick(40) == 0) return kProgramStart + pick(0x80);  // anywhere, or nowhere
    return kProgramStart + kInstructions[pick(kInstructions.size())];
  }
  void address(pt_packet_type type, uint64_t ip) {
    pt_packet packet{};
    packet.type = type;
    constexpr pt_ip_compression kForms[] = {pt_ipc_sext_48, pt_ipc_update_16, pt_ipc_update_32,
                                            pt_ipc_update_48, pt_ipc_full};
    packet.payload.ip.ipc = pick(4) != 0 ? pt_ipc_sext_48 : kForms[pick(5)];
    packet.payload.ip.ip = ip;
    trace_.put(packet);
  }
  void hidden(pt_packet_type type) {
    pt_packet packet{};
    packet.type = type;
    packet.payload.ip.ipc = pt_ipc_suppressed;
    trace_.put(packet);
  }
  void time() {
    now_ += pick(40);
    trace_.time(now_);
  }
  void begin() {
    pt_packet packet{};
    packet.type = ppt_psb;
    trace_.put(packet);
    if (pick(5) != 0) mode();
    if (pick(3) != 0) time();
    if (pick(3) == 0) state();
    if (pick(2) == 0) address(ppt_fup, place());
    if (pick(30) == 0) return;
    packet = {};
    packet.type = ppt_psbend;
    trace_.put(packet);
  }
  void mode() {
    pt_packet packet{};
    packet.type = ppt_mode;
    packet.payload.mode.leaf = pt_mol_exec;
    packet.payload.mode.bits.exec = pt_set_exec_mode(pick(30) != 0 ? ptem_64bit : ptem_32bit);
    trace_.put(packet);
  }
  void bits() {
    std::string bits;
    size_t count = pick(3) == 0 ? 1 + pick(47) : 1 + pick(6);
    for (size_t i = 0; i < count; ++i) bits += pick(3) != 0 ? 'T' : 'N';
    trace_.branches(bits);
  }
  /// What may also be in a PSB's header.
  void state() {
    pt_packet packet{};
    switch (pick(6)) {
      case 0:
        packet.type = ppt_pip;
        packet.payload.pip.cr3 = 0x1000;
        break;
      case 1:
        packet.type = ppt_vmcs;
        packet.payload.vmcs.base = 0x5000;
        break;
      case 2:
        packet.type = ppt_cbr;
        packet.payload.cbr.ratio = static_cast<uint8_t>(pick(10));
        break;
      case 3:
        packet.type = ppt_mtc;
        packet.payload.mtc.ctc = ++clock_;
        break;
      case 4:
        packet.type = ppt_tma;
        packet.payload.tma.ctc = uint16_t{clock_};
        packet.payload.tma.fc = 3;
        break;
      default:
        return trace_.transaction(pick(2) == 0, pick(3) == 0);
    }
    trace_.put(packet);
  }
  void add() {
    pt_packet packet{};
    switch (pick(20)) {
      case 0:
        return begin();
      case 1:
        return time();
      case 2:
        return state();
      case 3:
        return address(ppt_fup, place());
      case 4:
        return mode();
      case 5:
        return pick(3) == 0 ? trace_.overflow() : trace_.pad();
      case 6:
        return hidden(pick(2) == 0 ? ppt_tip_pgd : ppt_tip);
      case 7:
        return address(ppt_tip_pgd, place());
      case 8:
      case 9:
        return address(ppt_tip_pge, place());
      case 10:
        address(ppt_fup, place());
        return pick(2) == 0 ? address(ppt_tip, place()) : address(ppt_tip_pgd, place());
      case 11:
        packet.type = pick(3) == 0 ? ppt_stop : ppt_mnt;
        return trace_.put(packet);
      case 12:
        trace_.transaction(pick(2) == 0, pick(3) == 0);
        return address(ppt_fup, place());
      case 13:
      case 14:
      case 15:
        return address(ppt_tip, place());
      default:
        return bits();
    }
  }

  std::mt19937 random_;
  TraceBuilder trace_;
  uint64_t now_ = 1000;
  uint8_t clock_ = 0;
};

/// The trace of a run through the program, as a processor could write it: with bits gathered, TIP
/// packets deferred behind them, compressed returns, interrupts, synchronisations anywhere.
class SimulatedRun {
 public:
  explicit SimulatedRun(uint32_t seed) : random_(seed), compresses_(seed % 2 != 0) {}

  Bytes make(size_t steps) {
    synchronize(false);
    mode();
    turn_on();
    for (size_t i = 0; i < steps; ++i) {
      if (pick(25) == 0) happen();
      if (!on_) turn_on();
      step();
    }
    flush();
    return trace_.view();
  }

 private:
  size_t pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }
  uint64_t place() { return kProgramStart + kInstructions[pick(kInstructions.size())]; }
  void put(pt_packet_type type) {
    pt_packet packet{};
    packet.type = type;
    trace_.put(packet);
  }
  void mode() {
    pt_packet packet{};
    packet.type = ppt_mode;
    packet.payload.mode.leaf = pt_mol_exec;
    packet.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
    trace_.put(packet);
  }
  void paging() {
    pt_packet packet{};
    packet.type = ppt_pip;
    packet.payload.pip.cr3 = 0x2000;
    trace_.put(packet);
  }
  void vmcs() {
    pt_packet packet{};
    packet.type = ppt_vmcs;
    packet.payload.vmcs.base = 0x3000;
    trace_.put(packet);
  }
  void time() {
    if (pick(2) == 0) trace_.time(now_ += pick(50));
  }
  void no_address(pt_packet_type type) {
    pt_packet packet{};
    packet.type = type;
    packet.payload.ip.ipc = pt_ipc_suppressed;
    trace_.put(packet);
  }

  void flush() {
    if (!bits_.empty()) trace_.branches(std::exchange(bits_, {}));
    for (uint64_t target : std::exchange(deferred_, {})) trace_.target(target);
  }
  void bit(bool taken) {
    bits_ += taken ? 'T' : 'N';
    if (bits_.size() == (is_long_ ? 47 : 6)) {
      flush();
      is_long_ = pick(3) == 0;
    }
  }
  void target(uint64_t to) {
    if (!bits_.empty() && pick(3) == 0) {
      deferred_.push_back(to);
    } else {
      flush();
      trace_.target(to);
    }
    ip_ = to;
  }

  void synchronize(bool with_address) {
    flush();
    put(ppt_psb);
    if (with_address) mode();
    if (pick(3) != 0) trace_.time(now_ += pick(50));
    if (pick(5) == 0) paging();
    if (with_address) trace_.happened_at(ip_);
    put(ppt_psbend);
    if (compresses_) calls_.clear();
  }
  void turn_on() {
    ip_ = place();
    time();
    trace_.enable(ip_);
    on_ = true;
    calls_.clear();
  }
  void turn_off(uint64_t next) {
    on_ = false;
    ip_ = next;
    if (pick(5) == 0) synchronize(false);
  }
  /// Between two instructions.
  void happen() {
    flush();
    time();
    switch (pick(7)) {
      case 0:
        trace_.disable_at(ip_, place());
        return turn_off(0);
      case 1:
        trace_.overflow();
        ip_ = place();
        calls_.clear();
        return trace_.happened_at(ip_);
      case 2:
        trace_.overflow();
        return turn_off(0);
      case 3:
        trace_.transaction(pick(2) == 0, false);
        return trace_.happened_at(ip_);
      case 4:
        trace_.transaction(false, true);
        [[fallthrough]];
      case 5:
        trace_.happened_at(ip_);
        if (pick(2) == 0) paging();
        if (pick(2) == 0) vmcs();
        ip_ = place();
        return trace_.target(ip_);
      default:
        return synchronize(true);
    }
  }

  void step() {
    size_t at = ip_ - kProgramStart;
    DecodedInstruction decoded =
        decoder_.decode(std::as_bytes(std::span(kCodeBytes)).subspan(at), ip_, true);
    uint64_t behind = ip_ + decoded.instruction.size;
    uint64_t to = behind + static_cast<uint64_t>(decoded.displacement);
    switch (decoded.instruction.kind) {
      case InstructionKind::kConditional: {
        bool taken = pick(3) != 0;
        bit(taken);
        ip_ = taken ? to : behind;
        return;
      }
      case InstructionKind::kJump:
        if (!decoded.is_direct) return target(place());
        ip_ = to;
        return;
      case InstructionKind::kCall:
        if (!decoded.is_direct || decoded.displacement != 0) calls_.push_back(behind);
        if (!decoded.is_direct) return target(place());
        ip_ = to;
        return;
      case InstructionKind::kReturn:
        if (calls_.empty()) return target(place());
        to = calls_.back();
        calls_.pop_back();
        if (!compresses_) return target(to);
        ip_ = to;
        return bit(true);
      case InstructionKind::kOther:
        ip_ = behind;
        if ((decoded.bindings & kBindsCr3) != 0 && pick(2) == 0) {
          flush();
          paging();
        } else if ((decoded.bindings & kBindsVmcs) != 0 && pick(2) == 0) {
          flush();
          vmcs();
        }
        return;
      default:
        flush();
        if (pick(3) == 0) paging();
        if (pick(3) == 0) vmcs();
        if (pick(3) == 0) {
          no_address(ppt_tip_pgd);
          return turn_off(0);
        }
        if (pick(3) == 0) mode();
        return target(place());
    }
  }

  std::mt19937 random_;
  TraceBuilder trace_;
  InstructionDecoder decoder_;
  std::vector<uint64_t> calls_, deferred_;
  std::string bits_;
  bool compresses_, is_long_ = false, on_ = false;
  uint64_t ip_ = 0, now_ = 1000;
};

}  // namespace sonde::pt

#endif
