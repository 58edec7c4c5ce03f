#include <gtest/gtest.h>

#include "pt/made_traces.h"
#include "pt/packet.h"
#include "pt/trace_contents.h"
#include "pt/walked_program.h"
#include "pt/walker.h"

#if __has_include(<intel-pt.h>)

namespace sonde::pt {
namespace {

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

TEST(WalkerEvents, TellsOfInterruptsBeforeTheyBranch) {
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

TEST(WalkerEvents, TellsRecordsOfTheProcessor) {
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
TEST(WalkerEvents, DataOfEventsLeadNowhere) {
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

}  // namespace
}  // namespace sonde::pt

#endif
