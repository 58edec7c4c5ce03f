#include "sched/sum_records.h"

#include <algorithm>
#include <ctime>

#include "perfdata/records/record_encoder.h"
#include "perfdata/records/sideband.h"

namespace sonde {
namespace {

constexpr std::string_view kEventName = "sched-sums";
constexpr uint32_t kVersion = 1;
constexpr size_t kCommBytes = 16;

/// Visits the numbers of a sum in file order.
template <typename Sum, typename Visit>
void visit_numbers(Sum& sum, Visit&& visit) {
  visit(sum.first_ns);
  visit(sum.last_ns);
  visit(sum.runtime_ns);
  visit(sum.running_ns);
  visit(sum.runnable_ns);
  visit(sum.sleeping_ns);
  visit(sum.blocked_ns);
  visit(sum.delays);
  visit(sum.delay_ns);
  visit(sum.longest_ns);
  visit(sum.longest_end_ns);
}

}  // namespace

EventDesc sched_totals_event() {
  EventDesc event;
  event.name = kEventName;
  event.attr.type = abi::kTypeSoftware;
  event.attr.config = abi::kSwBpfOutput;
  event.attr.sample_period = 1;
  event.attr.sample_type =
      abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod | abi::kSampleRaw;
  event.attr.sample_id_all = 1;
  event.attr.use_clockid = 1;
  event.attr.clockid = CLOCK_MONOTONIC;
  return event;
}

void encode_sched_sum(const SchedSum& sum, const abi::EventAttr& attr, ByteBuilder& out) {
  SampleId id;
  id.pid = sum.pid;
  id.tid = sum.tid;
  id.time = sum.last_ns;
  encode(CommRecord{sum.pid, sum.tid, sum.comm, false}, {.attr = &attr, .id = id}, out);
  ByteBuilder raw(out.order());
  raw.u32(kVersion);
  std::string_view comm = std::string_view(sum.comm).substr(0, kCommBytes);
  raw.text(comm);
  raw.zeros(kCommBytes - comm.size());
  visit_numbers(sum, [&](uint64_t number) { raw.u64(number); });
  for (uint32_t count : sum.buckets) raw.u32(count);
  Sample sample;
  sample.misc = abi::kMiscUser;
  sample.id = id;
  sample.period = sum.delay_ns;
  sample.raw = raw.view();
  encode_sample(sample, attr, out);
}

std::optional<SchedSum> decode_sched_sum(const Sample& sample) {
  ByteCursor in(sample.raw, sample.order);
  if (in.u32() != kVersion) return std::nullopt;
  SchedSum sum;
  sum.pid = sample.id.pid;
  sum.tid = sample.id.tid;
  sum.comm = in.fixed_string(kCommBytes);
  visit_numbers(sum, [&](uint64_t& number) { number = in.u64(); });
  for (uint32_t& count : sum.buckets) count = in.u32();
  if (!in.ok()) return std::nullopt;
  return sum;
}

bool has_sched_sums(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return event.name == kEventName && event.attr.type == abi::kTypeSoftware &&
           event.attr.config == abi::kSwBpfOutput;
  });
}

RecordedTotals read_sched_sums(FileScan& scan, LossLedger& losses) {
  RecordedTotals recorded;
  auto consume = [&](const RecordView& record) {
    ++recorded.counts.records;
    EventId event = scan.events().of(record);
    if (record.type == abi::kRecordLost && event.valid()) {
      auto lost = decode_as<LostRecord>(record, scan.events()[event].layout);
      if (!lost) return false;
      recorded.counts.lost += lost->lost;
      ++recorded.counts.lost_chunks;
    }
    if (record.type != abi::kRecordSample) return true;
    Sample sample;
    if (!event.valid() || !decode_sample(record, scan.events()[event].layout, sample)) return false;
    std::optional<SchedSum> sum = decode_sched_sum(sample);
    if (sum) recorded.sums.push_back(std::move(*sum));
    return sum.has_value();
  };
  uint64_t bad = 0;
  for (auto blocks = scan.next(); !blocks.empty(); blocks = scan.next())
    for (const RecordBlock& block : blocks) {
      RecordView record;
      for (RecordRange range(block, scan.facts().order); range.next(record);)
        bad += consume(record) ? 0 : 1;
    }
  losses.add(LossKind::k_bad_record, bad);
  return recorded;
}

std::vector<TaskLatency> latencies_of(const std::vector<SchedSum>& sums, bool by_name) {
  static_assert(SchedSum::kBuckets == DelayHistogram::kBuckets);
  std::vector<TaskLatency> rows;
  for (const SchedSum& sum : sums) {
    TaskLatency& row = rows.emplace_back();
    row.tid = sum.tid;
    row.name = sum.comm;
    row.runtime_ns = sum.runtime_ns;
    row.delays = sum.delays;
    row.total_ns = sum.delay_ns;
    row.longest_ns = sum.longest_ns;
    row.longest_end_ns = sum.longest_end_ns;
    row.longest_start_ns = sum.longest_end_ns - std::min(sum.longest_end_ns, sum.longest_ns);
    std::ranges::copy(sum.buckets, row.histogram.counts.begin());
  }
  sort_by_tid(rows);
  return by_name ? merge_by_name(rows) : rows;
}

}  // namespace sonde
