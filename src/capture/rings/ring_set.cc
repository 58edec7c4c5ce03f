#include "capture/rings/ring_set.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "capture/opening/open_error.h"
#include "capture/opening/parse_size.h"

namespace sonde {

Result<RingSet> RingSet::create(Sys& sys, std::vector<CaptureEvent>& events, size_t pages,
                                bool per_thread) {
  RingSet set(sys);
  for (CaptureEvent& event : events)
    for (OpenedEvent& opened : event.opened) {
      opened.ring = TRY(set.ring_of(opened, event.attr().write_backward, pages, per_thread));
      if (SysResult<int> got =
              sys.ioctl(opened.fd, PERF_EVENT_IOC_ID, reinterpret_cast<uint64_t>(&opened.id));
          !got)
        return fail(ErrorCode::kUnsupported, "{}: failed to get its id: {}", event.parsed.name,
                    std::strerror(got.error()));
    }
  return set;
}

RingSet RingSet::of(Sys& sys, std::vector<CaptureRing> rings) {
  RingSet set(sys);
  set.rings_ = std::move(rings);
  return set;
}

Result<uint32_t> RingSet::ring_of(const OpenedEvent& opened, bool backward, size_t pages,
                                  bool per_thread) {
  bool of_thread = per_thread && opened.tid >= 0;
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    const CaptureRing& ring = rings_[i];
    bool same_place = of_thread ? ring.tid == opened.tid : ring.cpu == opened.cpu && ring.tid < 0;
    if (!same_place || ring.buffer.is_backward() != backward) continue;
    auto target = static_cast<uint64_t>(ring.buffer.fd());
    if (SysResult<int> sent = sys_->ioctl(opened.fd, PERF_EVENT_IOC_SET_OUTPUT, target); !sent)
      return std::unexpected(explain_map_failure(pages, sent.error()));
    return i;
  }
  SysResult<RingBuffer> buffer = RingBuffer::map(*sys_, opened.fd, pages, backward);
  if (!buffer) return std::unexpected(explain_map_failure(pages, buffer.error()));
  rings_.push_back({std::move(*buffer), of_thread ? -1 : opened.cpu, of_thread ? opened.tid : -1});
  return static_cast<uint32_t>(rings_.size() - 1);
}

bool RingSet::any_backward() const {
  for (const CaptureRing& ring : rings_)
    if (ring.buffer.is_backward()) return true;
  return false;
}

void RingSet::pause_backward(bool pause) {
  for (const CaptureRing& ring : rings_)
    if (ring.buffer.is_backward())
      (void)sys_->ioctl(ring.buffer.fd(), PERF_EVENT_IOC_PAUSE_OUTPUT, pause ? 1 : 0);
}

size_t default_ring_pages(size_t rings, bool unlimited, bool stack_copies) {
  constexpr uint64_t kFallbackKb = 512;
  Result<std::string> text = read_file("/proc/sys/kernel/perf_event_mlock_kb");
  uint64_t kb = text ? parse_number(trim(*text)).value_or(kFallbackKb) : kFallbackKb;
  // One page is needed for the control page.
  uint64_t pages = kb * 1024 / page_size();
  size_t allowed = std::bit_floor(std::max<uint64_t>(pages, 2) - 1);
  if (!unlimited) return allowed;
  // Room for records that arrive while a busy machine makes us wait: with a ring within the limit,
  // a reader that is 50 ms late loses records of a 100 kHz recording with call chains.
  size_t scale = stack_copies ? 8 : 1;
  size_t most = scale * (size_t{2} << 20);
  size_t most_together = scale * (size_t{64} << 20);
  size_t bytes = std::min(most, most_together / std::max<size_t>(rings, 1));
  return std::max(allowed, std::bit_floor(bytes / page_size()));
}

Result<size_t> parse_ring_pages(std::string_view text, bool& rounded) {
  std::optional<uint64_t> pages = parse_number(text);
  if (!pages) {
    std::optional<uint64_t> bytes = parse_size(text);
    if (!bytes)
      return fail(ErrorCode::kUsage, "-m expects a number of pages, or a size such as 512K");
    pages = (*bytes + page_size() - 1) / page_size();
  }
  constexpr uint64_t kMax = uint64_t{1} << 32;
  if (*pages == 0 || *pages > kMax)
    return fail(ErrorCode::kUsage, "-m expects a number of pages, or a size such as 512K");
  size_t power = std::bit_ceil(*pages);
  rounded = power != *pages;
  return power;
}

}  // namespace sonde
