#include "ftrace/trace_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

/// A directory with tracefs's files, unknown to the kernel.
class FakeTracefs {
 public:
  FakeTracefs() {
    std::string name = (std::filesystem::temp_directory_path() / "tracefs.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(path_ / "options");
    set("available_tracers", "blk function_graph function nop\n");
    set("current_tracer", "nop\n");
    set("tracing_on", "1\n");
    set("set_ftrace_filter", "old_one\nold_two [ext4]\nother:traceoff:unlimited\n");
    set("set_ftrace_notrace", "#### no functions disabled ####\n");
    set("set_ftrace_pid", "no pid\n");
    set("set_graph_function", "#### all functions enabled ####\n");
    set("set_graph_notrace", "#### no functions disabled ####\n");
    set("max_graph_depth", "0\n");
    set("tracing_thresh", "0\n");
    set("tracing_cpumask", "3\n");
    set("buffer_size_kb", "7 (expanded: 1408)\n");
    set("options/sleep-time", "1\n");
    set("options/irq-info", "1\n");
  }
  ~FakeTracefs() { std::filesystem::remove_all(path_); }

  void set(const std::string& file, std::string_view text) const {
    std::ofstream(path_ / file) << text;
  }
  [[nodiscard]] Words get(const std::string& file) const {
    return words_of_trace_file(file, read_file((path_ / file).string()).value_or("?"));
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TraceSettings some_settings() {
  TraceSettings settings;
  settings.tracer = "function_graph";
  settings.functions = {"vfs_*", "ksys_read"};
  settings.tids = {11, 12};
  settings.cpus = {1};
  settings.buffer_bytes = 100 << 10;
  settings.no_sleep_time = true;
  settings.depth = 3;
  return settings;
}

TEST(TraceSettings, WordsOfFilesBringThemBack) {
  EXPECT_THAT(words_of_trace_file("set_ftrace_filter", "a\nb [m]\nc:stacktrace:5\n"),
              ElementsAre("a", "b:mod:m"));
  EXPECT_THAT(words_of_trace_file("set_graph_function", "a\nb [m]\n"), ElementsAre("a", "b"));
  EXPECT_THAT(words_of_trace_file("buffer_size_kb", "7 (expanded: 1408)\n"), ElementsAre("1408"));
  EXPECT_THAT(words_of_trace_file("buffer_size_kb", "64\n"), ElementsAre("64"));
  EXPECT_THAT(words_of_trace_file("set_ftrace_pid", "no pid\n"), ElementsAre());
}

TEST(TraceSettings, MasksAreInGroupsOf32) {
  EXPECT_EQ(cpu_mask_text({0, 1}), "3");
  EXPECT_EQ(cpu_mask_text({0, 33}), "2,00000001");
  EXPECT_EQ(cpu_mask_text({64}), "1,00000000,00000000");
}

TEST(TraceSettings, OptionsAreNamedAsOnTheCommandLine) {
  TraceSettings settings;
  ASSERT_TRUE(parse_graph_options("noirqs,verbose,thresh=100,depth=4", settings));
  EXPECT_TRUE(settings.no_irqs && settings.verbose && !settings.no_sleep_time);
  EXPECT_EQ(settings.threshold_us, 100u);
  EXPECT_EQ(settings.depth, 4u);
  ASSERT_TRUE(parse_function_options("call-graph,irq-info", settings));
  EXPECT_TRUE(settings.call_graph && settings.irq_info);
  for (const char* bad : {"depth", "depth=x", "nonsense", ""})
    EXPECT_FALSE(parse_graph_options(bad, settings)) << bad;
  EXPECT_FALSE(parse_function_options("stack", settings));
}

TEST(TraceChanges, AreMadeAndPutBack) {
  FakeTracefs tracefs;
  {
    auto where = TraceDirectory::open(tracefs.path(), "function_graph");
    ASSERT_TRUE(where.has_value());
    EXPECT_TRUE(where->is_shared());
    auto changes = TraceChanges::make(*where, trace_writes(some_settings()));
    ASSERT_TRUE(changes.has_value()) << changes.error().message;
    EXPECT_THAT(tracefs.get("current_tracer"), ElementsAre("function_graph"));
    EXPECT_THAT(tracefs.get("set_ftrace_filter"), ElementsAre("vfs_*", "ksys_read"));
    EXPECT_THAT(tracefs.get("set_ftrace_pid"), ElementsAre("11", "12"));
    EXPECT_THAT(tracefs.get("tracing_cpumask"), ElementsAre("2"));
    EXPECT_THAT(tracefs.get("buffer_size_kb"), ElementsAre("100"));
    EXPECT_THAT(tracefs.get("options/sleep-time"), ElementsAre("0"));
    EXPECT_THAT(tracefs.get("options/irq-info"), ElementsAre("0"));
    EXPECT_THAT(tracefs.get("max_graph_depth"), ElementsAre("3"));
    EXPECT_THAT(tracefs.get("tracing_on"), ElementsAre("0"));
    tracefs.set("tracing_on", "1\n");
  }
  EXPECT_THAT(tracefs.get("current_tracer"), ElementsAre("nop"));
  EXPECT_THAT(tracefs.get("set_ftrace_filter"), ElementsAre("old_one"));
  EXPECT_THAT(read_file(tracefs.path() + "/set_ftrace_filter").value_or(""),
              HasSubstr("old_two:mod:ext4"));
  EXPECT_THAT(tracefs.get("set_ftrace_pid"), ElementsAre());
  EXPECT_THAT(tracefs.get("tracing_cpumask"), ElementsAre("3"));
  EXPECT_THAT(tracefs.get("buffer_size_kb"), ElementsAre("1408"));
  EXPECT_THAT(tracefs.get("options/sleep-time"), ElementsAre("1"));
  EXPECT_THAT(tracefs.get("options/irq-info"), ElementsAre("1"));
  EXPECT_THAT(tracefs.get("max_graph_depth"), ElementsAre("0"));
  EXPECT_THAT(tracefs.get("tracing_on"), ElementsAre("1"));
}

TEST(TraceChanges, ThatCannotAllBeMadeAreNone) {
  FakeTracefs tracefs;
  TraceSettings settings = some_settings();
  settings.return_value = true;  // options/funcgraph-retval does not exist
  auto where = TraceDirectory::open(tracefs.path(), "function_graph");
  ASSERT_TRUE(where.has_value());
  auto changes = TraceChanges::make(*where, trace_writes(settings));
  ASSERT_FALSE(changes.has_value());
  EXPECT_THAT(changes.error().message, HasSubstr("options/funcgraph-retval"));
  EXPECT_THAT(changes.error().message, HasSubstr("--graph-opts retval"));
  EXPECT_THAT(tracefs.get("current_tracer"), ElementsAre("nop"));
  EXPECT_THAT(tracefs.get("max_graph_depth"), ElementsAre("0"));
}

TEST(TraceDirectory, SaysWhichTracersThereAre) {
  FakeTracefs tracefs;
  auto none = TraceDirectory::open(tracefs.path(), "osnoise");
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("blk function_graph function nop"));
  EXPECT_FALSE(TraceDirectory::open("", "nop").has_value());
  EXPECT_FALSE(TraceDirectory::open(tracefs.path() + "/nowhere", "nop").has_value());
}

}  // namespace
}  // namespace sonde
