#include "export/formats/export_tasks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <protozero/pbf_reader.hpp>

#include "base/json_value.h"
#include "export/formats/export_test_profiles.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;

/// A process that was "sh" and then "server", which has a worker and renamed its main thread; and a
/// process of which only a thread is known. Samples weigh 1, 2, 4, 8 and 16 in this order.
StackProfile several_programs() {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  auto add = [&](uint32_t pid, uint32_t tid, std::string_view name, std::string_view process) {
    builder.add_thread({.pid = pid,
                        .tid = tid,
                        .name = builder.intern(name),
                        .process_name = builder.intern(process)});
  };
  add(10, 10, "sh", "sh");
  add(10, 10, "server", "server");
  add(10, 11, "worker", "server");
  add(10, 10, "busy", "server");
  add(20, 21, "pool", "");
  const StackFrameId main[] = {builder.frame({.name = builder.intern("main")})};
  StackNodeId node = builder.node_of(main);
  for (uint32_t i = 0; i < 5; ++i)
    builder.add_sample(node, column, 1 << i, {.time_ns = 1000 + i, .thread = i, .cpu = 0});
  StackProfile profile = std::move(builder).finish();
  profile.origin = "perf.data";
  return profile;
}

TEST(ExportTasks, OneNumberHasOneName) {
  StackProfile profile = several_programs();
  ExportSamples samples(profile);
  ExportTasks tasks(samples);
  std::vector<std::string> made;
  for (uint32_t i = 0; i < 5; ++i)
    made.push_back(fmt::format("{}/{} {} of {}", tasks.pid(i), tasks.tid(i), tasks.thread_name(i),
                               tasks.process_name(i)));
  EXPECT_THAT(made, ElementsAre("10/10 sh of sh", "4194304/4194304 server (10) of server (10)",
                                "4194304/11 worker of server (10)",
                                "4194304/4194305 busy (10) of server (10)", "20/21 pool of pool"));
  EXPECT_EQ(tasks.process_count(), 3u);
  EXPECT_EQ(tasks.namesakes(tasks.process_of(0)), 0u);
  EXPECT_EQ(tasks.namesakes(tasks.process_of(2)), 1u);
}

TEST(ExportTasks, NumbersOfTheKernelAreNotGivenAgain) {
  StackProfile profile = several_programs();
  profile.threads[4].tid = 4194304;
  profile.threads[4].pid = 4194306;
  ExportSamples samples(profile);
  ExportTasks tasks(samples);
  EXPECT_EQ(tasks.pid(1), 4194305u);
  EXPECT_EQ(tasks.tid(1), 4194305u);
  EXPECT_EQ(tasks.tid(3), 4194307u);
  EXPECT_EQ(tasks.pid(4), 4194306u);
  EXPECT_EQ(tasks.tid(4), 4194304u);
}

TEST(ExportTasks, AThreadWhoseProcessIsNotKnownIsOfTheFirstWithTheNumber) {
  StackProfile profile = several_programs();
  profile.threads[4].pid = 10;
  std::swap(profile.threads[0], profile.threads[4]);  // before the name is known
  ExportSamples samples(profile);
  ExportTasks tasks(samples);
  EXPECT_EQ(tasks.process_count(), 2u);
  EXPECT_EQ(tasks.pid(0), 10u);
  EXPECT_EQ(tasks.process_name(0), "server");
  EXPECT_EQ(tasks.process_name(4), "sh (10)");
}

TEST(ExportTasks, SumsAreOneThread) {
  StackProfile profile = summed_profile();
  ExportSamples samples(profile);
  ExportTasks tasks(samples);
  EXPECT_EQ(tasks.process_count(), 1u);
  EXPECT_EQ(tasks.thread_name(0), "out.folded");
}

// The same profile in each format that has threads: by name, what its samples weigh.

using Weights = std::map<std::string, double>;

const JsonValue& member(const JsonValue& object, std::string_view name) {
  static const JsonValue kNothing;
  const JsonValue* found = object.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? kNothing : *found;
}
JsonValue json_of(std::string_view format) {
  Result<JsonValue> root =
      JsonValue::parse(exported(format, several_programs()), std::string(format));
  EXPECT_TRUE(root.has_value());
  return root ? std::move(*root) : JsonValue();
}

TEST(ChromeExport, AThreadThatWasSeveralProgramsIsSeveral) {
  JsonValue root = json_of("chrome");
  std::map<std::pair<double, double>, std::string> threads;
  std::map<double, std::string> processes;
  for (const JsonValue& event : member(root, "traceEvents").array()) {
    double pid = member(event, "pid").number();
    const std::string& name = member(member(event, "args"), "name").text();
    bool is_new = member(event, "name").text() == "process_name"
                      ? processes.try_emplace(pid, name).second
                      : threads.try_emplace({pid, member(event, "tid").number()}, name).second;
    EXPECT_TRUE(is_new) << "a second name, which hides the first: " << name;
  }
  EXPECT_EQ(processes.size(), 3u);
  Weights weights;
  for (const JsonValue& sample : member(root, "samples").array())
    weights[threads[{member(sample, "pid").number(), member(sample, "tid").number()}]] +=
        member(sample, "weight").number();
  EXPECT_EQ(
      weights,
      (Weights{{"sh", 1}, {"server (10)", 2}, {"worker", 4}, {"busy (10)", 8}, {"pool", 16}}));
}

TEST(SpeedscopeExport, AThreadThatWasSeveralProgramsIsSeveral) {
  Weights weights;
  JsonValue root = json_of("speedscope");
  for (const JsonValue& profile : member(root, "profiles").array())
    weights[member(profile, "name").text()] += member(profile, "endValue").number();
  EXPECT_EQ(weights, (Weights{{"sh (10/10) cycles", 1},
                              {"server (10/10) cycles", 2},
                              {"worker (10/11) cycles", 4},
                              {"busy (10/10) cycles", 8},
                              {"pool (20/21) cycles", 16}}));
}

TEST(FirefoxExport, AThreadThatWasSeveralProgramsIsSeveral) {
  JsonValue root = json_of("firefox");
  std::vector<std::string> threads;
  std::map<std::string, int> mains;  // by process: of two, the page shows one
  for (const JsonValue& thread : member(root, "threads").array()) {
    const std::string& pid = member(thread, "pid").text();
    threads.push_back(fmt::format("{} of {} {}/{}", member(thread, "name").text(),
                                  member(thread, "processName").text(), pid,
                                  member(thread, "tid").number()));
    if (member(thread, "isMainThread").boolean()) ++mains[pid];
  }
  EXPECT_THAT(threads,
              ElementsAre("sh of sh 10/10", "server of server 10.1/10", "worker of server 10.1/11",
                          "busy of server 10.1/10", "pool of pool 20/21"));
  EXPECT_EQ(mains, (std::map<std::string, int>{{"10", 1}, {"10.1", 1}}));
}

TEST(FirefoxExport, AProcessHasOneMainThreadOfSeveralEvents) {
  Result<JsonValue> root = JsonValue::parse(exported("firefox", sampled_profile()), "firefox");
  ASSERT_TRUE(root.has_value());
  const JsonValue::Array& threads = member(*root, "threads").array();
  ASSERT_EQ(threads.size(), 4u);
  EXPECT_TRUE(member(threads[0], "isMainThread").boolean());
  EXPECT_FALSE(member(threads[1], "isMainThread").boolean()) << "the same thread's other event";
}

TEST(PerfettoExport, AThreadThatWasSeveralProgramsIsSeveral) {
  std::map<int32_t, std::string> names;  // by tid, which is unique in a trace
  std::map<int32_t, int32_t> process_of;
  std::set<int32_t> processes;
  std::vector<std::string> samples;
  std::string bytes = exported("perfetto", several_programs());
  protozero::pbf_reader trace(bytes);
  while (trace.next(1)) {
    protozero::pbf_reader packet = trace.get_message();
    while (packet.next()) {
      if (packet.tag() == 2) {
        protozero::pbf_reader tree = packet.get_message();
        while (tree.next()) {
          bool is_process = tree.tag() == 1;
          protozero::pbf_reader task = tree.get_message();
          int32_t number = 0, group = 0;
          std::string name;
          while (task.next()) {
            if (task.tag() == 1)
              number = task.get_int32();
            else if (!is_process && task.tag() == 2)
              name = task.get_string();
            else if (!is_process && task.tag() == 3)
              group = task.get_int32();
            else
              task.skip();
          }
          if (is_process) {
            EXPECT_TRUE(processes.insert(number).second) << number;
            continue;
          }
          EXPECT_TRUE(names.try_emplace(number, name).second) << number << " has a second name";
          process_of[number] = group;
        }
      } else if (packet.tag() == 66) {
        protozero::pbf_reader sample = packet.get_message();
        int32_t pid = 0, tid = 0;
        while (sample.next()) {
          if (sample.tag() == 2)
            pid = static_cast<int32_t>(sample.get_uint32());
          else if (sample.tag() == 3)
            tid = static_cast<int32_t>(sample.get_uint32());
          else
            sample.skip();
        }
        EXPECT_EQ(process_of[tid], pid);
        samples.push_back(names[tid]);
      } else {
        packet.skip();
      }
    }
  }
  EXPECT_EQ(processes.size(), 3u);
  EXPECT_THAT(samples, ElementsAre("sh", "server (10)", "worker", "busy (10)", "pool"));
}

TEST(PprofExport, TheLabelCommIsTheNameThatTheThreadHad) {
  std::vector<std::string> strings;
  std::vector<std::pair<int64_t, int64_t>> labelled;  // string of the label comm, and value
  std::string bytes = exported("pprof", several_programs());
  // Strings follow the samples that refer to them.
  for (int pass = 0; pass < 2; ++pass) {
    protozero::pbf_reader profile(bytes);
    while (profile.next()) {
      if (pass == 0 && profile.tag() == 6) {
        strings.push_back(profile.get_string());
      } else if (pass == 1 && profile.tag() == 2) {
        int64_t comm = 0, value = 0;
        protozero::pbf_reader sample = profile.get_message();
        while (sample.next()) {
          if (sample.tag() == 2) {
            for (int64_t number : sample.get_packed_int64()) value = number;  // the second
          } else if (sample.tag() == 3) {
            int64_t key = 0, text = 0;
            protozero::pbf_reader label = sample.get_message();
            while (label.next()) {
              if (label.tag() == 1)
                key = label.get_int64();
              else if (label.tag() == 2)
                text = label.get_int64();
              else
                label.skip();
            }
            if (strings.at(static_cast<size_t>(key)) == "comm") comm = text;
          } else {
            sample.skip();
          }
        }
        labelled.emplace_back(comm, value);
      } else {
        profile.skip();
      }
    }
  }
  Weights weights;
  for (auto [comm, value] : labelled)
    weights[strings.at(static_cast<size_t>(comm))] += static_cast<double>(value);
  EXPECT_EQ(weights, (Weights{{"sh", 1}, {"server", 2}, {"worker", 4}, {"busy", 8}, {"pool", 16}}));
}

TEST(OtlpExport, AProcessThatWasSeveralProgramsIsSeveralResources) {
  std::vector<std::string> programs;  // by resource
  std::string bytes = exported("otlp", several_programs());
  protozero::pbf_reader data(bytes);
  while (data.next()) {
    if (data.tag() != 1) {
      data.skip();
      continue;
    }
    protozero::pbf_reader profiles = data.get_message();
    while (profiles.next()) {
      if (profiles.tag() != 1) {
        profiles.skip();
        continue;
      }
      std::string made;
      protozero::pbf_reader resource = profiles.get_message();
      while (resource.next(1)) {
        protozero::pbf_reader pair = resource.get_message();
        while (pair.next()) {
          if (pair.tag() != 2) {
            pair.skip();
            continue;
          }
          protozero::pbf_reader value = pair.get_message();
          while (value.next()) {
            if (value.tag() == 1)
              made += value.get_string();
            else if (value.tag() == 3)
              made += fmt::format(" {}", value.get_int64());
            else
              value.skip();
          }
        }
      }
      programs.push_back(made);
    }
  }
  EXPECT_THAT(programs, ElementsAre("sh 10", "server 10", "pool 20"));
}

}  // namespace
}  // namespace sonde
