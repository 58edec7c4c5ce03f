#include "capture/aux/aux_ring.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <vector>

#include "capture/aux/trace_rings.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// A PMU that writes a byte stream whose n-th byte is a function of n, and never 0.
class FakePmu {
 public:
  explicit FakePmu(size_t size) : area_(size) {}

  static std::byte byte_at(uint64_t n) { return static_cast<std::byte>(n % 255 + 1); }
  /// As in full trace mode: at most what the reader has given back. False: it had to stop.
  bool trace(uint64_t count) {
    uint64_t room = area_.size() - (written_ - page_.aux_tail);
    overwrite(std::min(count, room));
    page_.aux_head = written_;
    return count <= room;
  }
  /// As in snapshot mode; Intel's PMU tells its position only.
  void overwrite(uint64_t count, bool tells_position = false) {
    for (uint64_t end = written_ + count; written_ < end; ++written_)
      area_[written_ % area_.size()] = byte_at(written_);
    page_.aux_head = tells_position ? written_ % area_.size() : written_;
  }

  AuxRing ring() { return AuxRing::over(page_, area_); }
  perf_event_mmap_page& page() { return page_; }
  [[nodiscard]] uint64_t written() const { return written_; }

 private:
  perf_event_mmap_page page_{};
  std::vector<std::byte> area_;
  uint64_t written_ = 0;
};

std::vector<std::byte> bytes_of(const AuxRing::Piece& piece) {
  std::vector<std::byte> bytes(piece.first.begin(), piece.first.end());
  bytes.insert(bytes.end(), piece.second.begin(), piece.second.end());
  return bytes;
}

std::vector<std::byte> stream(uint64_t from, uint64_t to) {
  std::vector<std::byte> bytes;
  for (uint64_t n = from; n < to; ++n) bytes.push_back(FakePmu::byte_at(n));
  return bytes;
}

TEST(AuxRing, AFullTraceArrivesWholeInWhateverPieces) {
  FakePmu pmu(64);
  AuxRing ring = pmu.ring();
  EXPECT_TRUE(ring.peek().empty());
  uint64_t taken = 0;
  for (uint64_t count : {1u, 40u, 63u, 64u, 5u, 64u, 64u, 17u}) {
    EXPECT_TRUE(pmu.trace(count));
    AuxRing::Piece piece = ring.peek();
    EXPECT_EQ(piece.offset, taken);
    EXPECT_EQ(bytes_of(piece), stream(taken, pmu.written()));
    ring.consume();
    taken = pmu.written();
    EXPECT_EQ(pmu.page().aux_tail, taken);
    EXPECT_TRUE(ring.peek().empty());
  }
}

TEST(AuxRing, APmuWithoutRoomGoesOnWhereItStopped) {
  FakePmu pmu(64);
  AuxRing ring = pmu.ring();
  EXPECT_FALSE(pmu.trace(100));
  EXPECT_EQ(bytes_of(ring.peek()), stream(0, 64));
  EXPECT_FALSE(pmu.trace(1));  // nothing is given back before `consume`
  ring.consume();
  EXPECT_TRUE(pmu.trace(36));
  AuxRing::Piece piece = ring.peek();
  EXPECT_EQ(piece.offset, 64u);
  EXPECT_EQ(bytes_of(piece), stream(64, 100));
}

TEST(AuxRing, AHeadBeyondTheAreaYieldsItsNewestBytesOnly) {
  FakePmu pmu(64);
  AuxRing ring = pmu.ring();
  pmu.overwrite(200);
  AuxRing::Piece piece = ring.peek();
  EXPECT_EQ(piece.offset, 136u);
  EXPECT_EQ(bytes_of(piece), stream(136, 200));
}

TEST(AuxRing, SnapshotsBeforeTheAreaIsFullHaveWhatIsNew) {
  for (bool tells_position : {false, true}) {
    FakePmu pmu(8192);
    AuxRing ring = pmu.ring();
    EXPECT_TRUE(ring.take_newest(8192).empty());
    pmu.overwrite(100, tells_position);
    EXPECT_EQ(bytes_of(ring.take_newest(8192)), stream(0, 100));
    pmu.overwrite(50, tells_position);
    AuxRing::Piece piece = ring.take_newest(8192);
    EXPECT_EQ(piece.offset, 100u);
    EXPECT_EQ(bytes_of(piece), stream(100, 150));
    EXPECT_TRUE(ring.take_newest(8192).empty());
    pmu.overwrite(8000, tells_position);
    EXPECT_EQ(bytes_of(ring.take_newest(8192)), stream(150, 8150));
  }
}

TEST(AuxRing, SnapshotsOfAnAreaThatWentRoundHaveItsNewestBytes) {
  for (bool tells_position : {false, true}) {
    FakePmu pmu(64);
    AuxRing ring = pmu.ring();
    pmu.overwrite(64 * 3 + 10, tells_position);
    EXPECT_EQ(bytes_of(ring.take_newest(64)), stream(64 * 2 + 10, 64 * 3 + 10));
    pmu.overwrite(20, tells_position);
    EXPECT_EQ(bytes_of(ring.take_newest(64)), stream(64 * 2 + 30, 64 * 3 + 30));
    EXPECT_EQ(bytes_of(ring.take_newest(16)), stream(64 * 3 + 14, 64 * 3 + 30));
  }
}

TEST(TracePiece, IsARecordWithItsBytesUpToAMultipleOfEight) {
  FakePmu pmu(64);
  AuxRing ring = pmu.ring();
  pmu.trace(60);
  ring.consume();
  (void)ring.peek();
  ring.consume();
  pmu.trace(13);  // wraps after 4
  ByteBuilder out;
  write_trace_piece(ring.peek(), {.index = 3, .tid = 10, .cpu = 2}, 77, out);
  ASSERT_EQ(out.size(), kTraceRecordSize + 16);
  RecordView record;
  record.type = abi::kRecordAuxtrace;
  record.payload =
      out.view().subspan(sizeof(abi::RecordHeader), kTraceRecordSize - sizeof(abi::RecordHeader));
  auto trace = decode_user<AuxtraceRecord>(record);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->size, 16u);
  EXPECT_EQ(trace->offset, 60u);
  EXPECT_EQ(trace->reference, 77u);
  EXPECT_EQ(trace->index, 3u);
  EXPECT_EQ(trace->tid, 10u);
  EXPECT_EQ(trace->cpu, 2u);
  std::vector<std::byte> expected = stream(60, 73);
  expected.resize(16);
  Bytes data = out.view().subspan(kTraceRecordSize);
  EXPECT_EQ(std::vector<std::byte>(data.begin(), data.end()), expected);
}

}  // namespace
}  // namespace sonde
