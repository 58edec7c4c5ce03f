#include "stepping/step_recording.h"

#include <sys/mman.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/version.h"
#include "capture/recorders/record_output.h"
#include "capture/recorders/record_scan.h"
#include "capture/synthesis/object_caching.h"
#include "capture/synthesis/recording_features.h"
#include "capture/synthesis/session_features.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"
#include "stepping/step_event.h"

namespace sonde {
namespace {

constexpr uint32_t kIntelPtTrace = 1;  // AUXTRACE_INFO's type
constexpr uint32_t kNoCpu = UINT32_MAX;

uint32_t u32(pid_t id) {
  return static_cast<uint32_t>(id);
}

}  // namespace

struct StepRecording::State {
  State(const RecordOptions& recorded, RecordOutput created, std::vector<EventDesc> described)
      : options(recorded),
        output(std::move(created)),
        events(std::move(described)),
        scan({events[0].attr, events[1].attr}, {.objects = recorded.build_ids.collect,
                                                .all_objects = true,
                                                .hold_files = recorded.build_ids.collect}) {}

  [[nodiscard]] RecordFrame frame(StepTask task, uint32_t type = 0, uint16_t misc = 0) {
    uint64_t now = monotonic_ns();
    first_ns = std::min(first_ns, now);
    last_ns = now;
    return {.type = type,
            .misc = misc,
            .attr = &events[1].attr,
            .id = {.pid = u32(task.pid),
                   .tid = u32(task.tid),
                   .time = now,
                   .id = kTaskEventId,
                   .stream_id = 0,
                   .cpu = 0}};
  }
  void write(const ByteBuilder& records) {
    scan.piece(records.view());
    note(output.writer().main().write(records.view()));
  }
  /// A FORK or EXIT of `task`, which `writer` had the kernel write.
  void write_task(uint32_t type, StepTask task, StepTask parent, StepTask writer) {
    ByteBuilder record;
    RecordFrame made = frame(writer, type);
    encode(TaskRecord{.pid = u32(task.pid),
                      .ppid = u32(parent.pid),
                      .tid = u32(task.tid),
                      .ptid = u32(parent.tid),
                      .time = made.id.time},
           made, record);
    write(record);
  }
  void note(Result<> result) {
    if (!result && !error) error = result.error();
  }

  const RecordOptions& options;
  RecordOutput output;
  std::vector<EventDesc> events;
  RecordScan scan;
  Features features;
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  std::optional<Error> error;
};

StepRecording::StepRecording(std::unique_ptr<State> state) : state_(std::move(state)) {}
StepRecording::StepRecording(StepRecording&&) noexcept = default;
StepRecording::~StepRecording() = default;

Result<StepRecording> StepRecording::begin(const RecordOptions& options, Env& env) {
  RecordOutput output = TRY(RecordOutput::create({.output = options.output,
                                                  .switching = options.switch_output,
                                                  .stdout_fd = env.out_fd,
                                                  .sys = &env.sys}));
  const ParsedEvent& event = options.events[0];
  auto state =
      std::make_unique<State>(options, std::move(output), step_event_descriptions(event.name));
  collect_machine_features(state->features);
  state->features.version = version_under_name(env.tool);
  state->features.command_line = options.command_line;
  collect_clock(CLOCK_MONOTONIC, state->features);
  mark_present(state->features);
  TRY(state->output.writer().begin(state->events, state->features));

  ByteBuilder words;
  for (uint64_t word : step_trace_info()) words.u64(word);
  ByteBuilder records;
  encode(AuxtraceInfoRecord{kIntelPtTrace, {words.view(), kHostOrder}}, records);
  encode_empty(abi::kRecordFinishedInit, records);
  state->write(records);
  return StepRecording(std::move(state));
}

void StepRecording::comm(StepTask task, const std::string& name, bool by_exec) {
  ByteBuilder record;
  encode(CommRecord{u32(task.pid), u32(task.tid), name, by_exec}, state_->frame(task), record);
  state_->write(record);
}

void StepRecording::fork(StepTask child, StepTask parent) {
  state_->write_task(abi::kRecordFork, child, parent, parent);
}

void StepRecording::exit(StepTask task, StepTask parent) {
  state_->write_task(abi::kRecordExit, task, parent, task);
}

void StepRecording::mapping(StepTask task, const CodeMapping& mapping) {
  MmapRecord record{};
  record.pid = u32(task.pid);
  record.tid = u32(task.tid);
  record.start = RuntimeAddr(mapping.start);
  record.length = mapping.end - mapping.start;
  record.offset = FileOffset(mapping.offset);
  record.path = mapping.path.empty() ? std::string_view("//anon") : mapping.path;
  record.major = mapping.major;
  record.minor = mapping.minor;
  record.inode = mapping.inode;
  record.protection = static_cast<uint32_t>((mapping.readable ? PROT_READ : 0) |
                                            (mapping.writable ? PROT_WRITE : 0) | PROT_EXEC);
  record.flags = mapping.shared ? MAP_SHARED : MAP_PRIVATE;
  record.is_v2 = true;
  ByteBuilder bytes;
  encode(record, state_->frame(task, 0, abi::kMiscUser), bytes);
  state_->write(bytes);
}

void StepRecording::trace_starts(StepTask task) {
  ByteBuilder record;
  RecordFrame frame = state_->frame(task);
  frame.attr = &state_->events[0].attr;
  frame.id.id = kTraceEventId;
  encode(ItraceStartRecord{u32(task.pid), u32(task.tid)}, frame, record);
  state_->write(record);
}

void StepRecording::trace(StepTask task, uint32_t index, uint64_t offset,
                          const std::vector<std::byte>& bytes) {
  if (bytes.empty()) return;
  ByteBuilder aux;
  RecordFrame frame = state_->frame(task);
  frame.attr = &state_->events[0].attr;
  frame.id.id = kTraceEventId;
  encode(AuxRecord{offset, bytes.size(), 0}, frame, aux);
  state_->write(aux);

  RecordStream& file = state_->output.writer().main();
  ByteBuilder header;
  encode(AuxtraceRecord{.size = bytes.size(),
                        .offset = offset,
                        .reference = frame.id.time,
                        .index = index,
                        .tid = u32(task.tid),
                        .cpu = kNoCpu},
         header);
  state_->features.auxtrace_index.push_back({file.position(), header.size()});
  header.bytes(bytes);
  state_->note(file.write(header.view()));
}

uint64_t StepRecording::bytes_written() const {
  return state_->output.writer().bytes_written();
}

bool StepRecording::failed() const {
  return state_->error.has_value();
}

std::string StepRecording::shown_name() const {
  return state_->output.shown_name();
}

Result<> StepRecording::finish() {
  State& state = *state_;
  const BuildIdOptions& wanted = state.options.build_ids;
  state.scan.end_round();
  if (wanted.collect) state.features.build_ids = build_ids_of(state.scan.hits());
  if (state.first_ns <= state.last_ns)
    state.features.sample_time = SampleTimeRange{state.first_ns, state.last_ns};
  state.features.present.clear();
  mark_present(state.features);
  state.note(state.output.writer().finish(state.features));
  if (wanted.collect && wanted.update_cache)
    keep_hit_objects(wanted, state.scan.hits(), state.features.build_ids);
  if (state.options.output.timestamp_name) TRY(state.output.rename_finished());
  if (state.error) return std::unexpected(*state.error);
  return {};
}

}  // namespace sonde
