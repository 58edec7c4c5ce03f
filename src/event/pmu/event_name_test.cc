#include "event/pmu/event_name.h"

#include <gtest/gtest.h>

#include "event/parser/event_branch.h"

namespace sonde {
namespace {

abi::EventAttr attr_of(uint32_t type, uint64_t config) {
  abi::EventAttr attr;
  attr.type = type;
  attr.config = config;
  attr.exclude_guest = 1;
  return attr;
}

TEST(EventName, OfEveryType) {
  EXPECT_EQ(event_name(attr_of(0, 0)), "cycles");
  EXPECT_EQ(event_name(attr_of(0, 4)), "branches");
  EXPECT_EQ(event_name(attr_of(0, 0x400000001)), "instructions");
  EXPECT_EQ(event_name(attr_of(0, 77)), "unknown-hardware");
  EXPECT_EQ(event_name(attr_of(1, 0)), "cpu-clock");
  EXPECT_EQ(event_name(attr_of(1, 3)), "context-switches");
  EXPECT_EQ(event_name(attr_of(1, 99)), "unknown-software");
  EXPECT_EQ(event_name(attr_of(2, 372)), "unknown tracepoint");
  EXPECT_EQ(event_name(attr_of(3, 0x10002)), "LLC-load-misses");
  EXPECT_EQ(event_name(attr_of(3, 0x2)), "LLC-loads");
  EXPECT_EQ(event_name(attr_of(3, 0x206)), "node-prefetches");
  EXPECT_EQ(event_name(attr_of(3, 0x101)), "invalid-cache");
  EXPECT_EQ(event_name(attr_of(3, 0x300)), "unknown-ext-hardware-cache-op");
  EXPECT_EQ(event_name(attr_of(4, 0x3c)), "raw 0x3c");
  EXPECT_EQ(event_name(attr_of(10, 1)), "unknown attr type: 10");
  abi::EventAttr breakpoint = attr_of(5, 0);
  breakpoint.bp_addr = 0x1000;
  breakpoint.bp_type = 3;
  EXPECT_EQ(event_name(breakpoint), "mem:0x1000:rw");
}

TEST(EventName, ModifiersSayWhatDiffersFromTheDefault) {
  abi::EventAttr attr = attr_of(1, 0);
  attr.precise_ip = 3;
  EXPECT_EQ(event_name(attr), "cpu-clock:pppH");
  attr.exclude_kernel = 1;
  EXPECT_EQ(event_name(attr), "cpu-clock:uhpppH");
  attr = attr_of(0, 0);
  attr.exclude_guest = 0;
  EXPECT_EQ(event_name(attr), "cycles:HG");
  attr.exclude_kernel = attr.exclude_hv = 1;
  EXPECT_EQ(event_name(attr), "cycles:u");
  attr.exclude_host = 1;
  EXPECT_EQ(event_name(attr), "cycles:uG");
  attr = attr_of(0, 0);
  attr.exclude_guest = 0;
  attr.exclude_user = attr.exclude_hv = 1;
  EXPECT_EQ(event_name(attr), "cycles:k");
  attr.exclude_user = 0;
  EXPECT_EQ(event_name(attr), "cycles:ku");
}

TEST(EventName, CacheEventsComeBack) {
  for (uint64_t cache = 0; cache < 8; ++cache)
    for (uint64_t operation = 0; operation < 4; ++operation)
      for (uint64_t result = 0; result < 3; ++result) {
        uint64_t config = cache | operation << 8 | result << 16;
        std::string name = cache_event_name(config);
        bool valid = result < 2 && cache_event_is_valid(static_cast<unsigned>(cache),
                                                        static_cast<unsigned>(operation));
        EXPECT_EQ(!name.empty(), valid) << config;
        if (valid) {
          EXPECT_EQ(parse_cache_event(name), config) << name;
        }
      }
}

TEST(EventName, CacheSpellings) {
  EXPECT_EQ(parse_cache_event("L1-data-write-miss"), 0x10100u);
  EXPECT_EQ(parse_cache_event("Instruction-TLB-read-access"), 0x4u);
  EXPECT_EQ(parse_cache_event("L1-dcache-misses"), 0x10000u);
  EXPECT_EQ(parse_cache_event("LLC-speculative-load"), 0x202u);
  EXPECT_EQ(parse_cache_event("LLC-misses-prefetch"), 0x10202u);
  for (const char* bad : {"", "L1", "LLC-", "LLC-x", "LLC-load-load", "LLCloads", "L1-icache-store",
                          "iTLB-stores", "branch-prefetches", "load-misses"})
    EXPECT_EQ(parse_cache_event(bad), std::nullopt) << bad;
}

TEST(EventBranch, WordsAndText) {
  EXPECT_EQ(parse_branch_types("any,u"), abi::kBranchAny | abi::kBranchUser);
  EXPECT_EQ(parse_branch_types("k"), abi::kBranchAny | abi::kBranchKernel);
  EXPECT_EQ(parse_branch_types("any_call,save_type"), abi::kBranchAnyCall | abi::kBranchTypeSave);
  EXPECT_EQ(parse_branch_types("bogus").error().message,
            "unknown branch filter bogus, check man page");
  EXPECT_FALSE(parse_branch_types(""));
  EXPECT_EQ(branch_types_text(abi::kBranchAny | abi::kBranchUser), "USER|ANY");
}

}  // namespace
}  // namespace sonde
