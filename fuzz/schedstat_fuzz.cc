// Arbitrary bytes as /proc/schedstat: rejected, or the content survives being recorded. And
// arbitrary bytes as records.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "sched/schedstat_records.h"
#include "sched/schedstat_table.h"

namespace {

using namespace sonde;

SchedstatReader read_records(Bytes bytes, bool& all_taken) {
  SchedstatReader reader;
  constexpr size_t kHeader = 8;
  while (bytes.size() >= kHeader) {
    size_t size = load<uint16_t>(bytes.data() + 6, kHostOrder);
    if (size < kHeader || size > bytes.size()) break;
    RecordView record;
    record.type = load<uint32_t>(bytes.data(), kHostOrder);
    record.payload = bytes.subspan(kHeader, size - kHeader);
    record.order = kHostOrder;
    all_taken &= reader.consume(record);
    bytes = bytes.subspan(size);
  }
  return reader;
}

void show(const std::vector<Schedstat>& snapshots) {
  if (snapshots.empty()) return;
  auto counted = schedstat_between(snapshots.front(), snapshots.back());
  if (!counted) return;
  StringSink out;
  write_schedstat(out, *counted, {});
  write_schedstat_diff(out, *counted, *counted, {.descriptions = true});
}

}  // namespace

FUZZ_TARGET(schedstat)(const uint8_t* data, size_t size) {
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  bool all_taken = true;
  show(read_records(bytes, all_taken).snapshots());
  auto stat = parse_schedstat(as_text(bytes), "fuzz");
  ByteBuilder records;
  if (!stat || !encode_schedstat(*stat, records)) return 0;
  all_taken = true;
  SchedstatReader again = read_records(records.view(), all_taken);
  CHECK(all_taken && again.snapshots().size() == 1);
  show(again.snapshots());
  return 0;
}
