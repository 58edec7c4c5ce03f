#include "python/stat_rounds.h"

#include <string>

#include "python/handler_names.h"

namespace sonde::python {
namespace {

constexpr uint64_t kTermAggregation =
    0;                           // of a STAT_CONFIG record: PERF_STAT_CONFIG_TERM__AGGR_MODE
constexpr uint64_t kGlobal = 1;  // AGGR_GLOBAL

}  // namespace

Result<> StatRounds::take() {
  for (const OtherRecord& record : session_.other_records()) {
    note(record.view);
    if (record.view.type != abi::kRecordStatRound) continue;
    if (auto round = decode_user<StatRoundRecord>(record.view)) TRY(end_round(round->time));
  }
  return {};
}

void StatRounds::note(const RecordView& record) {
  if (record.type == abi::kRecordStatConfig) {
    auto config = decode_user<StatConfigRecord>(record);
    for (size_t i = 0; config && i + 1 < config->terms.size(); i += 2)
      if (config->terms[i] == kTermAggregation) is_global_ = config->terms[i + 1] == kGlobal;
  } else if (record.type == abi::kRecordThreadMap) {
    tids_.clear();
    if (auto map = decode_user<ThreadMapRecord>(record))
      for (const ThreadMapRecord::Entry& entry : map->threads)
        tids_.push_back(static_cast<int32_t>(entry.tid));
  } else if (record.type == abi::kRecordCpuMap) {
    if (auto map = decode_user<CpuMapRecord>(record)) cpus_ = map->cpus;
  } else if (record.type == abi::kRecordStat) {
    auto stat = decode_user<StatRecord>(record);
    EventId event = stat ? session_.events().by_id(stat->id) : EventId();
    if (!event.valid()) return;
    int cpu = counted_cpu(stat->cpu, cpus_, session_.events()[event].own_cpus).value_or(-1);
    now_[{event.value, stat->thread, cpu}] = {stat->value, stat->enabled, stat->running};
  }
}

Result<> StatRounds::end_round(uint64_t time) {
  std::vector<Count> sums(session_.events().size());
  for (const auto& [key, total] : now_) {
    const Count& before = last_[key];
    Count count{total.value - before.value, total.enabled - before.enabled,
                total.running - before.running};
    if (count.running != 0 && count.running < count.enabled)
      count.value = static_cast<uint64_t>(static_cast<double>(count.value) *
                                              static_cast<double>(count.enabled) /
                                              static_cast<double>(count.running) +
                                          0.5);
    if (!is_global_) {
      int tid = key.thread < tids_.size() ? tids_[key.thread] : -1;
      TRY(call(key.event, key.cpu, tid, time, count));
      continue;
    }
    Count& sum = sums[key.event];
    sum.value += count.value;
    sum.enabled += count.enabled;
    sum.running += count.running;
  }
  last_ = now_;
  for (uint32_t event = 0; is_global_ && event < sums.size(); ++event)
    TRY(call(event, -1, -1, time, sums[event]));
  std::vector<PyRef> arguments;
  arguments.push_back(number_object(time));
  return script_.call_if_there("stat__interval", std::move(arguments));
}

Result<> StatRounds::call(uint32_t event, int cpu, int thread, uint64_t time, const Count& count) {
  std::string name = stat_handler_name(session_.events()[EventId(size_t{event})].name);
  std::vector<PyRef> arguments;
  arguments.push_back(signed_object(cpu));
  arguments.push_back(signed_object(thread));
  for (uint64_t number : {time, count.value, count.enabled, count.running})
    arguments.push_back(number_object(number));
  return script_.call_if_there(name, std::move(arguments));
}

}  // namespace sonde::python
