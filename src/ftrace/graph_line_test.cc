#include "ftrace/graph_line.h"

#include <gtest/gtest.h>

#include "ftrace/graph_calls.h"

namespace sonde {
namespace {

using Kind = GraphLine::Kind;

TEST(GraphLine, TellsCallsEntriesAndReturns) {
  struct Case {
    std::string_view text;
    Kind kind;
    std::string_view name;
    std::optional<uint64_t> duration_ns;
  };
  for (const Case& one : {
           Case{" 0)               |  vfs_read() {", Kind::kEntry, "vfs_read", {}},
           Case{" 1)   1.834 us    |    _raw_spin_lock();", Kind::kCall, "_raw_spin_lock", 1834},
           Case{" 0) + 80.908 us   |  }", Kind::kReturn, "", 80'908},
           Case{" 0) $ 1000072 us  |  } /* schedule */", Kind::kReturn, "schedule", 1'000'072'000},
           Case{" 0) ! 199.41 us   |  } /* p9_tag_alloc [9pnet] */", Kind::kReturn,
                "p9_tag_alloc [9pnet]", 199'410},
           Case{" 12)  0.100 us    |  pdu_write [9pnet]();", Kind::kCall, "pdu_write [9pnet]", 100},
           Case{" 0)   0.5 us      |  } /* vfs_read = 0x340 */", Kind::kReturn, "vfs_read", 500},
           Case{" 0)   0.5 us      |  } /* = 0x340 */", Kind::kReturn, "", 500},
           Case{" 0)   0.5 us      |  f(a=0x1, b=\"x {\"); /* = 0x1 */", Kind::kCall, "f", 500},
           Case{"   14.704173 |   0)  perf-135  |  .....  |   1.834 us    |  f();", Kind::kCall,
                "f", 1834},
           Case{"   14.704173 |   0)  perf-135  |  d.h1.  |               |  f() {",
                Kind::kEntry,
                "f",
                {}},
           Case{" 0)               |  /* sched_switch: prev_comm=a (x) */", Kind::kOther, "", {}},
           Case{" 0)   ==========> |", Kind::kOther, "", {}},
           Case{" ------------------------------------------", Kind::kOther, "", {}},
           Case{"# CPU  DURATION                  FUNCTION CALLS", Kind::kOther, "", {}},
           Case{" 0) 99999999999999999999999 us |  f();", Kind::kOther, "", {}},
           Case{"", Kind::kOther, "", {}},
       }) {
    GraphLine line = parse_graph_line(one.text);
    EXPECT_EQ(line.kind, one.kind) << one.text;
    if (one.kind == Kind::kOther) continue;
    EXPECT_EQ(line.name, one.name) << one.text;
    EXPECT_EQ(line.duration_ns, one.duration_ns) << one.text;
  }
  EXPECT_EQ(parse_graph_line(" 12)  0.100 us    |  f();").cpu, 12u);
}

TEST(GraphLine, TellsSwitchesAndLosses) {
  GraphLine change = parse_graph_line(" 3)  perf-ex-147   =>    <idle>-0   ");
  EXPECT_EQ(change.kind, Kind::kSwitch);
  EXPECT_EQ(change.cpu, 3u);
  EXPECT_EQ(change.from, "perf-ex-147");
  EXPECT_EQ(change.to, "<idle>-0");
  GraphLine lost = parse_graph_line("CPU:2 [LOST 1234 EVENTS]");
  EXPECT_EQ(lost.kind, Kind::kLost);
  EXPECT_EQ(lost.cpu, 2u);
  EXPECT_EQ(lost.lost, 1234u);
}

using Calls = std::vector<std::pair<std::string, uint64_t>>;

struct Collected {
  Calls calls;
  GraphCalls reader{[this](std::string_view name, uint64_t ns) { calls.emplace_back(name, ns); }};
};

constexpr std::string_view kTrace =
    "# tracer: function_graph\n"
    " 0)               |  outer() {\n"
    " 0)   1.000 us    |    leaf();\n"
    " 0)               |    schedule() {\n"
    " ------------------------------------------\n"
    " 0)   prog-7      =>    <idle>-0\n"
    " ------------------------------------------\n"
    "\n"
    " 0)               |  idle_work() {\n"
    " 1)               |  other() {\n"
    " 0)   2.000 us    |  }\n"
    " 1)   3.000 us    |  }\n"
    " ------------------------------------------\n"
    " 0)   <idle>-0    =>    prog-7\n"
    " ------------------------------------------\n"
    "\n"
    " 0)   4.000 us    |    }\n"
    " 0)   9.000 us    |  }\n";

TEST(GraphCalls, NamesReturnsByTheTaskThatBeganThem) {
  Calls expected = {
      {"leaf", 1000}, {"idle_work", 2000}, {"other", 3000}, {"schedule", 4000}, {"outer", 9000}};
  Collected whole;
  whole.reader.consume(kTrace);
  EXPECT_EQ(whole.calls, expected);
  for (size_t size : {1u, 7u, 64u}) {
    Collected pieces;
    for (size_t at = 0; at < kTrace.size(); at += size)
      pieces.reader.consume(kTrace.substr(at, size));
    EXPECT_EQ(pieces.calls, expected) << size;
  }
}

TEST(GraphCalls, ForgetsWhatLossesMadeUncertain) {
  Collected collected;
  collected.reader.consume(
      " 0)               |  outer() {\n"
      "CPU:0 [LOST 12 EVENTS]\n"
      " 0)   4.000 us    |  }\n"
      " 0)   5.000 us    |  } /* named */");
  EXPECT_EQ(collected.calls, (Calls{{"", 4000}}));
  collected.reader.finish();
  EXPECT_EQ(collected.calls, (Calls{{"", 4000}, {"named", 5000}}));
  EXPECT_EQ(collected.reader.lost(), 12u);
}

TEST(GraphCalls, LeavesOutWhatIsBelowTheThreshold) {
  Collected collected;
  collected.reader.consume(" 0)               |  f() {\n 0)               |  }\n");
  EXPECT_TRUE(collected.calls.empty());
}

}  // namespace
}  // namespace sonde
