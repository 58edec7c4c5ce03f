#include "export/page/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "export/page/page_columns.h"
#include "export/page/page_writer.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

StackProfile small_profile() {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  StackFrameId main = builder.frame({.name = builder.intern("main")});
  StackFrameId work = builder.frame({.name = builder.intern("work")});
  std::vector<StackFrameId> outer = {main}, inner = {main, work};
  auto thread = static_cast<uint32_t>(builder.add_thread(
      {.pid = 7, .tid = 8, .name = builder.intern("t"), .process_name = builder.intern("p")}));
  builder.add_sample(builder.node_of(inner), column, 300, {.time_ns = 5'002'000, .thread = thread});
  builder.add_sample(builder.node_of(outer), column, 5, {.time_ns = 5'000'000, .thread = thread});
  builder.add_sample(StackNodeId(), column, 2, {.time_ns = 5'900'000, .thread = thread});
  StackProfile profile = std::move(builder).finish();
  profile.recording.emplace();
  return profile;
}

/// Decodes an integer section.
std::vector<uint64_t> integers(const std::string& block, const std::string& name) {
  size_t header_size = 0;
  for (size_t i = 4; i-- > 0;) header_size = header_size << 8 | static_cast<uint8_t>(block[i]);
  std::string header = block.substr(4, header_size);
  size_t at = header.find("\"" + name + "\":[");
  EXPECT_NE(at, std::string::npos) << name;
  unsigned long offset = 0, size = 0, count = 0;
  std::sscanf(header.c_str() + at + name.size() + 4, "%lu,%lu,%lu", &offset, &size, &count);
  std::vector<uint64_t> numbers;
  size_t byte = 4 + header_size + offset;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto next = static_cast<uint8_t>(block[byte++]);
      value |= uint64_t{next & 127u} << shift;
      if (next < 128) break;
    }
    numbers.push_back(value);
  }
  EXPECT_EQ(byte, 4 + header_size + offset + size) << name;
  return numbers;
}

TEST(PageColumns, WritesLeb128AndReals) {
  PageColumns columns;
  columns.integers("a", std::vector<uint64_t>{0, 127, 128, 300});
  columns.reals("b", {0.5});
  EXPECT_EQ(columns.bytes().substr(0, 6), std::string_view("\x00\x7f\x80\x01\xac\x02", 6));
  ASSERT_EQ(columns.sections().size(), 2u);
  EXPECT_EQ(columns.sections()[1].offset, 6u);
  EXPECT_EQ(columns.sections()[1].size, 8u);
  EXPECT_FALSE(is_whole(-1));
  EXPECT_FALSE(is_whole(0.5));
  EXPECT_FALSE(is_whole(1e18));
  EXPECT_TRUE(is_whole(9007199254740991.0));
}

TEST(PageData, HoldsTreeAndSums) {
  std::string block = page_data(small_profile(), {});
  EXPECT_THAT(integers(block, "node_depth"), ElementsAre(0, 1));
  EXPECT_THAT(integers(block, "frame_line"), ElementsAre(0, 0));
  EXPECT_THAT(integers(block, "self0_gap"), ElementsAre(0, 1, 1));
  EXPECT_THAT(integers(block, "self0_value"), ElementsAre(2, 5, 300));
}

TEST(PageData, HoldsSamplesInMicroseconds) {
  std::string block = page_data(small_profile(), {});
  EXPECT_THAT(integers(block, "sample_time"), ElementsAre(0, 2, 898));
  EXPECT_THAT(integers(block, "sample_node"), ElementsAre(1, 2, 0));
  EXPECT_THAT(integers(block, "sample_thread"), ElementsAre(0, 0, 0));
  EXPECT_THAT(integers(block, "sample_value0"), ElementsAre(5, 300, 2));
  EXPECT_THAT(block, Not(HasSubstr("sample_cpu")));
  EXPECT_THAT(block, HasSubstr(R"("begin_ns":"5000000")"));
}

/// Thread 8 runs from 1 to 11 us after the first sample and exits, and CPU 3 is unknown to 21 us.
TEST(PageData, HoldsWhatIsNotKnownOfThreads) {
  view::Timeline timeline;
  timeline.start_ns = 5'001'000;
  timeline.end_ns = 5'041'000;
  timeline.partial = "only CPU 3 of 4 was recorded";
  view::TimelineThread& thread = timeline.threads.emplace_back();
  thread.tid = 8;
  thread.ended_ns = 5'011'000;
  thread.slices = {{.start_ns = 5'001'000, .end_ns = 5'011'000, .cpu = 3}};
  timeline.unknown = {{.start_ns = 5'011'000, .end_ns = 5'021'000, .cpu = 3}};
  PageDescription description;
  description.timeline = std::move(timeline);
  std::string block = page_data(small_profile(), description);
  EXPECT_THAT(integers(block, "sched_gap"), ElementsAre(1000));
  EXPECT_THAT(integers(block, "sched_length"), ElementsAre(10'000));
  EXPECT_THAT(integers(block, "sched_ended"), ElementsAre(11'001));
  EXPECT_THAT(integers(block, "sched_span"), ElementsAre(1000, 41'000));
  EXPECT_THAT(integers(block, "sched_unknown_cpu"), ElementsAre(3));
  EXPECT_THAT(integers(block, "sched_unknown_start"), ElementsAre(11'000));
  EXPECT_THAT(integers(block, "sched_unknown_length"), ElementsAre(10'000));
  EXPECT_THAT(block, HasSubstr(R"("sched_partial":"only CPU 3 of 4 was recorded")"));
}

TEST(PageData, LeavesSamplesWithoutTimesOut) {
  StackProfile profile = small_profile();
  profile.recording->has_times = false;
  EXPECT_THAT(page_data(profile, {}), Not(HasSubstr("sample_time")));
}

TEST(PageData, PairsColumnsOfComparedProfiles) {
  StackTreeBuilder builder;
  builder.add_column("before", "samples");
  builder.add_column("after", "samples");
  StackProfile profile = std::move(builder).finish();
  PageDescription words;
  words.compared = {"a", "b"};
  EXPECT_THAT(page_data(profile, words), HasSubstr(R"("columns":[0,1])"));
}

TEST(PageWriter, DeflatesRaw) {
  std::string text(100'000, 'x');
  for (size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>('a' + i % 26);
  std::string packed = deflate_raw(text).value();
  EXPECT_LT(packed.size(), text.size() / 10);
  std::string back(text.size(), '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, -15), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(back.data());
  stream.avail_out = static_cast<uInt>(back.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_EQ(back, text);
  EXPECT_TRUE(deflate_raw("").has_value());
}

TEST(PageWriter, EncodesBase64) {  // the examples of RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(PageWriter, LetsNothingOutOfItsPlace) {
  StackProfile profile = small_profile();
  PageDescription words;
  words.title = "</title><script>alert(1)</script>";
  StringSink out;
  ASSERT_TRUE(write_page(out, profile, words));
  EXPECT_THAT(out.text(), Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(out.text(), HasSubstr("&lt;/title&gt;"));
  EXPECT_THAT(out.text(), HasSubstr("default-src 'none'"));
  std::string_view script = explorer_script();
  EXPECT_EQ(script.find("</script"), std::string_view::npos);
  EXPECT_EQ(explorer_style().find("</style"), std::string_view::npos);
}

}  // namespace
}  // namespace sonde
