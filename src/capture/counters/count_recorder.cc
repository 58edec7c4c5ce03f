#include "capture/counters/count_recorder.h"

#include "capture/opening/event_opener.h"
#include "perfdata/records/user_records.h"

namespace sonde {

Result<> CountRecorder::begin(CounterSet& counters, CountFileSettings settings) {
  settings_ = std::move(settings);
  TRY(counters.fetch_ids());
  output_.emplace(TRY(RecordOutput::create({.output = settings_.output,
                                            .switching = no_switching_,
                                            .stdout_fd = env_.out_fd,
                                            .sys = &env_.sys})));
  RecordOptions described;
  described.command_line = settings_.command_line;
  described.sampling.bpf_events = false;
  features_ = TRY(initial_features(counters.capture(), described, env_.tool));
  mark_present(features_.features);
  features_.features.present.push_back(abi::kFeatureStat);
  std::ranges::sort(features_.features.present);
  TRY(output_->writer().begin(event_descriptions(counters.capture()), features_.features));
  ByteBuilder records;
  put_units(counters, records);
  put_maps(counters, records);
  put_config(records);
  return write(records);
}

/// A full disk keeps what fitted.
Result<> CountRecorder::write(const ByteBuilder& records) {
  Result<> written = output_->writer().main().write(records.view());
  if (!written) (void)finish();
  return written;
}

void CountRecorder::put_units(const CounterSet& counters, ByteBuilder& out) const {
  for (size_t i = 0; i < counters.events().size() && i < settings_.units.size(); ++i) {
    const std::vector<OpenedEvent>& opened = counters.events()[i].opened;
    if (opened.empty()) continue;
    EventUpdateRecord update{
        .kind = EventUpdateKind::kUnit, .id = opened[0].id, .text = {}, .scale = 1, .cpus = {}};
    const CountFileSettings::Unit& unit = settings_.units[i];
    update.text = unit.name;
    if (!unit.name.empty()) encode(update, out);
    update.kind = EventUpdateKind::kScale;
    update.scale = unit.scale;
    if (unit.scale != 1) encode(update, out);
    update.kind = EventUpdateKind::kCpus;
    update.cpus.cpus = cpus_of(counters.events()[i], counters.target());
    // The tool's own times are one number, which is filed as the first CPU's.
    if (counters.events()[i].parsed.tool != ToolEvent::kNone && !update.cpus.cpus.empty())
      update.cpus.cpus.resize(1);
    if (update.cpus.cpus != counters.target().cpus) encode(update, out);
    // ATTR records in a pipe carry no names.
    update.kind = EventUpdateKind::kName;
    update.text = counters.events()[i].parsed.name;
    if (output_->is_pipe()) encode(update, out);
  }
}

void CountRecorder::put_maps(const CounterSet& counters, ByteBuilder& out) const {
  const Target& target = counters.target();
  ThreadMapRecord threads;
  for (const ThreadEntry& thread : target.threads)
    threads.threads.push_back({static_cast<uint64_t>(int64_t{thread.tid}), thread.comm});
  encode(threads, out);
  encode(CpuMapRecord{target.cpus}, out);
}

void CountRecorder::put_config(ByteBuilder& out) const {
  ByteBuilder words;
  auto put = [&](CountFileTag tag, uint64_t value) {
    words.u64(static_cast<uint64_t>(tag));
    words.u64(value);
  };
  put(CountFileTag::kMode, static_cast<uint64_t>(settings_.mode));
  put(CountFileTag::kInterval, settings_.interval_ms);
  put(CountFileTag::kScale, settings_.scale ? 1 : 0);
  encode(StatConfigRecord{WordView(words.view(), words.order())}, out);
}

Result<> CountRecorder::round(const CounterSet& counters,
                              const std::vector<EventReadings>& readings, CountRoundKind kind,
                              uint64_t time_ns) {
  ByteBuilder records;
  for (size_t i = 0; i < readings.size(); ++i) {
    const std::vector<OpenedEvent>& opened = counters.events()[i].opened;
    size_t threads = readings[i].threads();
    for (size_t k = 0; k < opened.size() && k < readings[i].values.size(); ++k) {
      const CounterReading& reading = readings[i].values[k];
      encode(StatRecord{.id = opened[k].id,
                        .cpu = static_cast<uint32_t>(readings[i].cpus[k / threads]),
                        .thread = static_cast<uint32_t>(k % threads),
                        .value = reading.value,
                        .enabled = reading.enabled_ns,
                        .running = reading.running_ns},
             records);
    }
  }
  encode(StatRoundRecord{static_cast<uint64_t>(kind), time_ns}, records);
  TRY(write(records));
  return output_->writer().main().settle();  // a round is in the file before the next begins
}

Result<> CountRecorder::finish() {
  return output_->writer().finish(features_.features);
}

}  // namespace sonde
