#include "capture/recorders/off_cpu_recorder.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "capture/opening/followed_target.h"
#include "capture/recorders/off_cpu_event.h"
#include "capture/recorders/stacked_sample.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

/// Start and end address of a kernel function; zeros if addresses are hidden.
std::pair<uint64_t, uint64_t> kernel_function(std::string_view wanted) {
  constexpr int kHex = 16;
  Result<std::string> kallsyms = read_file("/proc/kallsyms");
  if (!kallsyms) return {};
  std::vector<uint64_t> addresses;
  uint64_t begin = 0;
  for (std::string_view line : split(*kallsyms, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 3) continue;
    uint64_t address = 0;
    std::from_chars(words[0].data(), words[0].data() + words[0].size(), address, kHex);
    addresses.push_back(address);
    if (words[2] == wanted) begin = address;
  }
  uint64_t end = UINT64_MAX;
  for (uint64_t address : addresses)
    if (address > begin) end = std::min(end, address);
  return begin == 0 ? std::pair<uint64_t, uint64_t>() : std::pair(begin, end);
}

OffCpuState state_of(OffCpu::State state) {
  return state == OffCpu::State::kWaitsForIo ? OffCpuState::kWaitsForIo
         : state == OffCpu::State::kBlocked  ? OffCpuState::kBlocked
                                             : OffCpuState::kSleeps;
}

}  // namespace

OffCpuRecorder::OffCpuRecorder(OffCpu waits, const CaptureEvent& event,
                               const CaptureEvent* waker_event, const RecordOptions& options)
    : waits_(std::move(waits)),
      event_(event),
      waker_event_(waker_event),
      kernel_chains_(!options.sampling.all_user && !options.sampling.user_callchains),
      user_chains_(!options.sampling.all_kernel && !options.sampling.kernel_callchains) {
  std::tie(schedule_.begin, schedule_.end) = kernel_function("__schedule");
  if (waker_event_ != nullptr)
    std::tie(wake_up_.begin, wake_up_.end) = kernel_function("try_to_wake_up");
}

Result<OffCpuRecorder> OffCpuRecorder::open(const Capture& capture, const RecordOptions& options) {
  constexpr uint64_t kNsPerMs = 1'000'000;
  OffCpu::Options wanted;
  wanted.tasks = followed_tasks(capture.target, !options.sampling.no_inherit, options.delay);
  wanted.long_ns = options.off_cpu.long_ms * kNsPerMs;
  wanted.with_wakers = options.off_cpu.wakers;
  const CaptureEvent *event = nullptr, *waker_event = nullptr;
  for (const CaptureEvent& candidate : capture.events) {
    if (is_off_cpu_event(candidate.parsed)) event = &candidate;
    if (is_waker_event(candidate.parsed)) waker_event = &candidate;
  }
  return OffCpuRecorder(TRY(OffCpu::open(wanted)), *event, waker_event, options);
}

std::span<const uint64_t> OffCpuRecorder::from(Function function,
                                               std::span<const uint64_t> kernel) {
  auto entry = std::ranges::find_if(kernel, [function](uint64_t address) {
    return address >= function.begin && address < function.end;
  });
  return entry == kernel.end() ? kernel : std::span(entry, kernel.end());
}

void OffCpuRecorder::add_stacks(std::span<const uint64_t> kernel, std::span<const uint64_t> user,
                                Sample& sample, ByteBuilder& chain) const {
  std::span<const uint64_t> none;
  set_call_chain(kernel_chains_ ? kernel : none, user_chains_ ? user : none, sample, chain);
}

void OffCpuRecorder::write(const OffCpu::Wait& wait, uint64_t now_ns, ByteBuilder& out) {
  ByteBuilder chain;
  Sample sample;
  add_stacks(from(schedule_, wait.kernel_stack), wait.user_stack, sample, chain);
  sample.id.pid = wait.pid;
  sample.id.tid = wait.tid;
  sample.id.time = wait.end_ns != 0 ? wait.end_ns : now_ns;
  if (!event_.opened.empty()) sample.id.id = event_.opened.front().id;
  auto put = [&](uint64_t ns, const OffCpuNote& note) {
    ByteBuilder raw;
    encode(note, raw);
    sample.raw = raw.view();
    sample.period = ns;
    encode_sample(sample, event_.attr(), out);
  };
  uint64_t runnable_ns = std::min(wait.runnable_ns, wait.total_ns);
  uint64_t waited_ns = wait.total_ns - runnable_ns;
  bool has_waker = wait.waker && waker_event_ != nullptr;
  put(waited_ns, {state_of(wait.state), wait.count, has_waker ? ++wakers_ : 0});
  if (has_waker) write_waker(*wait.waker, {wait.tid, wakers_}, sample.id.time, waited_ns, out);
  if (runnable_ns > 0) put(runnable_ns, {OffCpuState::kRunnable, 0});
}

void OffCpuRecorder::write_waker(const OffCpu::Waker& waker, const WakerNote& note,
                                 uint64_t time_ns, uint64_t ns, ByteBuilder& out) {
  ByteBuilder chain, raw;
  Sample sample;
  add_stacks(from(wake_up_, waker.kernel_stack), waker.user_stack, sample, chain);
  sample.id.pid = waker.pid;
  sample.id.tid = waker.tid;
  sample.id.time = time_ns;
  if (!waker_event_->opened.empty()) sample.id.id = waker_event_->opened.front().id;
  // A followed one is named by the kernel, in time; here it would get an older name back: an
  // interrupt can make a new process a waker before it has its own name.
  if (waker.tid != 0 && !waker.is_followed && named_.emplace(waker.tid, waker.comm).second)
    encode(CommRecord{waker.pid, waker.tid, waker.comm, false},
           {.attr = &waker_event_->attr(), .id = sample.id}, out);
  encode(note, raw);
  sample.raw = raw.view();
  sample.period = ns;
  encode_sample(sample, waker_event_->attr(), out);
}

void OffCpuRecorder::write_long(ByteBuilder& out) {
  for (const OffCpu::Wait& wait : waits_.long_waits()) write(wait, 0, out);
}

Result<> OffCpuRecorder::write_rest(ByteBuilder& out) {
  std::vector<OffCpu::Wait> waits = TRY(waits_.rest());
  uint64_t now_ns = monotonic_ns();
  std::ranges::stable_sort(
      waits, {}, [&](const OffCpu::Wait& wait) { return wait.end_ns != 0 ? wait.end_ns : now_ns; });
  for (const OffCpu::Wait& wait : waits) write(wait, now_ns, out);
  return {};
}

void OffCpuRecorder::report_lost(const RecordOptions& options, Env& env) const {
  sonde::report_lost(waits_.lost(), "waits off the CPU", options, env);
}

}  // namespace sonde
