#include "capture/synthesis/preamble.h"

#include <linux/perf_event.h>

#include "capture/synthesis/synthesis_bpf.h"
#include "capture/synthesis/synthesis_cgroup.h"
#include "capture/synthesis/synthesis_kernel.h"
#include "capture/synthesis/synthesis_tasks.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// A record's size is a 16-bit field.
constexpr size_t kMaxIndexEntries = (UINT16_MAX - 16) / 32;

void flush_index(ByteBuilder& entries, ByteBuilder& out) {
  if (entries.size() == 0) return;
  IdIndexRecord record{};
  record.entries = WordView(entries.view(), kHostOrder);
  encode(record, out);
  entries.clear();
}

void write_id_index(const Capture& capture, ByteBuilder& out) {
  ByteBuilder entries;
  for (const CaptureEvent& event : capture.events)
    for (const OpenedEvent& opened : event.opened) {
      if (entries.size() / 32 == kMaxIndexEntries) flush_index(entries, out);
      entries.u64(opened.id);
      entries.u64(opened.ring);
      entries.u64(static_cast<uint64_t>(int64_t{opened.cpu}));
      entries.u64(static_cast<uint64_t>(int64_t{event.cgroup_fd >= 0 ? -1 : opened.tid}));
    }
  flush_index(entries, out);
}

/// How TSC values are converted to times, if the kernel lets user space do that.
void write_time_conversion(const Capture& capture, ByteBuilder& out) {
  if (capture.rings->rings().empty()) return;
  const perf_event_mmap_page& page = capture.rings->rings().front().buffer.page();
  if (!page.cap_user_time_zero) return;
  TimeConvRecord record{};
  record.shift = page.time_shift;
  record.multiplier = page.time_mult;
  record.zero = page.time_zero;
  record.has_cycles = true;
  record.cycles = page.time_cycles;
  record.mask = page.time_mask;
  record.cap_user_time_zero = page.cap_user_time_zero;
  record.cap_user_time_short = page.cap_user_time_short;
  encode(record, out);
}

/// How the processor was set up to trace.
void write_trace_info(const Capture& capture, ByteBuilder& out) {
  if (!capture.trace) return;
  ByteBuilder words;
  for (uint64_t word : capture.trace->info) words.u64(word);
  encode(AuxtraceInfoRecord{capture.trace->info_type, {words.view(), kHostOrder}}, out);
}

/// Units, scales and CPUs of PMU events, which attrs cannot express.
void write_event_updates(const Capture& capture, ByteBuilder& out) {
  for (const CaptureEvent& event : capture.events) {
    if (event.opened.empty()) continue;
    EventUpdateRecord update{};
    update.id = event.opened.front().id;
    if (!event.parsed.unit.empty()) {
      update.kind = EventUpdateKind::kUnit;
      update.text = event.parsed.unit;
      encode(update, out);
    }
    if (event.parsed.scale != 1.0) {
      update.kind = EventUpdateKind::kScale;
      update.scale = event.parsed.scale;
      encode(update, out);
    }
    if (!event.parsed.cpus.empty()) {
      update.kind = EventUpdateKind::kCpus;
      update.cpus.cpus = event.parsed.cpus;
      encode(update, out);
    }
  }
}

void write_maps(const Capture& capture, ByteBuilder& out) {
  constexpr size_t kMaxThreads = 2000;  // more don't fit into one record; readers can do without
  ThreadMapRecord threads;
  for (const ThreadEntry& thread : capture.target.threads)
    if (threads.threads.size() < kMaxThreads)
      threads.threads.push_back({static_cast<uint64_t>(int64_t{thread.tid}), thread.comm});
  encode(threads, out);
  encode(CpuMapRecord{capture.target.cpus}, out);
}

TaskSynthesis task_options(const Capture& capture, const RecordOptions& options) {
  const SamplingOptions& sampling = options.sampling;
  TaskSynthesis tasks;
  tasks.attr = &capture.events.front().attr();
  tasks.maps = options.synthesis.maps;
  // As the kernel does for what is mapped later (event_config.cc).
  tasks.data_maps =
      sampling.addresses || (copies_stacks(sampling.call_graph) && !sampling.aggregation.enabled);
  tasks.namespaces = sampling.namespaces;
  tasks.build_ids = sampling.buildid_mmap;
  tasks.map_timeout_ms = options.synthesis.map_timeout_ms;
  return tasks;
}

}  // namespace

void write_event_records(const Capture& capture, ByteBuilder& out) {
  write_time_conversion(capture, out);
  // Before the trace's: readers sort what samples have of it by the ring that they are in.
  write_id_index(capture, out);
  write_trace_info(capture, out);
  write_event_updates(capture, out);
}

void synthesise_state(const Capture& capture, const RecordOptions& options, LossLedger& losses,
                      ByteBuilder& out) {
  const abi::EventAttr& attr = capture.events.front().attr();
  synthesise_kernel(attr, out);
  for (const GuestLayout& guest : capture.guests) synthesise_guest(guest, attr, out);
  write_maps(capture, out);
  if (options.sampling.bpf_events) synthesise_bpf(attr, out);
  if (options.sampling.cgroups && options.synthesis.cgroups) synthesise_cgroups(attr, out);
  if (options.synthesis.tasks) {
    TaskSynthesis tasks = task_options(capture, options);
    if (capture.target.has_cpu())
      synthesise_all_tasks(tasks, out);
    else if (!capture.target.is_command())
      synthesise_threads(capture.target.threads, tasks, losses, out);
  }
  if (capture.workload)
    synthesise_command(capture.workload->pid(), task_options(capture, options), out);
}

}  // namespace sonde
