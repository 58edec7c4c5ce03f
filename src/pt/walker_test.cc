#include "pt/walker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>

#include "pt/instruction_decoder.h"
#include "pt/packet.h"
#include "pt/trace_builder.h"
#include "pt/trace_contents.h"

#if __has_include(<intel-pt.h>)

namespace sonde::pt {
namespace {

constexpr uint64_t kProgramStart = 0x401000;

/// All that events bind to and branches can be.
const std::vector<uint8_t> kCodeBytes = {
    0xe8, 0x1b, 0,    0,    0,  // 00 call 20
    0x75, 0x05,                 // 05 jne 0c
    0xff, 0xe0,                 // 07 jmp *rax
    0x90, 0x90, 0x90,           // 09 nop, nop, nop
    0xff, 0xd0,                 // 0c call *rax
    0x0f, 0x22, 0xd8,           // 0e mov rax, cr3
    0x0f, 0xc7, 0x30,           // 11 vmptrld (rax)
    0xeb, 0x02,                 // 14 jmp 18
    0x0f, 0x05,                 // 16 syscall
    0xe8, 0,    0,    0,    0,  // 18 call 1d
    0x58,                       // 1d pop rax
    0x75, 0xe0,                 // 1e jne 00
    0x55, 0x48, 0x89, 0xe5,     // 20 push rbp; mov rsp, rbp
    0x74, 0x01,                 // 24 je 27
    0x90,                       // 26 nop
    0x0f, 0x01, 0xc2,           // 27 vmlaunch
    0x5d, 0xc3,                 // 2a pop rbp; ret
    0x0f, 0x01, 0xd5,           // 2c xend
    0x48, 0xcf,                 // 2f iretq
    0xeb, 0xcd,                 // 31 jmp 00
};
const std::vector<uint8_t> kInstructions = {0x00, 0x05, 0x07, 0x09, 0x0a, 0x0b, 0x0c, 0x0e,
                                            0x11, 0x14, 0x16, 0x18, 0x1d, 0x1e, 0x20, 0x21,
                                            0x24, 0x26, 0x27, 0x2a, 0x2b, 0x2c, 0x2f, 0x31};

class ProgramCode final : public CodeReader {
 public:
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t) override {
    if (address < kProgramStart || address - kProgramStart >= kCodeBytes.size()) return 0;
    size_t at = address - kProgramStart;
    size_t count = std::min(to.size(), kCodeBytes.size() - at);
    std::memcpy(to.data(), kCodeBytes.data() + at, count);
    return count;
  }
};

struct Told {
  std::string text;
  InstructionKind kind = InstructionKind::kOther;
  bool is_instruction = false;
  uint64_t ip = 0;
};

class Listener : public FlowObserver {
 public:
  void instruction(const Instruction& i, uint64_t now) override {
    if (told.size() >= kMostTold) return;
    told.push_back({fmt::format("{:x} {} {} {}{} at {}", i.ip, i.size, static_cast<int>(i.kind),
                                i.is_64_bit ? 64 : 32, i.in_transaction ? " tx" : "", now),
                    i.kind, true, i.ip});
  }
  void enabled(uint64_t ip, uint64_t now) override { add("on {:x} {}", ip, now); }
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) override {
    add("off {:x} {:x} {}", at.value_or(1), to.value_or(1), now);
  }
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) override {
    add("interrupt {:x} {:x} {}", from, to.value_or(1), now);
  }
  void transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) override {
    add("transaction {} {} {:x} {}", begins, aborted, ip.value_or(1), now);
  }
  void ptwrite(std::optional<uint64_t>, uint64_t value, uint64_t now) override {
    add("ptwrite {:x} {}", value, now);
  }
  void core_frequency(uint32_t ratio, uint64_t now) override { add("ratio {} {}", ratio, now); }
  void lost(FlowError why, uint64_t ip, uint64_t now) override {
    add("{} {:x} {}", describe(why), ip, now);
  }

  static constexpr size_t kMostTold = 4000;  // of code in circles
  std::vector<Told> told;

 protected:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    told.push_back({fmt::format(format, std::forward<Args>(args)...)});
  }
};

std::vector<Told> told_by_libipt(Bytes trace, const TraceSetup& setup, CodeReader& code) {
  Listener listener;
  EXPECT_TRUE(follow_by_libipt(trace, setup, code, listener));
  return listener.told;
}

/// Lets instructions be skipped, and compares what it is told with what libipt told.
class Skipper final : public Listener {
 public:
  Skipper(std::vector<Told> all, uint64_t patience, bool to_calls)
      : all_(std::move(all)), patience_(patience), to_calls_(to_calls) {}
  Indifference indifference(uint64_t) override { return {patience_, to_calls_}; }
  void skipped(uint64_t ip, uint64_t count, const Instruction& last, uint64_t now) override {
    EXPECT_GT(count, 0U);
    EXPECT_LE(count, patience_);
    size_t begin = told.size();
    if (begin + count > std::min(all_.size(), kMostTold)) return;
    EXPECT_EQ(all_[begin].ip, ip);
    for (size_t i = begin; i + 1 < begin + count; ++i) {
      EXPECT_TRUE(all_[i].is_instruction);
      bool is_call =
          all_[i].kind == InstructionKind::kCall || all_[i].kind == InstructionKind::kReturn;
      EXPECT_TRUE(to_calls_ || !is_call) << all_[i].text;
      told.push_back(all_[i]);
    }
    instruction(last, now);
  }

 private:
  std::vector<Told> all_;
  uint64_t patience_;
  bool to_calls_;
};

std::string text_of(const std::vector<Told>& told) {
  std::string text;
  for (const Told& one : told) text += one.text + "\n";
  return text;
}

/// Both ways say the same.
void compare(Bytes trace, const TraceSetup& setup) {
  ASSERT_TRUE(look_through(trace, setup).is_readable);
  ProgramCode code;
  std::vector<Told> expected = told_by_libipt(trace, setup, code);
  Listener listener;
  walk(trace, setup, {}, code, listener);
  ASSERT_EQ(text_of(listener.told), text_of(expected));
  for (uint64_t patience : {uint64_t{1}, uint64_t{9}, uint64_t{1} << 40}) {
    for (bool to_calls : {false, true}) {
      Skipper skipper(expected, patience, to_calls);
      walk(trace, setup, {}, code, skipper);
      ASSERT_EQ(text_of(skipper.told), text_of(expected)) << patience;
    }
  }
}

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

TEST(Walker, SaysWhatLibiptSaysOfRandomTraces) {
  constexpr uint32_t kTraces = 3'000;
  TraceSetup setup;
  setup.crystal_numerator = 7;
  setup.crystal_denominator = 2;
  setup.mtc_period = 3;
  for (uint32_t seed = 0; seed < kTraces; ++seed) {
    RandomTrace random(seed);
    compare(random.make(), setup);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

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

class EventListener final : public Listener {
 public:
  void control_flow(const ControlFlowEvent& event, std::optional<uint64_t> ip, uint64_t) override {
    std::string data;
    for (const EventDatum& datum : event.data)
      data += fmt::format(" {}={:x}", datum.type, datum.payload);
    add("event {} vector {} at {:x} to {:x}{}", event.type, event.vector, ip.value_or(1),
        event.to.value_or(1), data);
  }
  void interrupt_flag(bool allows, FlagChange how, std::optional<uint64_t>, uint64_t) override {
    add("interrupts {} {}", allows, static_cast<int>(how));
  }
};

TEST(Walker, TellsOfInterruptsBeforeTheyBranch) {
  TraceBuilder trace;
  trace.synchronize(7);
  trace.enable(0x401000);
  trace.bytes({0x02, 0x53, 0x00, 0x34, 0x12, 0, 0, 0, 0, 0, 0});  // EVD: a page fault's address
  trace.bytes({0x02, 0x13, 0x01, 0x0e});                          // CFE, of the FUP's interrupt
  trace.happened_at(0x401020);
  trace.bytes({0x99, 0x05});  // MODE.Exec, interrupts allowed
  trace.target(0x401016);
  trace.bytes({0x02, 0x13, 0x87, 0x00});  // CFE with a FUP of its own
  trace.happened_at(0x401016);
  trace.disable();
  trace.bytes({0x02, 0x13, 0x06, 0x00});  // while nothing is traced
  TraceSetup setup;
  setup.traces_events = true;
  ASSERT_TRUE(look_through(trace.view(), setup).has_event_packets);
  ProgramCode code;
  EventListener listener;
  walk(trace.view(), setup, {}, code, listener);
  EXPECT_EQ(text_of(listener.told),
            "interrupts false 0\n"
            "on 401000 7\n"
            "401000 5 1 64 at 7\n"
            "event 1 vector 14 at 401020 to 401016 0=1234\n"
            "interrupts true 1\n"
            "interrupt 401020 401016 7\n"
            "interrupts true 1\n"
            "event 7 vector 0 at 401016 to 1\n"
            "401016 2 5 64 at 7\n"
            "off 1 1 7\n"
            "event 6 vector 0 at 1 to 1\n");
}

class ItemListener final : public Listener {
 public:
  void items(const BlockItems& items, std::optional<uint64_t> ip, uint64_t now) override {
    add("record of {:x} counters {:x} at {:x} {}",
        items.get(BlockType::kBasic, BlockItems::kIp).value_or(1),
        items.get(BlockType::kBasic, BlockItems::kCounters).value_or(0), ip.value_or(1), now);
  }
  void items_cut(uint64_t records) override { add("{} cut", records); }
};

TEST(Walker, TellsRecordsOfTheProcessor) {
  TraceBuilder trace;
  trace.synchronize(7);
  trace.enable(0x401000);
  // Items look like TNT packets: a block of 4 bytes each, an unknown one, a time in between.
  trace.bytes({0x02, 0x63, 0x84, 0x04, 0x16, 0x10, 0x40, 0, 0x0c, 2, 0, 0, 0, 0x02, 0x63, 0x9e});
  trace.bytes({0x04, 0x02, 0x82, 0x02, 0x82});
  trace.time(9);
  trace.bytes({0x04, 1, 2, 3, 4, 0x02, 0xb3});  // BEP with a FUP
  trace.happened_at(0x401020);
  trace.bytes({0x02, 0x63, 0x04, 0x04, 1, 2, 3, 4, 5, 6, 7, 8});  // cut by an interrupt's target
  trace.happened_at(0x401020);
  trace.target(0x401016);
  trace.bytes({0x02, 0x33});  // BEP of no block
  trace.bytes({0x02, 0x63, 0x84, 0x04, 5, 0, 0, 0, 0x02, 0x33});
  trace.disable();
  trace.bytes({0x02, 0x63, 0x84, 0x04, 6});  // ends in the middle
  TraceContents contents = look_through(trace.view(), {});
  EXPECT_TRUE(contents.is_readable && contents.has_event_packets);
  ProgramCode code;
  ItemListener listener;
  walk(trace.view(), {}, {}, code, listener);
  EXPECT_EQ(text_of(listener.told),
            "on 401000 7\n"
            "401000 5 1 64 at 9\n"
            "record of 401016 counters 2 at 401020 9\n"
            "interrupt 401020 401016 9\n"
            "record of 5 counters 0 at 401016 9\n"
            "401016 2 5 64 at 9\n"
            "off 1 1 9\n"
            "1 cut\n");
}

/// EVD packets say nothing of the flow.
TEST(Walker, DataOfEventsLeadNowhere) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomTrace random(seed);
    Bytes plain = random.make();
    std::vector<std::byte> with_data;
    Packet packet;
    bool in_psb = false;
    for (size_t at = 0; at < plain.size() && read_packet(plain.subspan(at), packet);
         at += packet.size) {
      in_psb = packet.type == PacketType::kPsb || (in_psb && packet.type != PacketType::kPsbEnd);
      std::ranges::copy(plain.subspan(at, packet.size), std::back_inserter(with_data));
      if (!in_psb && at % 3 == 0)
        for (int byte : {0x02, 0x53, 0x02, 1, 2, 3, 4, 5, 6, 7, 8})
          with_data.push_back(static_cast<std::byte>(byte));
    }
    ProgramCode code;
    Listener expected, listener;
    walk(plain, {}, {}, code, expected);
    walk(with_data, {}, {}, code, listener);
    ASSERT_EQ(text_of(listener.told), text_of(expected.told)) << seed;
  }
}

TEST(Walker, SaysWhatLibiptSaysOfRuns) {
  constexpr uint32_t kRuns = 60;
  size_t instructions = 0, errors = 0;
  for (uint32_t seed = 0; seed < kRuns; ++seed) {
    SimulatedRun run(seed);
    Bytes trace = run.make(1000);
    compare(trace, {});
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    ProgramCode code;
    for (const Told& told : told_by_libipt(trace, {}, code)) {
      instructions += told.is_instruction;
      errors += told.text.starts_with("Trace doesn't match");
    }
  }
  // The runs are such that most of them can be followed.
  EXPECT_GT(instructions, size_t{kRuns} * 600);
  EXPECT_LT(errors, instructions / 100);
}

}  // namespace
}  // namespace sonde::pt

#endif
