// The same bytes, followed as a stream and read as a whole, hold the same records, whatever the
// sizes of the pieces in which they arrive (the first byte selects them).
#include <unistd.h>

#include <thread>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "perfdata/read/stream_reader.h"

namespace {

using namespace sonde;

void add_types(std::span<const RecordBlock> blocks, ByteOrder order, std::vector<uint32_t>& types) {
  RecordView record;
  for (const RecordBlock& block : blocks)
    for (RecordRange range(block, order); range.next(record);)
      types.push_back(record.type ^ static_cast<uint32_t>(record.payload.size() << 8));
}

}  // namespace

FUZZ_TARGET(pipe)(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 60000;
  if (size < 1 || size > kMaxBytes) return 0;
  size_t piece = data[0] + 1u;
  Bytes input(reinterpret_cast<const std::byte*>(data) + 1, size - 1);

  LossLedger whole_losses, stream_losses;
  std::vector<uint32_t> whole, streamed;
  auto recording = Recording::open_bytes(input, "fuzz", whole_losses);
  if (recording) add_types(recording->blocks(), recording->byte_order(), whole);

  int ends[2];
  CHECK(::pipe(ends) == 0);
  std::jthread writer([&, fd = ends[1]] {
    for (size_t at = 0; at < input.size(); at += piece)
      if (::write(fd, input.data() + at, std::min(piece, input.size() - at)) < 0) break;
    ::close(fd);
  });
  auto reader = StreamReader::open(ends[0], "fuzz", {}, stream_losses);
  while (reader) {
    auto blocks = reader->next();
    CHECK(blocks.has_value());
    if (blocks->empty()) break;
    add_types(*blocks, reader->byte_order(), streamed);
    reader->release_before(reader->mark());
  }
  writer.join();
  ::close(ends[0]);
  // A stream may end before its header is complete; as a whole that is an error.
  if (recording) CHECK(whole == streamed);
  return 0;
}
