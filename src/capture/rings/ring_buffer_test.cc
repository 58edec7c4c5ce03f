#include "capture/rings/ring_buffer.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <cstring>

#include "abi/perf_event.h"

namespace sonde {
namespace {

/// Memory laid out like a mapping, with the kernel's part played by hand.
class FakeRing {
 public:
  explicit FakeRing(size_t size)
      : page_size_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))),
        memory_(page_size_ + size),
        size_(size) {}
  std::byte* mapping() { return memory_.data(); }
  perf_event_mmap_page& page() { return *reinterpret_cast<perf_event_mmap_page*>(memory_.data()); }
  void put(uint64_t at, uint32_t type, uint16_t size) {
    abi::RecordHeader header{type, 0, size};
    std::memcpy(memory_.data() + page_size_ + at % size_, &header, sizeof header);
  }

 private:
  size_t page_size_;
  std::vector<std::byte> memory_;
  size_t size_;
};

TEST(RingBuffer, HandsOutWhatIsNewAndGivesTheSpaceBack) {
  FakeRing fake(64);
  RingBuffer ring = RingBuffer::over(fake.mapping(), 64, false);
  EXPECT_TRUE(ring.peek().empty());
  fake.put(0, 9, 24);
  fake.page().data_head = 24;
  RingPiece piece = ring.peek();
  EXPECT_EQ(piece.size(), 24u);
  EXPECT_EQ(fake.page().data_tail, 0u);
  ring.consume();
  EXPECT_EQ(fake.page().data_tail, 24u);
  EXPECT_TRUE(ring.peek().empty());
}

TEST(RingBuffer, AWrapGivesTwoViewsWithoutCopy) {
  FakeRing fake(64);
  RingBuffer ring = RingBuffer::over(fake.mapping(), 64, false);
  fake.page().data_head = 48;
  EXPECT_EQ(ring.peek().size(), 48u);
  ring.consume();
  fake.page().data_head = 48 + 40;
  RingPiece piece = ring.peek();
  EXPECT_EQ(piece.first.size(), 16u);
  EXPECT_EQ(piece.second.size(), 24u);
  EXPECT_EQ(piece.second.data() + 48, piece.first.data());
}

TEST(RingBuffer, BackwardGivesEverythingUntilTheRingHasGoneRound) {
  FakeRing fake(64);
  RingBuffer ring = RingBuffer::over(fake.mapping(), 64, true);
  uint64_t head = 0;
  for (int i = 0; i < 2; ++i) fake.put(head -= 24, 9, 24);
  fake.page().data_head = head;
  EXPECT_EQ(ring.peek_backward().size(), 48u);
  EXPECT_TRUE(ring.peek_backward().empty());
}

TEST(RingBuffer, BackwardStopsBeforeTheRecordThatWasCut) {
  FakeRing fake(64);
  RingBuffer ring = RingBuffer::over(fake.mapping(), 64, true);
  uint64_t head = 0;
  for (int i = 0; i < 4; ++i) fake.put(head -= 24, 9, 24);  // 96 bytes into 64
  fake.page().data_head = head;
  EXPECT_EQ(ring.peek_backward().size(), 48u);
}

}  // namespace
}  // namespace sonde
