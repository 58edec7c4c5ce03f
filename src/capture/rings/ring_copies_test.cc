#include "capture/rings/ring_copies.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <cstring>

namespace sonde {
namespace {

/// A ring of 64 bytes in memory laid out like a mapping; the kernel's part is played by hand.
class SmallRing {
 public:
  SmallRing()
      : page_size_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))), memory_(page_size_ + 64) {}
  CaptureRing ring(bool backward = false) {
    return {RingBuffer::over(memory_.data(), 64, backward), 0, -1};
  }
  void put_backward(uint32_t type, uint16_t size) {
    auto& page = *reinterpret_cast<perf_event_mmap_page*>(memory_.data());
    abi::RecordHeader header{type, 0, size};
    page.data_head -= size;
    std::memcpy(memory_.data() + page_size_ + page.data_head % 64, &header, sizeof header);
  }
  void put(uint32_t type, uint16_t size) {
    auto& page = *reinterpret_cast<perf_event_mmap_page*>(memory_.data());
    abi::RecordHeader header{type, 0, size};
    std::memcpy(memory_.data() + page_size_ + page.data_head % 64, &header, sizeof header);
    page.data_head += size;
  }

 private:
  size_t page_size_;
  std::vector<std::byte> memory_;
};

std::vector<size_t> sizes(const std::vector<RecordBlock>& blocks) {
  std::vector<size_t> found;
  for (const RecordBlock& block : blocks) found.push_back(block.bytes.size());
  return found;
}

TEST(RingCopies, AStretchIsABlockPerRingOfWhatCame) {
  SmallRing first, second;
  std::vector<CaptureRing> rings;
  rings.push_back(first.ring());
  rings.push_back(second.ring());
  RingSet set = RingSet::of(Sys::host(), std::move(rings));
  RingCopies copies(set, 1000);
  EXPECT_TRUE(copies.take().empty());
  first.put(9, 24);
  EXPECT_EQ(copies.drain(), 24u);
  first.put(9, 40);  // wraps around the end of the ring
  second.put(9, 8);
  EXPECT_EQ(copies.drain(), 40u);
  std::vector<RecordBlock> blocks = copies.take();
  EXPECT_EQ(sizes(blocks), (std::vector<size_t>{64, 8}));
  RecordRange range(blocks[0], kHostOrder);
  RecordView record;
  ASSERT_TRUE(range.next(record));
  EXPECT_EQ(record.size(), 24u);
  EXPECT_TRUE(copies.take().empty());
}

TEST(RingCopies, KeepsTheLastStretches) {
  SmallRing ring;
  std::vector<CaptureRing> rings;
  rings.push_back(ring.ring());
  RingSet set = RingSet::of(Sys::host(), std::move(rings));
  RingCopies copies(set, 50);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(copies.dropped_any());
    ring.put(9, 24);
    copies.drain();
    (void)copies.take();
  }
  EXPECT_TRUE(copies.dropped_any());
  EXPECT_EQ(copies.kept().size(), 2u);
}

TEST(RingCopies, AnOverwrittenRingGivesItsLastRecordsInOrder) {
  SmallRing ring;
  std::vector<CaptureRing> rings;
  rings.push_back(ring.ring(/*backward=*/true));
  RingSet set = RingSet::of(Sys::host(), std::move(rings));
  RingCopies copies(set, 1000);
  auto taken = [&] {
    std::vector<uint32_t> types;
    for (const RecordBlock& block : copies.take()) {
      RecordRange range(block, kHostOrder);
      for (RecordView record; range.next(record);) types.push_back(record.type);
    }
    return types;
  };
  for (uint32_t type : {1u, 2u}) ring.put_backward(type, 24);
  EXPECT_EQ(copies.drain(), 0u);
  EXPECT_EQ(taken(), (std::vector<uint32_t>{1, 2}));
  for (uint32_t type : {3u, 4u, 5u, 6u}) ring.put_backward(type, 24);
  EXPECT_EQ(taken(), (std::vector<uint32_t>{5, 6}));
  EXPECT_TRUE(taken().empty());
}

}  // namespace
}  // namespace sonde
