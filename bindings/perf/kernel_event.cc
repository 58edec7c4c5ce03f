#include "kernel_event.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace sonde::bindings {
namespace {

constexpr size_t kHeaderSize = sizeof(abi::RecordHeader);

std::optional<TracepointFormat> read_format(const TracepointName& name) {
  Tracefs tracefs;
  Result<std::string> text = tracefs.format(name);
  if (!text) return std::nullopt;
  Result<TracepointFormat> format = TracepointFormat::parse(*text, name.system);
  if (!format) return std::nullopt;
  return std::move(*format);
}

}  // namespace

std::optional<TracepointName> find_tracepoint(uint64_t id) {
  Tracefs tracefs;
  Result<std::vector<TracepointName>> all = tracefs.match("*", "*");
  if (!all) return std::nullopt;
  for (TracepointName& name : *all)
    if (Result<uint64_t> one = tracefs.id(name); one && *one == id) return std::move(name);
  return std::nullopt;
}

SysResult<void> KernelEvent::open(std::vector<int> cpus, std::vector<pid_t> threads,
                                  const KernelEvent* leader) {
  close();
  layout_.reset();  // the attr may have changed
  cpus_ = std::move(cpus);
  threads_ = std::move(threads);
  perf_event_attr attr{};
  static_assert(sizeof(attr) >= sizeof(abi::EventAttr) || sizeof(attr) == PERF_ATTR_SIZE_VER7);
  std::memcpy(&attr, &parsed.attr, std::min(sizeof(attr), sizeof(abi::EventAttr)));
  attr.size = sizeof(attr);
  for (int cpu : cpus_)
    for (pid_t thread : threads_) {
      int group = leader == nullptr ? -1 : leader->descriptors_.at(descriptors_.size());
      SysResult<int> fd =
          Sys::host().perf_event_open(&attr, thread, cpu, group, PERF_FLAG_FD_CLOEXEC);
      if (!fd) {
        close();
        return std::unexpected(fd.error());
      }
      descriptors_.push_back(*fd);
    }
  return {};
}

void KernelEvent::close() {
  for (int fd : descriptors_) (void)Sys::host().close(fd);
  descriptors_.clear();
  last_.clear();
}

SysResult<void> KernelEvent::control(unsigned long request) const {
  for (int fd : descriptors_)
    if (SysResult<int> done = Sys::host().ioctl(fd, request, 0); !done)
      return std::unexpected(done.error());
  return {};
}

int KernelEvent::descriptor_of(int cpu, pid_t thread) const {
  auto at_cpu = std::ranges::find(cpus_, cpu);
  auto at_thread = std::ranges::find(threads_, thread);
  if (!is_open() || at_cpu == cpus_.end() || at_thread == threads_.end()) return -1;
  return descriptors_[static_cast<size_t>(at_cpu - cpus_.begin()) * threads_.size() +
                      static_cast<size_t>(at_thread - threads_.begin())];
}

SysResult<CounterValue> KernelEvent::total(int cpu, pid_t thread) {
  int fd = descriptor_of(cpu, thread);
  if (fd < 0) return std::unexpected(ENOENT);
  std::array<uint64_t, 512> words{};  // a group's values have their own places in it
  SysResult<size_t> size = Sys::host().read(fd, words.data(), sizeof(words));
  if (!size) return std::unexpected(size.error());
  ReadBlock block;
  if (!decode_read_block(as_bytes(std::span(words)).first(*size), kHostOrder, layout(), block))
    return CounterValue{};
  ReadValue first = block.count > 0 ? block.at(0) : ReadValue{};
  return CounterValue{first.value, block.time_enabled, block.time_running, first.id, first.lost};
}

SysResult<CounterValue> KernelEvent::read(int cpu, pid_t thread) {
  SysResult<CounterValue> now = total(cpu, thread);
  if (!now) return now;
  CounterValue before = std::exchange(last_[descriptor_of(cpu, thread)], *now);
  return now->since(before);
}

const SampleLayout& KernelEvent::layout() {
  if (!layout_) layout_.emplace(parsed.attr);
  return *layout_;
}

const TracepointFormat* KernelEvent::format() {
  if (parsed.attr.type == abi::kTypeTracepoint && !looked_for_format_) {
    looked_for_format_ = true;
    if (parsed.tracepoint.name.empty())
      if (std::optional<TracepointName> name = find_tracepoint(parsed.attr.config))
        parsed.tracepoint = std::move(*name);
    format_ = read_format(parsed.tracepoint);
  }
  return format_ ? &*format_ : nullptr;
}

SysResult<void> EventRings::map(std::span<KernelEvent* const> events, size_t pages) {
  rings_.clear();
  by_id_.clear();
  events_.assign(events.begin(), events.end());
  const KernelEvent& first = *events_.front();
  if (!first.is_open()) return std::unexpected(EBADF);
  size_t places = first.descriptors().size();
  size_t threads_per_ring = first.cpus().front() < 0 ? 1 : first.threads().size();
  for (KernelEvent* event : events_) {
    if (!event->is_open() || event->descriptors().size() != places) return std::unexpected(EBADF);
    for (size_t place = 0; place < places; ++place) {
      int fd = event->descriptors()[place];
      size_t ring = place / threads_per_ring;
      if (ring == rings_.size()) {
        SysResult<RingBuffer> buffer = RingBuffer::map(Sys::host(), fd, pages, false);
        if (!buffer) return std::unexpected(buffer.error());
        rings_.emplace_back(first.cpus()[place / first.threads().size()], std::move(*buffer));
      } else {
        auto output = static_cast<uint64_t>(rings_[ring].buffer.fd());
        SysResult<int> done = Sys::host().ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, output);
        if (!done) return std::unexpected(done.error());
      }
      uint64_t id = 0;
      if (Sys::host().ioctl(fd, PERF_EVENT_IOC_ID, reinterpret_cast<uintptr_t>(&id)))
        by_id_[id] = event;
    }
  }
  return {};
}

std::vector<int> EventRings::descriptors() const {
  std::vector<int> all;
  for (const Ring& ring : rings_) all.push_back(ring.buffer.fd());
  return all;
}

bool EventRings::has(int cpu) const {
  return std::ranges::any_of(rings_, [cpu](const Ring& ring) { return ring.cpu == cpu; });
}

bool EventRings::refill(Ring& ring) {
  ring.taken.clear();
  ring.position = 0;
  RingPiece piece = ring.buffer.peek();
  ring.taken.insert(ring.taken.end(), piece.first.begin(), piece.first.end());
  ring.taken.insert(ring.taken.end(), piece.second.begin(), piece.second.end());
  ring.buffer.consume();
  return !ring.taken.empty();
}

std::optional<EventRecord> EventRings::next(int cpu) {
  for (Ring& ring : rings_) {
    if (ring.cpu != cpu) continue;
    if (ring.taken.size() - ring.position < kHeaderSize && !refill(ring)) continue;
    RecordBlock block;
    block.bytes = ring.taken;
    RecordRange range(block, kHostOrder, ring.position);
    EventRecord record;
    if (!range.next(record.view)) {
      ring.position = ring.taken.size();  // cannot happen: the kernel writes whole records
      continue;
    }
    ring.position = range.stopped_at();
    record.event = owner_of(record.view);
    return record;
  }
  return std::nullopt;
}

KernelEvent* EventRings::owner_of(const RecordView& view) const {
  KernelEvent* first = events_.front();
  if (events_.size() == 1) return first;
  const SampleLayout& layout = first->layout();
  std::optional<uint32_t> at = layout.id_in_sample();
  if (view.type != abi::kRecordSample) {
    at = std::nullopt;
    if (layout.id_from_end() && *layout.id_from_end() <= view.payload.size())
      at = static_cast<uint32_t>(view.payload.size()) - *layout.id_from_end();
  }
  if (!at || *at + sizeof(uint64_t) > view.payload.size()) return first;
  auto found = by_id_.find(load<uint64_t>(view.payload.data() + *at, view.order));
  return found == by_id_.end() ? first : found->second;
}

}  // namespace sonde::bindings
