// Small parts of recording that turn text into decisions.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "capture/control/control_channel.h"
#include "capture/control/delay_schedule.h"
#include "capture/control/workload.h"
#include "capture/opening/cpu_map.h"
#include "capture/opening/lost_counts.h"
#include "capture/opening/parse_size.h"
#include "capture/recorders/record_output.h"
#include "capture/rings/ring_set.h"
#include "capture/synthesis/session_features.h"
#include "capture/synthesis/synthesis_kernel.h"
#include "store/proc_maps.h"

namespace sonde {
namespace {

TEST(ParseSize, UnitsAreNeeded) {
  EXPECT_EQ(parse_size("5M"), 5u << 20);
  EXPECT_EQ(parse_size("1k"), 1024u);
  EXPECT_FALSE(parse_size("5"));
  EXPECT_FALSE(parse_size("M"));
  EXPECT_FALSE(parse_size("18446744073709551615G"));
  EXPECT_EQ(parse_duration_ms("2m"), 120'000u);
}

TEST(ParseRingPages, PowersOfTwo) {
  bool rounded = false;
  EXPECT_EQ(parse_ring_pages("3", rounded).value(), 4u);
  EXPECT_TRUE(rounded);
  EXPECT_EQ(parse_ring_pages("8", rounded).value(), 8u);
  EXPECT_FALSE(rounded);
  EXPECT_FALSE(parse_ring_pages("0", rounded));
  EXPECT_FALSE(parse_ring_pages("foo", rounded));
}

TEST(DefaultRingPages, ManyRingsAreSmaller) {
  size_t limited = default_ring_pages(2, false, false);
  EXPECT_GE(default_ring_pages(2, true, false), limited);
  EXPECT_EQ(default_ring_pages(100'000, true, false), limited);
  EXPECT_EQ(default_ring_pages(2, false, true), limited);
  EXPECT_GT(default_ring_pages(2, true, true), default_ring_pages(2, true, false));
}

TEST(ParseDelay, NumbersRangesAndNonsense) {
  EXPECT_TRUE(parse_delay("-1")->start_disabled);
  EXPECT_EQ(parse_delay("10")->delay_ms, 10u);
  EXPECT_EQ(parse_delay("10-20,30-40")->ranges.size(), 2u);
  EXPECT_FALSE(parse_delay("foo"));
  EXPECT_FALSE(parse_delay("10-5"));
  EXPECT_FALSE(parse_delay("10-20,15-30"));
}

TEST(DelaySchedule, RangesBecomeSteps) {
  DelayOptions options;
  options.ranges = {{10, 20}, {30, 40}};
  using Step = DelaySchedule::Step;
  EXPECT_EQ(DelaySchedule::create(options)->steps(),
            (std::vector<Step>{{10, true}, {20, false}, {30, true}, {40, false}}));
}

TEST(ParseControl, Forms) {
  EXPECT_EQ(parse_control("fd:3,4")->ack_fd, 4);
  EXPECT_EQ(parse_control("fifo:/a")->fifo, "/a");
  for (const char* wrong : {"foo", "fd:", "fd:x", "fifo:", "fd:1,2,3"})
    EXPECT_FALSE(parse_control(wrong)) << wrong;
  EXPECT_EQ(parse_control_command("enable cs").argument, "cs");
  EXPECT_EQ(parse_control_command("bogus").kind, ControlChannel::Command::Kind::kUnknown);
}

TEST(Control, CommandsMayLackTheirNewline) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd reader(ends[0]), writer(ends[1]);
  ControlOptions options;
  options.fd = reader.get();
  ControlChannel channel = ControlChannel::open(options).value();
  auto write = [&](std::string_view text) {
    ASSERT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  using Kind = ControlChannel::Command::Kind;
  write("ping");
  EXPECT_EQ(channel.next()->kind, Kind::kPing);
  write("enable\nsto");
  EXPECT_EQ(channel.next()->kind, Kind::kEnable);
  EXPECT_FALSE(channel.next());
  write("p\n");
  EXPECT_EQ(channel.next()->kind, Kind::kStop);
}

TEST(ProcMaps, Lines) {
  auto mapping = parse_proc_mapping(
      "7f1200000000-7f1200001000 r-xp 00002000 fe:01 248139                     /usr/bin/a b");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->start, 0x7f1200000000u);
  EXPECT_EQ(mapping->offset, 0x2000u);
  EXPECT_EQ(mapping->major, 0xfeu);
  EXPECT_TRUE(mapping->executable);
  EXPECT_EQ(mapping->path, "/usr/bin/a b");
  EXPECT_TRUE(parse_proc_mapping("0-1 rw-p 0 00:00 0 ")->path.empty());
  EXPECT_FALSE(parse_proc_mapping("garbage"));
  EXPECT_FALSE(parse_proc_mapping(""));
}

TEST(CpuMap, ListTexts) {
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(select_cpus("0-1", {0, 1}).value(), (std::vector<int>{0, 1}));
  EXPECT_FALSE(select_cpus("7", {0, 1}));
  EXPECT_FALSE(select_cpus("x", {0, 1}));
}

TEST(LostCounts, BothLayoutsOfRead) {
  ByteBuilder single;
  for (uint64_t word : {5u, 77u, 3u}) single.u64(word);
  EXPECT_EQ(lost_in_values(single.view(), abi::kFormatId | abi::kFormatLost, 77), 3u);
  ByteBuilder group;
  for (uint64_t word : {2u, 5u, 77u, 3u, 6u, 78u, 4u}) group.u64(word);
  uint64_t format = abi::kFormatId | abi::kFormatLost | abi::kFormatGroup;
  EXPECT_EQ(lost_in_values(group.view(), format, 78), 4u);
  EXPECT_EQ(lost_in_values(Bytes{}, format, 78), 0u);
}

TEST(SessionFeatures, CpuInfo) {
  std::string_view text =
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Intel(R)  Xeon(R) CPU\nstepping\t: 7\n";
  EXPECT_EQ(cpu_id_of(text), "GenuineIntel,6,85,7");
  EXPECT_EQ(cpu_description_of(text), "Intel(R) Xeon(R) CPU");
  EXPECT_FALSE(cpu_id_of("processor: 0\n"));
  EXPECT_EQ(cpu_id_of_midr("0x00000000411fd071"), "0x00000000410fd070");
  EXPECT_FALSE(cpu_id_of_midr(""));
}

/// A directory that stands in for /proc.
class FakeProc {
 public:
  explicit FakeProc(const std::string& kallsyms) {
    path_ = ::testing::TempDir() + "sonde-proc-XXXXXX";
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
    std::ofstream(path_ + "/kallsyms") << kallsyms;
  }
  FakeProc(const FakeProc&) = delete;
  FakeProc& operator=(const FakeProc&) = delete;
  ~FakeProc() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(KernelText, IsNamedAfterTheSymbolAtItsStart) {
  FakeProc x86(
      "0000000000000000 A fixed_percpu_data\n"
      "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff82000000 T _etext\n");
  EXPECT_EQ(kernel_text(x86.path())->symbol, "_text");
  // arm64 has its _text before its code, and either not in kallsyms or not as code.
  FakeProc arm64(
      "ffffa73f33200000 D _text\nffffa73f33210000 t bcm2835_handle_irq\n"
      "ffffa73f33210000 T _stext\nffffa73f33f00000 D _etext\n");
  std::optional<KernelText> text = kernel_text(arm64.path());
  ASSERT_TRUE(text);
  EXPECT_EQ(text->symbol, "_stext");
  EXPECT_EQ(text->start, 0xffffa73f33210000u);
  EXPECT_EQ(text->end, 0xffffa73f33f00000u);
}

TEST(Workload, IsHeldUntilItIsStartedAndGivesItsStatus) {
  Result<Workload> workload = Workload::fork({"sh", "-c", "exit 7"}, false);
  ASSERT_TRUE(workload);
  EXPECT_FALSE(workload->reap(false));
  workload->start();
  EXPECT_FALSE(workload->exec_error());
  EXPECT_EQ(shell_status(*workload->reap(true)), 7);
}

TEST(Workload, SaysWhyItCannotRun) {
  EXPECT_EQ(Workload::fork({"/nonexistent/program"}, false).error().message,
            "cannot run '/nonexistent/program': No such file or directory");
  // What can be known only then: it was there when it was looked for.
  std::string directory = (std::filesystem::temp_directory_path() / "workload.XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  std::string program = directory + "/program";
  std::filesystem::copy_file("/bin/true", program);
  Result<Workload> workload = Workload::fork({program}, false);
  ASSERT_TRUE(workload);
  std::filesystem::remove_all(directory);
  workload->start();
  EXPECT_EQ(workload->exec_error(), ENOENT);
  (void)workload->reap(true);
}

}  // namespace
TEST(RecordOutput, FilesThatEndTogetherHaveTheirOwnNames) {
  std::string directory =
      (std::filesystem::temp_directory_path() / "record_output.XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  OutputOptions options;
  options.path = directory + "/perf.data";
  SwitchOutputOptions switching;
  switching.enabled = true;
  switching.max_files = 3;
  RecordOutput::Settings settings{options, switching};
  settings.sys = &Sys::host();
  Result<RecordOutput> output = RecordOutput::create(settings);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  std::set<std::string> names;
  for (int i = 0; i < 4; ++i) {
    Result<std::string> name = output->rename_finished();
    ASSERT_TRUE(name.has_value());
    names.insert(*name);
    ASSERT_TRUE(output->next().has_value());
  }
  EXPECT_EQ(names.size(), 4U);
  EXPECT_FALSE(std::filesystem::exists(*names.begin())) << "the oldest goes";
  EXPECT_TRUE(std::filesystem::exists(*names.rbegin()));
  std::filesystem::remove_all(directory);
}

}  // namespace sonde
