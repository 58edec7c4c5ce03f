#include "stacks/pprof_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Writer = protozero::pbf_writer;

/// Builds a profile field by field.
class Pprof {
 public:
  Pprof() { text(""); }

  int64_t text(const std::string& text) {
    writer_.add_string(6, text);
    return strings_++;
  }
  void type(const std::string& type, const std::string& unit) {
    int64_t type_index = text(type);
    int64_t unit_index = text(unit);
    Writer value(writer_, 1);
    value.add_int64(1, type_index);
    value.add_int64(2, unit_index);
  }
  void mapping(uint64_t id, const std::string& file) {
    int64_t index = text(file);
    Writer mapping(writer_, 3);
    mapping.add_uint64(1, id);
    mapping.add_int64(5, index);
  }
  void function(uint64_t id, const std::string& name, const std::string& file = "", int line = 0) {
    int64_t name_index = text(name);
    int64_t file_index = file.empty() ? 0 : text(file);
    Writer function(writer_, 5);
    function.add_uint64(1, id);
    function.add_int64(2, name_index);
    function.add_int64(4, file_index);
    function.add_int64(5, line);
  }
  /// `functions`: innermost first.
  void location(uint64_t id, const std::vector<uint64_t>& functions, uint64_t mapping = 0) {
    Writer location(writer_, 4);
    location.add_uint64(1, id);
    location.add_uint64(2, mapping);
    location.add_uint64(3, 0x1234);
    for (uint64_t function : functions) {
      Writer line(location, 4);
      line.add_uint64(1, function);
    }
  }
  void sample(const std::vector<uint64_t>& locations, const std::vector<int64_t>& values,
              const std::string& comm = "") {
    int64_t key = comm.empty() ? 0 : text("comm");
    int64_t value = comm.empty() ? 0 : text(comm);
    Writer sample(writer_, 2);
    sample.add_packed_uint64(1, locations.begin(), locations.end());
    sample.add_packed_int64(2, values.begin(), values.end());
    if (comm.empty()) return;
    Writer label(sample, 3);
    label.add_int64(1, key);
    label.add_int64(2, value);
  }
  /// Samples precede what they refer to, as some writers do it.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  Writer& writer() { return writer_; }

 private:
  std::string bytes_;
  Writer writer_{bytes_};
  int64_t strings_ = 0;
};

struct ReadPprof {
  LossLedger losses;
  Result<StackProfile> profile;
  explicit ReadPprof(const std::string& bytes, bool task_root = true)
      : profile(read_pprof(bytes, "test", task_root, losses)) {}
};

TEST(PprofReader, ReadsStacks) {
  Pprof pprof;
  pprof.type("samples", "count");
  pprof.type("cpu", "nanoseconds");
  pprof.sample({2, 1}, {3, 30});
  pprof.sample({1}, {1, 10});
  pprof.mapping(7, "/bin/x");
  pprof.location(1, {1}, 7);
  pprof.location(2, {3, 2}, 7);  // 3 inlined into 2
  pprof.function(1, "main", "main.go", 12);
  pprof.function(2, "net/http.(*Client).Do");
  pprof.function(3, "a;b");
  ReadPprof read(pprof.bytes());
  ASSERT_TRUE(read.profile) << read.profile.error().message;
  const StackProfile& profile = *read.profile;
  ASSERT_EQ(profile.columns.size(), 2u);
  EXPECT_EQ(profile.columns[0].name, "cpu");  // pprof shows the last one
  EXPECT_EQ(profile.columns[0].unit, "nanoseconds");
  EXPECT_THAT(lines_of(profile), ElementsAre("main 10", "main;net/http.(*Client).Do;a:b 30"));
  EXPECT_THAT(lines_of(profile, 1), ElementsAre("main 1", "main;net/http.(*Client).Do;a:b 3"));
  const StackFrame& main = profile.frame_of(StackNodeId(0));
  EXPECT_EQ(profile.text(main.file), "main.go");
  EXPECT_EQ(main.line, 12u);
  EXPECT_EQ(profile.text(main.object), "/bin/x");
  EXPECT_EQ(profile.frame_of(StackNodeId(2)).kind, FrameKind::kInlined);
  EXPECT_EQ(read.losses.total(), 0u);
}

TEST(PprofReader, ShowsTheTypeThatTheProfileNames) {
  Pprof pprof;
  pprof.type("alloc_space", "bytes");
  pprof.type("inuse_space", "bytes");
  pprof.writer().add_int64(14, 1);  // "alloc_space"
  pprof.location(1, {});
  pprof.sample({1}, {5, 6});
  EXPECT_EQ(ReadPprof(pprof.bytes()).profile->columns[0].name, "alloc_space");
}

TEST(PprofReader, JoinsCountsToTheirEvents) {
  Pprof pprof;
  pprof.type("cycles_sample", "count");
  pprof.type("cycles_event", "count");
  pprof.location(1, {1});
  pprof.function(1, "main");
  pprof.sample({1}, {2, 4000}, "my app");
  pprof.sample({1}, {3, 6000}, "my app");
  ReadPprof read(pprof.bytes());
  ASSERT_EQ(read.profile->columns.size(), 1u);
  EXPECT_EQ(read.profile->columns[0].name, "cycles");
  EXPECT_EQ(read.profile->columns[0].samples, 5u);
  EXPECT_THAT(lines_of(*read.profile), ElementsAre("my_app;main 10000"));
  EXPECT_THAT(lines_of(*ReadPprof(pprof.bytes(), false).profile), ElementsAre("main 10000"));
}

TEST(PprofReader, ObjectsStandForWhatHasNoFunction) {
  Pprof pprof;
  pprof.type("cpu", "nanoseconds");
  pprof.mapping(1, "/usr/lib/libc.so.6");
  pprof.location(1, {}, 1);
  pprof.location(2, {});
  pprof.sample({1, 2}, {1});
  EXPECT_THAT(lines_of(*ReadPprof(pprof.bytes()).profile), ElementsAre("[unknown];[libc.so.6] 1"));
}

TEST(PprofReader, DamageIsCounted) {
  Pprof pprof;
  pprof.type("cpu", "nanoseconds");
  pprof.location(1, {99});
  pprof.sample({1, 42}, {1});
  pprof.sample({1}, {-5});
  ReadPprof read(pprof.bytes());
  EXPECT_THAT(lines_of(*read.profile), ElementsAre("[unknown] 1"));
  EXPECT_EQ(read.losses.count(LossKind::k_bad_record), 2u);
  for (size_t size = 0; size < pprof.bytes().size(); ++size)
    (void)ReadPprof(pprof.bytes().substr(0, size));
  pprof.writer().add_fixed32(14, 1);  // numbers where messages belong, and vice versa
  pprof.writer().add_int64(2, 8);
  pprof.writer().add_string(14, "cpu");
  EXPECT_TRUE(ReadPprof(pprof.bytes()).profile);
  ReadPprof nothing("\x0a\x7f");
  ASSERT_FALSE(nothing.profile);
  EXPECT_THAT(nothing.profile.error().message, HasSubstr("test: damaged"));
}

TEST(PprofReader, FewBytesMakeNoManyFrames) {
  Pprof pprof;
  pprof.type("cpu", "nanoseconds");
  pprof.location(1, std::vector<uint64_t>(500, 1));
  pprof.function(1, "main");
  for (int i = 0; i < 20; ++i) pprof.sample(std::vector<uint64_t>(500, 1), {1});
  ReadPprof read(pprof.bytes());
  EXPECT_LE(read.profile->nodes.size(), 32 * pprof.bytes().size());
  EXPECT_GT(read.losses.count(LossKind::k_bad_record), 0u);
}

TEST(PprofReader, IdsMayBeAnyNumbers) {
  Pprof pprof;
  pprof.type("cpu", "nanoseconds");
  pprof.function(1, "main");
  constexpr uint64_t kLocations = 10'000;
  for (uint64_t i = 1; i <= kLocations; ++i) pprof.location(i << 40, {1});
  pprof.sample({kLocations << 40}, {7});
  EXPECT_THAT(lines_of(*ReadPprof(pprof.bytes()).profile), ElementsAre("main 7"));
}

TEST(PprofReader, IsKnownByItsFirstBytes) {
  Pprof pprof;
  pprof.type("cpu", "nanoseconds");
  EXPECT_TRUE(looks_like_pprof(pprof.bytes()));
  EXPECT_FALSE(
      looks_like_pprof("\x7f"
                       "ELF"));
  EXPECT_FALSE(looks_like_pprof(""));
  EXPECT_TRUE(
      looks_like_pprof(std::string_view(pprof.bytes()).substr(0, pprof.bytes().size() - 1)));
  EXPECT_FALSE(looks_like_pprof("job\x01;main;read 3\njob\x01;main;write 4\n"));
}

}  // namespace
}  // namespace sonde
