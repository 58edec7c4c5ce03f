#include "event/parser/event_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/parser/event_test_machine.h"
#include "event/pmu/attr_text.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class EventParser : public testing::Test {
 protected:
  EventParser() {
    machine_.add_cpu();
    machine_.add_uncore();
    machine_.add_software();
    machine_.add_tracepoints();
  }

  Result<std::vector<ParsedEvent>> parse(std::string_view text) {
    return parse_events(text, {.pmus = pmus_,
                               .tracefs = tracefs_,
                               .tool = "perf",
                               .counting = counting_,
                               .maker = has_maker_ ? &maker_ : nullptr});
  }
  /// The events that `text` yields; it must be valid.
  std::vector<ParsedEvent> events(std::string_view text) {
    Result<std::vector<ParsedEvent>> parsed = parse(text);
    EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
    return parsed ? *parsed : std::vector<ParsedEvent>(1);
  }
  ParsedEvent event(std::string_view text) {
    std::vector<ParsedEvent> all = events(text);
    EXPECT_EQ(all.size(), 1u) << text;
    return all.at(0);
  }
  /// The attr's fields as perf prints them, without the size.
  std::string attr(std::string_view text) { return line(event(text)); }
  static std::string line(const ParsedEvent& event) {
    abi::EventAttr attr = event.attr;
    attr.size = 0;
    return attr_line(attr);
  }
  std::vector<std::string> names(std::string_view text) {
    std::vector<std::string> all;
    for (const ParsedEvent& event : events(text)) all.push_back(event.name);
    return all;
  }
  std::string error(std::string_view text) {
    Result<std::vector<ParsedEvent>> parsed = parse(text);
    EXPECT_FALSE(parsed) << text;
    if (parsed) return {};
    EXPECT_EQ(parsed.error().code, ErrorCode::kBadEvent);
    return parsed.error().message;
  }

  /// A maker with one USDT probe at two places, and one program with a probe and a tracepoint.
  class Maker final : public EventFactory {
   public:
    Result<std::vector<OwnedEvent>> make_usdt(std::string_view provider, std::string_view name,
                                              std::string_view object) override {
      asked = fmt::format("{}|{}|{}", provider, name, object);
      if (provider != "app") return fail(ErrorCode::kNotFound, "looked everywhere");
      return std::vector<OwnedEvent>{{{"sched", "sched_switch"}, "sdt_app:step"}};
    }
    Result<std::vector<OwnedEvent>> make_programs(
        std::string_view path, const std::vector<TermSyntax>& settings) override {
      asked = path;
      for (const TermSyntax& term : settings)
        asked += fmt::format("|{}={}", term.name, term.value.value_or("-"));
      if (path.ends_with("helper.o")) return std::vector<OwnedEvent>{};
      return std::vector<OwnedEvent>{{{"sched", "sched_switch"}, "perf_bpf_probe:f", 0},
                                     {{"sched", "sched_wakeup"}, "sched:sched_wakeup", 1}};
    }
    std::string asked;
  };

  TestMachine machine_;
  PmuCatalog pmus_{machine_.pmu_directory()};
  Tracefs tracefs_ = Tracefs::at(machine_.tracing_directory());
  bool counting_ = false;
  bool has_maker_ = false;
  Maker maker_;
};

struct AttrCase {
  const char* text;
  const char* attr;
};

// What perf 6.1 opens for these words (`perf stat -vv`).
constexpr AttrCase kAttrCases[] = {
    {"cycles", "exclude_guest: 1"},
    {"cpu-cycles", "exclude_guest: 1"},
    {"instructions", "config: 0x1, exclude_guest: 1"},
    {"idle-cycles-backend", "config: 0x8, exclude_guest: 1"},
    {"ref-cycles", "config: 0x9, exclude_guest: 1"},
    {"cs", "type: 1, config: 0x3, exclude_guest: 1"},
    {"faults", "type: 1, config: 0x2, exclude_guest: 1"},
    {"migrations", "type: 1, config: 0x4, exclude_guest: 1"},
    {"cgroup-switches", "type: 1, config: 0xb, exclude_guest: 1"},
    {"bpf-output", "type: 1, config: 0xa, exclude_guest: 1"},
    {"CPU-Clock", "type: 1, exclude_guest: 1"},
    {"cycles:u", "exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1"},
    {"cycles:k", "exclude_user: 1, exclude_hv: 1"},
    {"cycles:h", "exclude_user: 1, exclude_kernel: 1"},
    {"cycles:uk", "exclude_hv: 1, exclude_guest: 1"},
    {"cycles:ukh", "exclude_guest: 1"},
    {"cycles:G", "exclude_host: 1"},
    {"cycles:H", "exclude_guest: 1"},
    {"cycles:GH", ""},
    {"cycles:uG", "exclude_kernel: 1, exclude_hv: 1, exclude_host: 1"},
    {"cycles:I", "exclude_idle: 1"},
    {"cycles:p", "precise_ip: 1, exclude_guest: 1"},
    {"cycles:ppp", "precise_ip: 3, exclude_guest: 1"},
    {"cycles:P", ""},
    {"cycles:D", "pinned: 1"},
    {"cycles:e", "exclusive: 1"},
    {"task-clock:uhpppH",
     "type: 1, config: 0x1, exclude_kernel: 1, precise_ip: 3, exclude_guest: 1"},
    {"L1-dcache-load-miss", "type: 3, config: 0x10000, exclude_guest: 1"},
    {"L1-dcache-load-misses:u",
     "type: 3, config: 0x10000, exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1"},
    {"LLC-loads", "type: 3, config: 0x2, exclude_guest: 1"},
    {"l1d", "type: 3, exclude_guest: 1"},
    {"dTLB-prefetch-misses", "type: 3, config: 0x10203, exclude_guest: 1"},
    {"bpu-load-misses", "type: 3, config: 0x10005, exclude_guest: 1"},
    {"node-prefetches", "type: 3, config: 0x206, exclude_guest: 1"},
    {"r1a8", "type: 4, config: 0x1a8, exclude_guest: 1"},
    {"r003c", "type: 4, config: 0x3c, exclude_guest: 1"},
    {"cpu-clock/config=3/", "type: 1, config: 0x3, exclude_guest: 1"},
    {"cycles/config1=0x10,config2=0x20,config3=0x30/u",
     "exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1, { bp_addr, config1 }: 0x10, "
     "{ bp_len, config2 }: 0x20, config3: 0x30"},
    {"mem:0x1000",
     "type: 5, exclude_guest: 1, bp_type: 3, { bp_addr, config1 }: 0x1000, "
     "{ bp_len, config2 }: 0x4"},
    {"mem:0x1000/8:w:u",
     "type: 5, exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1, bp_type: 2, "
     "{ bp_addr, config1 }: 0x1000, { bp_len, config2 }: 0x8"},
    {"mem:0x1000:x",
     "type: 5, exclude_guest: 1, bp_type: 4, { bp_addr, config1 }: 0x1000, "
     "{ bp_len, config2 }: 0x8"},
    {"mem:0x1000:u",
     "type: 5, exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1, bp_type: 3, "
     "{ bp_addr, config1 }: 0x1000, { bp_len, config2 }: 0x4"},
    {"sched:sched_switch", "type: 2, config: 0x174, exclude_guest: 1"},
    {"sched:sched_switch:k", "type: 2, config: 0x174, exclude_user: 1, exclude_hv: 1"},
    {"sched:sched_switch/max-stack=3/k", "type: 2, config: 0x174, exclude_user: 1, exclude_hv: 1"},
    {"cpu/event=0x0e,umask=0x01,inv,cmask=0x01/", "type: 4, config: 0x180010e, exclude_guest: 1"},
    {"cpu/event=0xfff/", "type: 4, config: 0xf000000ff, exclude_guest: 1"},
    {"cpu/mem-loads/pp",
     "type: 4, config: 0x1cd, precise_ip: 2, exclude_guest: 1, { bp_addr, config1 }: 0x3"},
    {"cpu/mem-loads,ldlat=30/",
     "type: 4, config: 0x1cd, exclude_guest: 1, { bp_addr, config1 }: 0x1e"},
    {"cpu/ldlat=30,mem-loads/",
     "type: 4, config: 0x1cd, exclude_guest: 1, { bp_addr, config1 }: 0x1e"},
    {"mem-loads", "type: 4, config: 0x1cd, exclude_guest: 1, { bp_addr, config1 }: 0x3"},
    {"mem-loads:u",
     "type: 4, config: 0x1cd, exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1, "
     "{ bp_addr, config1 }: 0x3"},
    {"cpu/bus-time,domain=2/", "type: 4, config: 0x19, exclude_guest: 1, { bp_len, config2 }: 0x2"},
    {"cpu/r1a8/", "type: 4, config: 0x1a8, exclude_guest: 1"},
    {"cpu/cycles/", "exclude_guest: 1"},
    {"cpu/L1-dcache-load-misses/", "type: 3, config: 0x10000, exclude_guest: 1"},
    {"software/cs/", "type: 1, config: 0x3, exclude_guest: 1"},
    {"cpu//", "type: 4, exclude_guest: 1"},
    {"duration_time", "type: 1, config: 0x9, exclude_guest: 1"},
};

TEST_F(EventParser, WordsBecomeAttrs) {
  for (const AttrCase& c : kAttrCases) EXPECT_EQ(attr(c.text), c.attr) << c.text;
}

TEST_F(EventParser, EventsAreNamedByTheUsersWords) {
  for (const char* text : {"cycles", "cs:u", "cycles:upDe", "cpu-clock/max-stack=2/",
                           "cpu-clock/max-stack=2/u", "r1a8:u", "cpu/event=1/p", "cpu-clock//"})
    EXPECT_EQ(event(text).name, text);
  EXPECT_EQ(event(" cs ").name, "cs");
  EXPECT_EQ(event("cs/name=foo,max-stack=3/").name, "foo");
  EXPECT_TRUE(event("cs/name=foo/").name_given);
  EXPECT_EQ(event("cs/name='a, b'/").name, "a, b");
  EXPECT_EQ(event("L1-dcache-load-misses:u").name, "L1-dcache-load-misses");
  EXPECT_EQ(event("sched:sched_switch:u").name, "sched:sched_switch");
  EXPECT_EQ(event("sched:sched_switch/name=sw/").name, "sw");
}

TEST_F(EventParser, TermsHoldForOneEvent) {
  ParsedEvent all = event(
      "cs/period=7,freq=99,time=0,call-graph=dwarf,stack-size=1024,max-stack=4,nr=3,no-inherit,"
      "overwrite,branch_type=any|u,aux-sample-size=4096,percore,aux-output,aux-action=pause,"
      "cpu=1-2,metric-id=x,@sink/");
  EventTerms expected;
  expected.period = 7;
  expected.freq = 99;
  expected.time = false;
  expected.call_graph = CallGraphTerm::kDwarf;
  expected.stack_size = 1024;
  expected.max_stack = 4;
  expected.max_events = 3;
  expected.inherit = false;
  expected.overwrite = true;
  expected.branch_type = abi::kBranchAny | abi::kBranchUser;
  expected.aux_sample_size = 4096;
  expected.percore = true;
  expected.aux_output = true;
  expected.aux_action = 2;
  expected.cpus = {1, 2};
  expected.driver_config = "sink";
  EXPECT_EQ(all.terms, expected);
  EXPECT_EQ(event("cs").terms, EventTerms());
  EXPECT_EQ(event("cs/inherit/").terms.inherit, true);
  EXPECT_EQ(event("cs/no-overwrite/").terms.overwrite, false);
}

TEST_F(EventParser, ModifiersThatAreNoAttrBits) {
  EXPECT_TRUE(event("cs:S").sample_read);
  EXPECT_TRUE(event("cs:W").weak_group);
  EXPECT_TRUE(event("cs:P").precise_max);
  EXPECT_TRUE(event("cs:b").bpf_counter);
  EXPECT_TRUE(event("cs:X").keep_group);
  EXPECT_TRUE(event("cs:k").exclude_given);
  EXPECT_FALSE(event("cs:p").exclude_given);
  EXPECT_TRUE(event("cs:H").host_guest_given);
}

TEST_F(EventParser, TracepointGlobsOnBothSides) {
  EXPECT_THAT(names("sched:sched_*"),
              testing::UnorderedElementsAre("sched:sched_switch", "sched:sched_wakeup",
                                            "sched:sched_process_exec"));
  EXPECT_THAT(names("*:sched_switch"), ElementsAre("sched:sched_switch"));
  EXPECT_THAT(names("s*:*_openat"), testing::UnorderedElementsAre("syscalls:sys_enter_openat",
                                                                  "syscalls:sys_exit_openat"));
  EXPECT_EQ(events("*:*").size(), 5u);
  ParsedEvent one = event("*:sched_switch");
  EXPECT_EQ(one.tracepoint, (TracepointName{"sched", "sched_switch"}));
}

TEST_F(EventParser, UncoreUnitsTakePartTogether) {
  std::vector<ParsedEvent> units = events("cbox/clockticks/");
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].name, "cbox/clockticks/");
  EXPECT_EQ(units[0].pmu, "uncore_cbox_0");
  EXPECT_EQ(units[1].pmu, "uncore_cbox_1");
  EXPECT_THAT(units[0].cpus, ElementsAre(0, 18));
  EXPECT_EQ(units[0].unit, "MiB");
  EXPECT_DOUBLE_EQ(units[0].scale, 6.103515625e-5);
  EXPECT_TRUE(units[0].per_package);
  EXPECT_EQ(units[1].attr.type, 11u);
  EXPECT_EQ(units[1].attr.config, 0xffu);
  EXPECT_EQ(events("uncore_cbox*/event=1/").size(), 2u);
  EXPECT_EQ(events("uncore_cbox_1/event=1/").size(), 1u);
}

TEST_F(EventParser, HybridProcessorsCountOncePerKindOfCore) {
  machine_.write("devices/cpu_core/type", "4");
  machine_.write("devices/cpu_core/cpus", "0-3");
  machine_.write("devices/cpu_atom/type", "8");
  machine_.write("devices/cpu_atom/cpus", "4-7");
  std::vector<ParsedEvent> both = events("instructions:u");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "cpu_core/instructions/u");
  EXPECT_EQ(both[0].attr.config, 0x400000001u);
  EXPECT_EQ(both[1].name, "cpu_atom/instructions/u");
  EXPECT_EQ(both[1].attr.config, 0x800000001u);
  EXPECT_THAT(both[1].cpus, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(events("cs").size(), 1u);
}

TEST_F(EventParser, Groups) {
  std::vector<ParsedEvent> all = events("cs,grp{faults:k,cycles}:uS,cpu-clock,{cs,cs}:D");
  ASSERT_EQ(all.size(), 6u);
  std::vector<uint32_t> leaders;
  for (const ParsedEvent& e : all) leaders.push_back(e.leader);
  EXPECT_THAT(leaders, ElementsAre(0, 1, 1, 3, 4, 4));
  EXPECT_EQ(all[1].group_name, "grp");
  EXPECT_EQ(all[2].group_name, "");
  // The group's u is added to the member's own k.
  EXPECT_EQ(line(all[1]), "type: 1, config: 0x2, exclude_hv: 1, exclude_guest: 1");
  EXPECT_EQ(line(all[2]), "exclude_kernel: 1, exclude_hv: 1, exclude_guest: 1");
  EXPECT_TRUE(all[1].sample_read && all[2].sample_read);
  EXPECT_FALSE(all[0].sample_read);
  EXPECT_EQ(all[1].name, "faults:k");
  // Only leaders are pinned.
  EXPECT_TRUE(all[4].attr.pinned);
  EXPECT_FALSE(all[5].attr.pinned);
}

struct ErrorCase {
  const char* text;
  const char* start;  // of the message
};

constexpr ErrorCase kErrorCases[] = {
    {"cycles:pppp",
     "event syntax error: 'cycles:pppp'\n"
     "                            \\___ Bad modifier\n"
     "Run 'perf list' for a list of valid events"},
    {"cycles:uu",
     "event syntax error: 'cycles:uu'\n"
     "                            \\___ Bad modifier\n"},
    {"cpu-clock/time=2/",
     "event syntax error: '..clock/time=2/'\n"
     "                                  \\___ expected 0 or 1\n"
     "Run 'perf list' for a list of valid events"},
    {"cs/max-stack=abc/",
     "event syntax error: 'cs/max-stack=abc/'\n"
     "                                  \\___ expected numeric value\n"},
    {"cs/branch_type=bogus/",
     "event syntax error: '..ranch_type=bogus/'\n"
     "                                  \\___ invalid branch sample type\n"},
    {"cycles/nosuch=3/",
     "event syntax error: 'cycles/nosuch=3/'\n"
     "                            \\___ unknown term\n\n"
     "valid terms: config,config1,config2,config3,name,period,freq,"},
    {"cpu/nosuch=3/",
     "event syntax error: 'cpu/nosuch=3/'\n"
     "                         \\___ unknown term 'nosuch' for pmu 'cpu'\n\n"
     "valid terms: cmask,domain,event,inv,ldlat,umask,config,config1"},
    {"cpu/umask=256/",
     "event syntax error: 'cpu/umask=256/'\n"
     "                               \\___ value too big for format, maximum is "
     "255\n"},
    {"nopmu/event=1/",
     "event syntax error: 'nopmu/event=1/'\n"
     "                     \\___ Cannot find PMU `nopmu'. Missing kernel support?\n"
     "Run 'perf list' for a list of valid events"},
    {"cpu/bus-time/",
     "event syntax error: 'cpu/bus-time/'\n"
     "                         \\___ Required parameter 'domain' not specified\n"},
    {"cyclez",
     "event syntax error: 'cyclez'\n"
     "                     \\___ unknown event\n\n"
     "Did you mean 'cycles'?\n"
     "Run 'perf list' for a list of valid events"},
    {"sched_switch",
     "event syntax error: 'sched_switch'\n"
     "                     \\___ unknown event\n\n"
     "Did you mean 'sched:sched_switch'?\n"},
    {"cs/freq=99",
     "event syntax error: 'cs/freq=99'\n"
     "                       \\___ missing closing '/'\n"},
};

TEST_F(EventParser, ErrorsPointAtThePlace) {
  for (const ErrorCase& c : kErrorCases) EXPECT_THAT(error(c.text), StartsWith(c.start)) << c.text;
}

TEST_F(EventParser, NothingOfThisIsAnEvent) {
  for (const char* text : {"",
                           ",",
                           ",cs",
                           "cs,",
                           "cs,,cs",
                           "{}",
                           "{cs",
                           "cs}",
                           "{cs,{cs}}",
                           "{cs}x",
                           "{cs}:",
                           "{cs}:z",
                           "cs cs",
                           "cs:",
                           "cs:z",
                           "cs:u:k",
                           ":",
                           "a:",
                           ":a",
                           "a:b:c:d",
                           "/",
                           "//",
                           "cs/",
                           "cs/a",
                           "cs/,/",
                           "cs/=1/",
                           "cs/name=/",
                           "cs/name/",
                           "cs/time/x",
                           "r",
                           "rxyz",
                           "read",
                           "r12345678901234567",
                           "mem:",
                           "mem:x",
                           "mem:0x1000:rr",
                           "mem:0x1000:r:q",
                           "mem:0x1000/x",
                           "mem:1:r:u:k",
                           "./prog.c",
                           "prog.o",
                           "cpu/event=99999999999999999999/",
                           "../../x:y",
                           "sched:..",
                           "{cycles:pp}:pp",
                           "cs/max-stack=70000/",
                           "cs/cpu=9-1/",
                           "cs/call-graph=xx/"})
    EXPECT_THAT(error(text), HasSubstr("\\___ ")) << text;
}

TEST_F(EventParser, UnknownTracepointsSayWhereTheyWereLookedFor) {
  EXPECT_EQ(error("nosuch:foo"),
            "event syntax error: 'nosuch:foo'\n"
            "                     \\___ unknown tracepoint\n\n"
            "Error:\tFile " +
                machine_.tracing_directory() +
                "/events/nosuch/foo not found.\n"
                "Hint:\tPerhaps this kernel misses some CONFIG_ setting to enable this "
                "feature?.\n\n"
                "Run 'perf list' for a list of valid events");
  EXPECT_THAT(error("sched:sched_swich"), HasSubstr("Did you mean 'sched:sched_switch'?"));
  EXPECT_THAT(error("sced:*"), HasSubstr("/events/sced/* not found."));
  EXPECT_THAT(error("wrong:sched_wakeup"), HasSubstr("Did you mean 'sched:sched_wakeup'?"));
  EXPECT_THAT(error("sdt_libc:setjmp"), HasSubstr("Please first use 'perf probe sdt_libc:setjmp'"));
}

TEST_F(EventParser, WithoutTracefs) {
  tracefs_ = Tracefs::at("");
  EXPECT_THAT(error("sched:sched_switch"),
              HasSubstr("tracefs, which describes tracepoints, is not mounted"));
  EXPECT_THAT(error("sched:*"), HasSubstr("tracefs, which describes tracepoints, is not mounted"));
}

TEST_F(EventParser, CountingRefusesTermsOfSampling) {
  counting_ = true;
  EXPECT_THAT(error("cs/max-stack=2/"), HasSubstr("'max-stack' is not usable in 'perf stat'"));
  EXPECT_EQ(event("cs/period=2,name=x,cpu=0/").terms.period, 2u);
}

TEST_F(EventParser, LongTextIsCutOnBothSides) {
  std::string text = std::string(40, 'x') + "/a," + std::string(100, 'y');
  std::string message = error("cs,cs," + text);
  EXPECT_LE(message.find('\n'), 80u);
  EXPECT_THAT(message, HasSubstr("..'\n"));
}

TEST(EventList, FiltersBindToTheLastOption) {
  TestMachine machine;
  machine.add_tracepoints();
  PmuCatalog pmus(machine.pmu_directory());
  Tracefs tracefs = Tracefs::at(machine.tracing_directory());
  EventSources sources{.pmus = pmus, .tracefs = tracefs};
  EventList list;
  EXPECT_EQ(list.add_filter("a > 1").error().message,
            "--filter is about the tracepoint or tracer before it: put -e first");
  EXPECT_FALSE(list.exclude_process(1));
  ASSERT_TRUE(parse_events("sched:sched_wakeup", sources, list));
  ASSERT_TRUE(parse_events("{sched:sched_switch,syscalls:sys_*}", sources, list));
  ASSERT_TRUE(list.add_filter("a > 1"));
  ASSERT_TRUE(list.add_filter("b > 2"));
  ASSERT_TRUE(list.exclude_process(42));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].filter, "");
  EXPECT_EQ(list[1].filter, "((a > 1) && (b > 2)) && (common_pid != 42)");
  EXPECT_EQ(list[3].filter, list[1].filter);
  EXPECT_EQ(list[3].leader, 1u);
  EXPECT_EQ(list[3].option, 1u);
  EXPECT_EQ(list.group_size(1), 3u);
  ASSERT_TRUE(parse_events("cs", sources, list));
  EXPECT_EQ(list.add_filter("a").error().message,
            "--filter: the event before it is no tracepoint, and its PMU filters no addresses");
  machine.add_cpu();
  ASSERT_TRUE(parse_events("cpu/event=1/", sources, list));
  EXPECT_FALSE(list.add_filter("filter main"));
  machine.write("devices/intel_pt/type", "9");
  machine.write("devices/intel_pt/nr_addr_filters", "2");
  ASSERT_TRUE(parse_events("intel_pt//u", sources, list));
  ASSERT_TRUE(list.add_filter("filter main"));
  EXPECT_EQ(list.events().back().filter, "filter main");
}

TEST_F(EventParser, HasUsdtProbesMade) {
  has_maker_ = true;
  for (std::string_view text : {"sdt_app:step", "%sdt_app:step", "%app:step"}) {
    ParsedEvent probe = event(text);
    EXPECT_EQ(maker_.asked, "app|step|");
    EXPECT_EQ(probe.name, "sdt_app:step");
    EXPECT_EQ(probe.attr.type, abi::kTypeTracepoint);
    EXPECT_EQ(probe.tracepoint, (TracepointName{"sched", "sched_switch"}));
    EXPECT_EQ(probe.bpf_program, std::nullopt);
  }
  event("sdt_app:step:u@/usr/lib/x.so.1(0123456789ab)");
  EXPECT_EQ(maker_.asked, "app|step|/usr/lib/x.so.1");
  EXPECT_EQ(event("sdt_app:step/max-stack=3/").terms.max_stack, 3u);
  EXPECT_EQ(names("cs,sdt_app:s*@/bin/x,faults").size(), 3u);
  EXPECT_EQ(maker_.asked, "app|s*|/bin/x");
  EXPECT_THAT(error("sdt_other:step"), HasSubstr("looked everywhere"));
  EXPECT_THAT(error("%app"), HasSubstr("expected sdt_PROVIDER:NAME"));
}

TEST_F(EventParser, HasProgramsLoaded) {
  has_maker_ = true;
  std::vector<ParsedEvent> both = events("./a/prog.c/map:m.value[1,2]=7,map:c.event=evt,name=x/u");
  EXPECT_EQ(maker_.asked, "./a/prog.c|map:m.value[1,2]=7|map:c.event=evt");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].bpf_program, 0u);
  EXPECT_EQ(both[1].bpf_program, 1u);
  EXPECT_EQ(both[0].attr.exclude_kernel, 1u);
  EXPECT_THAT(names("prog.o"), ElementsAre("perf_bpf_probe:f", "sched:sched_wakeup"));
  EXPECT_THAT(names("/tmp/d.c/prog.c,cs"),
              ElementsAre("perf_bpf_probe:f", "sched:sched_wakeup", "cs"));
  EXPECT_EQ(maker_.asked, "/tmp/d.c/prog.c");
  EXPECT_TRUE(events("./helper.o").empty());
  EXPECT_THAT(names("cs/name=x.c/"), ElementsAre("x.c"));
}

TEST_F(EventParser, WithoutAMakerNothingIsMade) {
  EXPECT_THAT(error("%app:step"), HasSubstr("cannot be made here"));
  EXPECT_THAT(error("./prog.c"), HasSubstr("cannot be loaded here"));
}

}  // namespace
}  // namespace sonde
