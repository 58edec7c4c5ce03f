#include "capture/rings/stream_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

namespace sonde {
namespace {

/// Writes every block twice, and a last word at the end.
class Twice final : public RecordTransform {
 public:
  void begin(const std::vector<EventDesc>&) override {}
  Result<> take(std::vector<std::byte> block, bool, Output& output) override {
    TRY(output.write_ring(block));
    TRY(output.write(block));
    output.release(std::move(block));
    return {};
  }
  Result<> finish(Output& output) override { return output.write(as_bytes("the end.")); }
};

class Refusing final : public RecordTransform {
 public:
  void begin(const std::vector<EventDesc>&) override {}
  Result<> take(std::vector<std::byte>, bool, Output&) override {
    return fail(ErrorCode::kFailed, "no");
  }
  Result<> finish(Output&) override { return {}; }
};

class StreamWriterTest : public testing::Test {
 protected:
  [[nodiscard]] std::string written() {
    EXPECT_TRUE(stream_.flush());
    char text[4096];
    ssize_t size = ::pread(file_, text, sizeof text, 0);
    return {text, static_cast<size_t>(size)};
  }
  int file_ = ::memfd_create("stream", 0);
  RecordStream stream_{Sys::host(), Fd(file_), "stream", false};
};

TEST_F(StreamWriterTest, WritesAtOnce) {
  StreamWriter writer(stream_, {});
  ASSERT_TRUE(writer.ring(as_bytes("kernel"), as_bytes("'s")));
  ASSERT_TRUE(writer.own(as_bytes(" own")));
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(written(), "kernel's own");
}

TEST_F(StreamWriterTest, AThreadKeepsTheOrder) {
  std::string expected;
  {
    StreamWriter writer(stream_, {.blocks = 2});
    for (int i = 0; i < 200; ++i) {
      std::string text = fmt::format("{} ", i);
      expected += text;
      ASSERT_TRUE(i % 3 == 0 ? writer.own(as_bytes(text)) : writer.ring(as_bytes(text), {}));
    }
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_EQ(written(), expected);
}

TEST_F(StreamWriterTest, ATransformStandsBetween) {
  Twice twice;
  {
    StreamWriter writer(stream_, {.transform = &twice});
    ASSERT_TRUE(writer.ring(as_bytes("a"), as_bytes("b")));
    ASSERT_TRUE(writer.own(as_bytes("c")));
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_EQ(written(), "ababccthe end.");
}

TEST_F(StreamWriterTest, AnErrorOfTheBackgroundShowsAtTheFlush) {
  Refusing refusing;
  StreamWriter writer(stream_, {.transform = &refusing});
  (void)writer.own(as_bytes("a"));
  Result<> flushed = writer.flush();
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().message, "no");
}

}  // namespace
}  // namespace sonde
