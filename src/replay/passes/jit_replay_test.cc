#include "replay/passes/jit_replay.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "replay/frames/address_resolver.h"
#include "symbol/jit_dump_builder.h"

namespace sonde {
namespace {

constexpr uint32_t kPid = 4711;

class JitReplayTest : public testing::Test {
 protected:
  JitReplayTest()
      : machine_(strings_), replay_(machine_, objects_, {.symfs = {}, .proc = directory_}) {}
  ~JitReplayTest() override { std::filesystem::remove_all(directory_); }

  static std::string make_directory() {
    std::string name = testing::TempDir() + "jit_feed_XXXXXX";
    return ::mkdtemp(name.data());
  }
  void events(bool monotonic) {
    EventDesc event;
    event.attr.use_clockid = monotonic ? 1 : 0;
    event.attr.clockid = monotonic ? CLOCK_MONOTONIC : 0;
    event.attr.sample_type = abi::kSampleTime;
    event.attr.sample_id_all = 1;
    table_.add(std::move(event));
  }
  /// The dump as seen in the process's mount namespace.
  void write_dump(const JitDumpBuilder& builder) {
    std::string inside = fmt::format("{}/{}/root/srv", directory_, kPid);
    std::filesystem::create_directories(inside);
    std::ofstream(inside + "/jit-12.dump") << builder.bytes();
  }
  MmapRecord mapped(std::string_view path) {
    MmapRecord record{};
    record.pid = record.tid = kPid;
    record.path = path;
    record.is_v2 = true;
    record.protection = PROT_READ | PROT_EXEC;
    return record;
  }
  std::string name_at(uint64_t time, uint64_t address) {
    machine_.freeze();
    Place place =
        locate(machine_, machine_.space_at(kPid, time).space, time, address, abi::kMiscUser);
    const JitObject* object = objects_.of(place.dso);
    if (object == nullptr) return "";
    SymbolTable table = object->symbols();
    const Symbol* symbol = table.find(place.address);
    return symbol == nullptr ? "?" : std::string(symbol->name());
  }

  std::string directory_ = make_directory();
  StringPool strings_;
  LossLedger losses_;
  Machine machine_;
  JitObjects objects_;
  JitReplay replay_;
  EventTable table_;
};

TEST_F(JitReplayTest, ReusedMemoryIsWhatItWasAtTheTime) {
  events(true);
  JitDumpBuilder builder;
  builder.code(100, 0x7000, 1, "old", std::string(16, '\x90'));
  builder.code(200, 0x7008, 2, "new", std::string(16, '\x90'));
  write_dump(builder);
  replay_.look_at(mapped("/srv/jit-12.dump"));
  replay_.look_at(mapped("/srv/jit-12.dump"));
  replay_.read_dumps(table_, losses_);
  replay_.apply_up_to(150);
  EXPECT_EQ(name_at(150, 0x700c), "old");
  replay_.apply_all();
  EXPECT_EQ(name_at(150, 0x700c), "old");
  EXPECT_EQ(name_at(250, 0x700c), "new");
  EXPECT_EQ(name_at(250, 0x7001), "old");
  EXPECT_EQ(name_at(50, 0x7001), "old");  // it ran before its compiler reported it
  EXPECT_EQ(name_at(150, 0x7014), "");
  EXPECT_EQ(losses_.total(), 0u);
}

TEST_F(JitReplayTest, CyclesAreConvertedToTheKernelsClock) {
  events(false);
  constexpr uint64_t kCountsCycles = 1;
  JitDumpBuilder builder(kHostOrder, kCountsCycles);
  builder.code(100, 0x7000, 1, "old", std::string(16, '\x90'));
  builder.code(200, 0x7000, 2, "new", std::string(16, '\x90'));
  write_dump(builder);
  JitReplay timed(machine_, objects_,
                  {.symfs = {}, .proc = directory_, .cycles = {.multiplier = 3, .zero = 1000}});
  timed.look_at(mapped("/srv/jit-12.dump"));
  timed.read_dumps(table_, losses_);
  timed.apply_all();
  EXPECT_EQ(name_at(1599, 0x7000), "old");
  EXPECT_EQ(name_at(1600, 0x7000), "new");
}

TEST_F(JitReplayTest, OfAnotherClockTheLastHolds) {
  events(false);
  JitDumpBuilder builder;
  builder.code(100, 0x7000, 1, "old", std::string(16, '\x90'));
  builder.code(200, 0x7000, 2, "new", std::string(16, '\x90'));
  write_dump(builder);
  replay_.look_at(mapped("/srv/jit-12.dump"));
  replay_.read_dumps(table_, losses_);
  replay_.apply_all();
  EXPECT_EQ(name_at(1, 0x7000), "new");
}

TEST_F(JitReplayTest, WhatIsAddedLaterIsReadLater) {
  events(true);
  JitDumpBuilder builder;
  builder.code(100, 0x7000, 1, "old", std::string(16, '\x90'));
  write_dump(builder);
  replay_.look_at(mapped("/srv/jit-12.dump"));
  replay_.read_dumps(table_, losses_);
  replay_.apply_all();
  builder.code(200, 0x7000, 2, "new", std::string(16, '\x90'));
  write_dump(builder);
  replay_.read_dumps(table_, losses_);
  replay_.apply_all();
  EXPECT_EQ(name_at(150, 0x7000), "old");
  EXPECT_EQ(name_at(250, 0x7000), "new");
}

TEST_F(JitReplayTest, AMissingDumpIsALoss) {
  events(true);
  replay_.look_at(mapped("/srv/jit-12.dump"));
  MmapRecord data = mapped("/srv/jit-13.dump");
  data.protection = PROT_READ;
  replay_.look_at(data);
  replay_.read_dumps(table_, losses_);
  EXPECT_EQ(losses_.count(LossKind::k_bad_symbol_source), 1u);
}

}  // namespace
}  // namespace sonde
