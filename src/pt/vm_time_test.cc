#include "pt/vm_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::pt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kBegin = 0x123456789a00;
constexpr uint64_t kOffset = uint64_t{0} - 0x3000000000000;
constexpr uint64_t kCrystal = 4;  // TSC ticks per tick of the crystal
constexpr uint8_t kMtcPeriod = 3;

/// The trace of a CPU whose time goes on as packets say.
class VmTrace {
 public:
  uint64_t now = kBegin;
  uint64_t offset = 0;  // of the guest that runs
  bool in_guest = false;
  uint64_t vmcs = 0;

  void psb(bool with_pip = true) {
    for (int i = 0; i < 8; ++i) bytes({0x02, 0x82});
    time();
    if (with_pip) pip();
    if (vmcs != 0) number({0x02, 0xc8}, vmcs, 5);
    bytes({0x02, 0x23});
  }
  void time() {
    tsc_places.push_back(data_.size());
    number({0x19}, now + (in_guest ? offset : 0), 7);
    number({0x02, 0x73}, now / kCrystal, 2);
    number({0x00}, now % kCrystal, 2);
  }
  void pip() { number({0x02, 0x43}, in_guest ? 1 : 0, 6); }
  void enable() { number({0x71}, 0x401000, 6); }
  void disable() { bytes({0x01}); }
  void enter(uint64_t which) {
    vmcs = which;
    in_guest = true;
    number({0x02, 0xc8}, vmcs, 5);
    pip();
  }
  void leave() {
    in_guest = false;
    pip();
  }
  void go_on(uint64_t ticks) {
    constexpr uint64_t kStep = kCrystal << kMtcPeriod;
    for (uint64_t end = now + ticks; now < end;) {
      uint64_t next = std::min((now / kStep + 1) * kStep, end);
      now = next;
      if (now % kStep == 0) number({0x59}, now / kCrystal >> kMtcPeriod, 1);
    }
  }
  void bytes(std::initializer_list<uint8_t> raw) {
    for (uint8_t byte : raw) data_.push_back(std::byte{byte});
  }
  [[nodiscard]] Bytes view() const { return data_; }

  std::vector<size_t> tsc_places;

 private:
  void number(std::initializer_list<uint8_t> opcode, uint64_t value, size_t size) {
    bytes(opcode);
    for (size_t i = 0; i < size; ++i) bytes({static_cast<uint8_t>(value >> (8 * i))});
  }

  std::vector<std::byte> data_;
};

class VmTimeTest : public testing::Test {
 protected:
  /// The counters of the trace's TSC packets after translation.
  std::vector<uint64_t> translated(const VmTrace& trace, size_t cut = 0) {
    std::vector<std::byte> all(trace.view().begin(), trace.view().end());
    std::vector<TimedPiece> pieces{{trace.view(), trace.now + 1000}};
    if (cut > 0)
      pieces = {{trace.view().first(cut), trace.now + 1000},
                {trace.view().subspan(cut), trace.now + 1000}};
    TraceSetup setup;
    setup.crystal_numerator = kCrystal;
    setup.crystal_denominator = 1;
    setup.mtc_period = kMtcPeriod;
    TscTranslation translation(setup, offsets_,
                               [this](std::string_view line) { notes_.emplace_back(line); });
    translation.run(pieces, [&](size_t piece, size_t at, Bytes bytes) {
      std::ranges::copy(bytes, all.begin() + static_cast<ptrdiff_t>(at + (piece > 0 ? cut : 0)));
    });
    std::vector<uint64_t> times;
    for (size_t place : trace.tsc_places)
      times.push_back(load<uint64_t>(&all[place], kHostOrder) >> 8);
    return times;
  }
  /// A host's trace in which a guest runs while two PSB+ are written.
  static VmTrace guest_between() {
    VmTrace trace;
    trace.offset = kOffset;
    trace.psb();
    trace.enable();
    trace.go_on(1000);
    trace.enter(0x77);
    trace.go_on(1000);
    trace.psb();
    trace.go_on(1000);
    trace.psb();
    trace.leave();
    trace.go_on(500);
    trace.psb();
    return trace;
  }
  static auto host_times() {
    return ElementsAre(kBegin, kBegin + 2000, kBegin + 3000, kBegin + 3500);
  }

  TscOffsets offsets_;
  std::vector<std::string> notes_;
};

TEST_F(VmTimeTest, OffsetsFollowFromTheCrystalsClock) {
  EXPECT_THAT(translated(guest_between()), host_times());
  EXPECT_THAT(notes_, ElementsAre("VMCS: 0x77  TSC Offset 0xfffd000000000000"));
}

TEST_F(VmTimeTest, GivenOffsetsAreUsed) {
  offsets_.set(0x77, kOffset);
  EXPECT_THAT(translated(guest_between()), host_times());
  offsets_ = {};
  offsets_.set_default(kOffset);
  EXPECT_THAT(translated(guest_between()), host_times());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(VmTimeTest, PacketsMayLieInTwoPieces) {
  VmTrace trace = guest_between();
  for (size_t cut = 1; cut < trace.view().size(); ++cut) {
    if (cut < 16) continue;  // the first PSB is where reading begins
    offsets_ = {};
    EXPECT_THAT(translated(trace, cut), host_times()) << cut;
  }
}

TEST_F(VmTimeTest, UnknownOffsetsAreToldOnceAndTheClockReplacesThem) {
  VmTrace trace;
  trace.offset = kOffset;
  trace.psb();
  trace.enter(0x77);
  trace.go_on(1000);
  trace.time();
  trace.go_on(1000);
  trace.time();
  EXPECT_THAT(translated(trace), ElementsAre(kBegin, kBegin + 1000, kBegin + 2000));
  EXPECT_THAT(notes_, ElementsAre("ERROR: Unknown TSC Offset for VMCS 0x77"));
}

TEST_F(VmTimeTest, HostsTimesStay) {
  VmTrace trace;
  trace.psb();
  trace.enable();
  for (int i = 0; i < 5; ++i) {
    trace.go_on(700);
    trace.time();
    trace.disable();
    trace.go_on(5000);
    trace.psb(false);
    trace.enable();
  }
  std::vector<uint64_t> before;
  for (size_t place : trace.tsc_places)
    before.push_back(load<uint64_t>(&trace.view()[place], kHostOrder) >> 8);
  EXPECT_EQ(translated(trace), before);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(VmTimeTest, DamageIsLeftAlone) {
  VmTrace trace = guest_between();
  for (size_t cut = 0; cut < trace.view().size(); ++cut) {
    VmTrace damaged;
    damaged.now = trace.now;
    for (std::byte byte : trace.view().first(cut)) damaged.bytes({static_cast<uint8_t>(byte)});
    damaged.bytes({0xff, 0x02, 0x05});
    offsets_ = {};
    EXPECT_THAT(translated(damaged), IsEmpty());
  }
}

}  // namespace
}  // namespace sonde::pt
