#include "event/pmu/memory_events.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

/// A directory of PMUs with these files.
class Devices {
 public:
  explicit Devices(std::initializer_list<const char*> files) {
    std::string name = std::filesystem::temp_directory_path() / "memory_events.XXXXXX";
    path_ = ::mkdtemp(name.data());
    for (const char* file : files) {
      std::filesystem::path path = path_ / file;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << "event=0x1\n";
    }
  }
  ~Devices() { std::filesystem::remove_all(path_); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  [[nodiscard]] std::vector<MemoryEvent> events() const { return memory_events(30, path_); }

 private:
  std::filesystem::path path_;
};

std::string chosen(const Devices& devices, MemoryOperations wanted) {
  auto events = choose_memory_events(devices.events(), wanted);
  if (!events) return "error";
  std::string text;
  for (const MemoryEvent& event : *events) text += event.event + " ";
  return text;
}

TEST(MemoryEvents, IntelHasOneOfLoadsAndOneOfStores) {
  Devices intel({"cpu/events/mem-loads", "cpu/events/mem-stores", "cpu/format/ldlat"});
  EXPECT_EQ(chosen(intel, {}), "cpu/mem-loads,ldlat=30/P cpu/mem-stores/P ");
  EXPECT_EQ(chosen(intel, {true, false}), "cpu/mem-loads,ldlat=30/P ");
  EXPECT_EQ(chosen(intel, {false, true}), "cpu/mem-stores/P ");
  EXPECT_EQ(intel.events()[0].name, "ldlat-loads");
}

TEST(MemoryEvents, SomeLoadsNeedAnAuxiliaryEvent) {
  Devices intel({"cpu/events/mem-loads", "cpu/events/mem-loads-aux", "cpu/format/ldlat"});
  EXPECT_EQ(chosen(intel, {true, false}), "{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=30/pp}:P ");
}

TEST(MemoryEvents, AmdAndArmHaveOneForBoth) {
  Devices amd({"ibs_op/type"});
  EXPECT_EQ(chosen(amd, {}), "ibs_op// ");
  EXPECT_EQ(chosen(amd, {false, true}), "ibs_op// ");
  Devices arm({"arm_spe_0/type"});
  EXPECT_EQ(chosen(arm, {}),
            "arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1,min_latency=30/ ");
  EXPECT_EQ(chosen(arm, {false, true}),
            "arm_spe_0/ts_enable=1,pa_enable=1,load_filter=0,store_filter=1,min_latency=0/ ");
}

TEST(MemoryEvents, WithoutAnyTheErrorSaysWhatIsMissing) {
  Devices none({});
  EXPECT_TRUE(none.events().empty());
  auto events = choose_memory_events(none.events(), {});
  ASSERT_FALSE(events);
  EXPECT_NE(events.error().message.find("samples loads"), std::string::npos);
}

TEST(MemoryEvents, Operations) {
  auto both = parse_memory_operations("load,store");
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->loads && both->stores);
  EXPECT_FALSE(parse_memory_operations("store")->loads);
  EXPECT_FALSE(parse_memory_operations("load,"));
}

}  // namespace
}  // namespace sonde
