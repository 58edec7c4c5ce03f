#include "itrace/etm_queue.h"

#include <algorithm>

namespace sonde::itrace {
namespace {

/// Less than a frame of what no AUX record tells of is padding.
constexpr uint64_t kFrameSize = 16;

/// The thread of the trace's context packets, while there is one.
class ContextTasks final : public TaskTimeline {
 public:
  ContextTasks(QueueTasks tasks, const Machine& machine) : tasks_(tasks), machine_(machine) {}
  Task task_at(uint64_t time_ns) override { return context_ ? *context_ : tasks_.task_at(time_ns); }
  void set(uint32_t tid) {
    const Machine::Thread* thread = machine_.thread(tid);
    context_ = {thread != nullptr ? thread->pid : tid, tid};
  }
  void clear() { context_.reset(); }

 private:
  QueueTasks tasks_;
  const Machine& machine_;
  std::optional<Task> context_;
};

}  // namespace

struct EtmQueue::Channel {
  Channel(EtmQueue& queue, const etm::TraceUnit& unit)
      : tasks({queue.input_, queue.queue_.cpu == UINT32_MAX ? UINT32_MAX : unit.cpu,
               queue.queue_.tid, queue.machine_},
              queue.machine_),
        synthesizer(queue.events_, queue.made_, queue.options_, queue.input_,
                    queue.queue_.cpu == UINT32_MAX ? UINT32_MAX : unit.cpu, tasks, queue.sink_),
        flow(synthesizer, [&queue, id = unit.trace_id](uint64_t address, std::span<std::byte> to) {
          return queue.read(id, address, to);
        }) {}

  ContextTasks tasks;
  Synthesizer synthesizer;
  EtmFlow flow;
};

EtmQueue::EtmQueue(const EventTable& events, const SynthesizedEvents& made,
                   const ItraceOptions& options, const TraceInput& input, const TraceQueue& queue,
                   const Machine& machine, CodeImage& image, const RecordSink& sink)
    : events_(events),
      made_(made),
      options_(options),
      input_(input),
      queue_(queue),
      machine_(machine),
      image_(image),
      sink_(sink) {
  // With a sink for each CPU, units may share a trace id: it is the CPU's own unit that wrote here.
  if (const etm::TraceUnit* own = unit_of_cpu(queue.cpu)) add_channel(*own);
  for (const etm::TraceUnit& unit : input.units) add_channel(unit);
  // Before the first timestamp it is not earlier than when tracing began.
  auto began = std::ranges::find_if(input.switches, [&](const TaskSwitch& change) {
    return queue.cpu != UINT32_MAX ? change.cpu == queue.cpu : change.tid == queue.tid;
  });
  if (input.counter && began != input.switches.end()) stretch_end_ = began->time_ns;
}

EtmQueue::~EtmQueue() = default;

void EtmQueue::add_channel(const etm::TraceUnit& unit) {
  if (channel_of(unit.trace_id) != nullptr) return;
  units_.push_back(unit);
  channels_.push_back(std::make_unique<Channel>(*this, unit));
}

const etm::TraceUnit* EtmQueue::unit_of_cpu(uint32_t cpu) const {
  auto found = std::ranges::find(input_.units, cpu, &etm::TraceUnit::cpu);
  return found == input_.units.end() ? nullptr : &*found;
}

EtmQueue::Channel* EtmQueue::channel_of(uint8_t trace_id) {
  auto found = std::ranges::find(units_, trace_id, &etm::TraceUnit::trace_id);
  if (found == units_.end()) return nullptr;
  return channels_[static_cast<size_t>(found - units_.begin())].get();
}

Result<etm::FlowDecoder*> EtmQueue::decoder_of(const TraceStretch& stretch) {
  if (!stretch.is_raw) {
    if (!frames_) frames_ = TRY(etm::FlowDecoder::make(units_, etm::Format::kFrames, *this, *this));
    return &*frames_;
  }
  uint32_t cpu = queue_.cpu != UINT32_MAX ? queue_.cpu : stretch.cpu;
  if (raw_ && raw_cpu_ == cpu) return &*raw_;
  const etm::TraceUnit* unit = unit_of_cpu(cpu);
  if (unit == nullptr) return nullptr;
  raw_ = TRY(etm::FlowDecoder::make({unit, 1}, etm::Format::kRaw, *this, *this));
  raw_cpu_ = cpu;
  return &*raw_;
}

Result<> EtmQueue::follow_stretch(Bytes trace, const TraceStretch& stretch) {
  uint64_t begin = stretch_end_;
  stretch_end_ = std::max(stretch.time_ns, stretch_end_);
  // What comes before a stretch's first timestamp is not older than the stretch before.
  now_ = std::max(now_, input_.counter ? begin : stretch_end_);
  for (auto& channel : channels_) channel->tasks.clear();
  etm::FlowDecoder* decoder = TRY(decoder_of(stretch));
  if (decoder != nullptr && decoder->decode(trace)) return {};
  // Which unit's trace is damaged is not told.
  const etm::TraceUnit* own = unit_of_cpu(queue_.cpu != UINT32_MAX ? queue_.cpu : stretch.cpu);
  Channel* channel = own != nullptr ? channel_of(own->trace_id) : nullptr;
  if (channel == nullptr && !channels_.empty()) channel = channels_.front().get();
  if (channel != nullptr) channel->flow.gave_up(now_);
  return {};
}

Result<> EtmQueue::follow(const TracePiece& run) {
  uint64_t run_end = run.offset + run.bytes.size();
  // Decoded once, whatever the records say.
  followed_to_ = std::max(followed_to_, run.offset);
  uint64_t untold = 0;
  for (const TraceStretch& stretch : queue_.stretches) {
    uint64_t stretch_end = std::min(run_end, stretch.offset + std::min(stretch.size, run_end));
    uint64_t begin = std::max(stretch.offset, followed_to_);
    if (begin >= stretch_end) continue;
    untold += begin - followed_to_;
    followed_to_ = stretch_end;
    TRY(follow_stretch(run.bytes.subspan(begin - run.offset, stretch_end - begin), stretch));
  }
  untold += run_end - std::min(run_end, followed_to_);
  if (untold >= kFrameSize) put_lost({now_, queue_.cpu, UINT32_MAX, queue_.tid});
  return {};
}

void EtmQueue::finish() {
  for (auto& channel : channels_) channel->synthesizer.finish();
}

void EtmQueue::put_lost(const LostTrace& lost) {
  if (channels_.empty()) return;
  channels_.front()->synthesizer.put_error(pt::FlowError::kLost, 0, lost.time_ns,
                                           {lost.pid, lost.tid}, lost.cpu);
}

void EtmQueue::report(LossLedger& losses) const {
  for (const auto& channel : channels_) channel->synthesizer.report(losses);
  if (uint64_t bytes = frames_ ? frames_->bytes_of_unknown_units() : 0; bytes != 0)
    losses.add(LossKind::k_trace_of_unknown_unit, bytes);
}

size_t EtmQueue::read(uint8_t trace_id, uint64_t address, std::span<std::byte> to) {
  Channel* channel = channel_of(trace_id);
  if (channel == nullptr) return 0;
  return image_.read(channel->tasks.task_at(now_).pid, now_, address, to);
}

void EtmQueue::ran(uint8_t trace_id, const etm::ExecutedRange& range) {
  if (Channel* channel = channel_of(trace_id)) channel->flow.ran(range, now_);
}

void EtmQueue::interrupted(uint8_t trace_id) {
  if (Channel* channel = channel_of(trace_id)) channel->flow.interrupted(now_);
}

void EtmQueue::exception(uint8_t trace_id, uint32_t number, uint64_t return_address) {
  if (Channel* channel = channel_of(trace_id))
    channel->flow.exception(number, return_address, now_);
}

void EtmQueue::timestamp(uint8_t /*trace_id*/, uint64_t time) {
  if (!input_.counter) return;
  now_ = std::max(now_, std::min(input_.counter->to_ns(time), stretch_end_));
}

void EtmQueue::context(uint8_t trace_id, uint32_t context_id) {
  if (Channel* channel = channel_of(trace_id)) channel->tasks.set(context_id);
}

void EtmQueue::lost(uint8_t trace_id, etm::Lost why, uint64_t address) {
  if (Channel* channel = channel_of(trace_id)) channel->flow.lost(why, address, now_);
}

}  // namespace sonde::itrace
