#include "perfdata/read/decompress.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "perfdata/write/compressor.h"

namespace sonde {
namespace {

constexpr uint64_t kMemory = uint64_t{64} << 20;

std::vector<std::byte> numbered(size_t size) {
  std::vector<std::byte> bytes(size);
  constexpr size_t kRun = 97;
  for (size_t i = 0; i < size; i += kRun)
    std::memset(bytes.data() + i, static_cast<int>(i * 7 + i / 251), std::min(kRun, size - i));
  return bytes;
}

/// Payloads of the COMPRESSED records for `bytes`, passed to the compressor in `pieces`.
std::vector<std::vector<std::byte>> compressed(Bytes bytes, std::vector<size_t> pieces) {
  auto compressor = RecordCompressor::create(1);
  std::vector<std::vector<std::byte>> payloads;
  for (size_t piece : pieces) {
    ByteBuilder out;
    EXPECT_TRUE(compressor->compress(bytes.first(piece), out));
    bytes = bytes.subspan(piece);
    RecordBlock block;
    block.bytes = out.view();
    RecordView record;
    for (RecordRange range(block, kHostOrder); range.next(record);)
      payloads.emplace_back(compressed_payload(record).begin(), compressed_payload(record).end());
  }
  return payloads;
}

TEST(StreamExpander, KeepsWhatWasNotConsumed) {
  std::vector<std::byte> bytes = numbered(3000);
  StreamExpander expander(kMemory);
  std::vector<std::byte> seen;
  for (const auto& payload : compressed(bytes, {1000, 500, 1500})) {
    auto expanded = expander.expand(payload);
    ASSERT_TRUE(expanded);
    size_t whole = expanded->size() / 64 * 64;
    seen.insert(seen.end(), expanded->begin(), expanded->begin() + static_cast<ptrdiff_t>(whole));
    expander.consume(whole);
  }
  EXPECT_EQ(expander.left(), 3000u % 64);
  bytes.resize(seen.size());
  EXPECT_EQ(seen, bytes);
}

TEST(StreamExpander, EarlierBytesStayWhereTheyAre) {
  std::vector<std::byte> bytes = numbered(size_t{12} << 20);
  StreamExpander expander(size_t{6} << 20);  // small enough that some of it goes to disk
  std::vector<Bytes> parts;
  for (const auto& payload : compressed(bytes, std::vector<size_t>(24, bytes.size() / 24))) {
    auto expanded = expander.expand(payload);
    ASSERT_TRUE(expanded);
    parts.push_back(*expanded);
    expander.consume(expanded->size());
  }
  size_t at = 0;
  for (Bytes part : parts) {
    ASSERT_EQ(std::memcmp(part.data(), bytes.data() + at, part.size()), 0);
    at += part.size();
  }
  EXPECT_EQ(at, bytes.size());
}

TEST(StreamExpander, DamageIsAnErrorAndTheNextFrameIsReadAgain) {
  std::vector<std::byte> bytes = numbered(500);
  StreamExpander expander(kMemory);
  EXPECT_FALSE(expander.expand(as_bytes("this is not zstd at all")));
  EXPECT_EQ(expander.left(), 0u);
  auto expanded = expander.expand(compressed(bytes, {500}).front());
  ASSERT_TRUE(expanded);
  EXPECT_EQ(expanded->size(), 500u);
}

TEST(StreamExpander, BombsAreRefusedAndNotReadOn) {
  std::vector<std::byte> zeros(size_t{70} << 20);
  std::vector<std::byte> packed(ZSTD_compressBound(zeros.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), zeros.data(), zeros.size(), 1));
  ExpansionAllowance allowance(
      {.usual_ratio = 100, .beyond_usual = size_t{32} << 20, .at_once = SIZE_MAX});
  StreamExpander expander(kMemory, allowance);
  auto expanded = expander.expand(packed);
  ASSERT_FALSE(expanded);
  EXPECT_TRUE(expanded.error().message.starts_with("the compressed records: "));
  EXPECT_EQ(expander.left(), 0u);
  // What follows would be as much work as the bomb.
  EXPECT_FALSE(expander.expand(compressed(numbered(500), {500}).front()));
}

TEST(StreamExpander, ReleasedMemoryIsWhatNobodyLooksAt) {
  std::vector<std::byte> bytes = numbered(size_t{16} << 20);
  StreamExpander expander(kMemory);
  uint64_t before = expander.mark();
  Bytes last;
  for (const auto& payload : compressed(bytes, std::vector<size_t>(16, size_t{1} << 20))) {
    last = *expander.expand(payload);
    expander.consume(last.size());
  }
  EXPECT_GT(expander.mark(), before);
  expander.release_before(expander.mark());
  EXPECT_EQ(std::memcmp(last.data(), bytes.data() + bytes.size() - last.size(), last.size()), 0);
}

TEST(CompressedPayload, SecondFormKnowsItsSize) {
  ByteBuilder payload;
  payload.u64(3);
  payload.text("abc");
  payload.zeros(5);
  RecordView record;
  record.type = abi::kRecordCompressed2;
  record.payload = payload.view();
  EXPECT_EQ(as_text(compressed_payload(record)), "abc");
  ByteBuilder hostile;
  hostile.u64(UINT64_MAX);
  record.payload = hostile.view();
  EXPECT_TRUE(compressed_payload(record).empty());
}

}  // namespace
}  // namespace sonde
