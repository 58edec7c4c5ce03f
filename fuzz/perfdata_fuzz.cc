// Arbitrary bytes as a recording: opened, every record decoded, everything ordered. No crash, no
// read outside the input, memory proportional to it.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "perfdata/header/tracing_data.h"
#include "perfdata/read/ordering.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/sideband.h"
#include "perfdata/records/user_records.h"

namespace {

using namespace sonde;

/// Reads what a decoder returned, so that an invalid view is detected.
uint64_t touch(Bytes bytes) {
  uint64_t sum = 0;
  for (std::byte b : bytes) sum += std::to_integer<uint64_t>(b);
  return sum;
}
uint64_t touch(std::string_view text) {
  return touch(as_bytes(text));
}

uint64_t touch_sample(const RecordView& record, const SampleLayout& layout) {
  Sample s;
  if (!decode_sample(record, layout, s)) return 0;
  uint64_t sum = touch(s.callchain.bytes()) + touch(s.raw) + touch(s.branches.bytes()) +
                 touch(s.branch_counters.bytes()) + touch(s.stack_user) + touch(s.aux) +
                 touch(s.regs_user.words.bytes()) + touch(s.regs_intr.words.bytes());
  for (uint64_t i = 0; s.read.present && i < s.read.count; ++i)
    sum += s.read.at(i).id + s.read.at(i).lost;
  for (uint32_t reg = 0; reg < 70; ++reg)
    sum += s.regs_user.get(reg).value_or(0) + s.regs_intr.get(reg).value_or(0);
  for (size_t i = 0; i < s.branch_count(); ++i) sum += s.branch(i).cycles();
  return sum;
}

uint64_t touch_sideband(const RecordView& r, const SampleLayout& layout) {
  uint64_t sum = 0;
  if (auto m = decode_as<MmapRecord>(r, layout)) sum += touch(m->path) + touch(m->build_id);
  if (auto c = decode_as<CommRecord>(r, layout)) sum += touch(c->comm);
  if (auto n = decode_as<NamespacesRecord>(r, layout)) sum += touch(n->links.bytes());
  if (auto k = decode_as<KsymbolRecord>(r, layout)) sum += touch(k->name);
  if (auto b = decode_as<BpfEventRecord>(r, layout)) sum += touch(b->tag);
  if (auto c = decode_as<CgroupRecord>(r, layout)) sum += touch(c->path);
  if (auto t = decode_as<TextPokeRecord>(r, layout))
    sum += touch(t->old_bytes) + touch(t->new_bytes);
  if (auto d = decode_as<CallchainDeferredRecord>(r, layout)) sum += touch(d->ips.bytes());
  if (auto read = decode_as<ReadRecord>(r, layout))
    for (uint64_t i = 0; i < read->read.count; ++i) sum += read->read.at(i).value;
  return sum + decode_trailing_id(r, layout).id;
}

uint64_t touch_user(const RecordView& r) {
  uint64_t sum = 0;
  if (auto a = decode_user<HeaderAttrRecord>(r)) sum += touch(a->ids.bytes());
  if (auto e = decode_user<EventTypeRecord>(r)) sum += touch(e->name);
  if (auto i = decode_user<IdIndexRecord>(r))
    sum += touch(i->entries.bytes()) + touch(i->guests.bytes());
  if (auto i = decode_user<AuxtraceInfoRecord>(r)) sum += touch(i->priv.bytes());
  if (auto e = decode_user<AuxtraceErrorRecord>(r)) sum += touch(e->message);
  if (auto m = decode_user<ThreadMapRecord>(r))
    for (const auto& entry : m->threads) sum += touch(entry.comm);
  if (auto m = decode_user<CpuMapRecord>(r)) sum += m->cpus.size();
  if (auto c = decode_user<StatConfigRecord>(r)) sum += touch(c->terms.bytes());
  if (auto u = decode_user<EventUpdateRecord>(r)) sum += touch(u->text);
  if (auto m = decode_user<BpfMetadataRecord>(r))
    for (const auto& [key, value] : m->entries) sum += touch(key) + touch(value);
  if (auto b = decode_build_id(r)) sum += touch(b->path);
  return sum;
}

}  // namespace

FUZZ_TARGET(perfdata)(const uint8_t* data, size_t size) {
  LossLedger losses;
  Bytes input(reinterpret_cast<const std::byte*>(data), size);
  auto recording = Recording::open_bytes(input, "fuzz", losses);
  if (!recording) return 0;
  uint64_t last_time = 0, records = 0, given_out = 0, late = 0, sum = 0;
  RoundSorter sorter(
      [&](std::span<const TimedRecord> sorted) {
        for (const TimedRecord& r : sorted) {
          late += r.time < last_time;
          last_time = std::max(last_time, r.time);
        }
        given_out += sorted.size();
      },
      losses);
  for (const RecordBlock& block : recording->blocks()) {
    sum += touch(block.trailing);
    RecordView r;
    RecordRange range(block, recording->byte_order());
    while (range.next(r)) {
      ++records;
      sum += touch(r.payload) + touch_user(r);
      EventId event = recording->events().of(r);
      TimedRecord timed{UINT64_MAX, event, r};
      if (event.valid()) {
        const SampleLayout& layout = recording->events()[event].layout;
        sum += touch_sample(r, layout) + touch_sideband(r, layout);
        if (SampleId id; decode_sample_id(r, layout, id)) timed.time = id.time;
      }
      sorter.push(timed);
      if (r.type == abi::kRecordFinishedRound) sorter.finish_round();
    }
    CHECK(range.stopped_at() == block.bytes.size());
  }
  sorter.flush();
  CHECK(given_out == records);
  CHECK(late == losses.count(LossKind::k_out_of_order));
  TracingData tracing = TracingData::parse(recording->features().tracing_data);
  for (const TracingData::Format& format : tracing.formats()) sum += touch(format.text);
  return sum == 1 ? 1 : 0;
}
