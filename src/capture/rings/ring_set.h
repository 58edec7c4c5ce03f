// RingSet: the rings of a recording. All events of a CPU (or, with --per-thread, of a thread) write
// to one ring, so that their records are in order; events in overwrite mode have a second, separate
// ring there. Events of whole CPUs write to those CPUs' rings, even with --per-thread.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/sys.h"
#include "capture/opening/capture_event.h"
#include "capture/rings/ring_buffer.h"

namespace sonde {

struct CaptureRing {
  RingBuffer buffer;
  int cpu;    // -1 if the ring belongs to a thread
  pid_t tid;  // -1 if it belongs to a CPU
};

class RingSet {
 public:
  /// Maps rings of `pages` pages and redirects the output of every opened event to its ring; fills
  /// in each event's `ring` and `id`. Errors: explain_map_failure.
  static Result<RingSet> create(Sys& sys, std::vector<CaptureEvent>& events, size_t pages,
                                bool per_thread);

  /// A set of these rings; for tests.
  static RingSet of(Sys& sys, std::vector<CaptureRing> rings);

  [[nodiscard]] std::vector<CaptureRing>& rings() { return rings_; }
  [[nodiscard]] const std::vector<CaptureRing>& rings() const { return rings_; }
  [[nodiscard]] bool any_backward() const;

  /// Pauses or resumes the kernel's output to the rings in overwrite mode.
  void pause_backward(bool pause);

 private:
  Result<uint32_t> ring_of(const OpenedEvent& opened, bool backward, size_t pages, bool per_thread);

  explicit RingSet(Sys& sys) : sys_(&sys) {}
  Sys* sys_;
  std::vector<CaptureRing> rings_;
};

/// The ring size without -m, in pages, a power of two: what a user may lock
/// (kernel.perf_event_mlock_kb); if the limit does not apply (`unlimited`), up to 2 MiB as long as
/// `rings` of them stay below 64 MiB; eight times as much for records with stack copies.
size_t default_ring_pages(size_t rings, bool unlimited, bool stack_copies);

/// -m's value, rounded up to a power of two of pages, from a number of pages or a size with unit B,
/// K, M, G. `rounded` tells whether it had to be rounded. Error: kUsage.
Result<size_t> parse_ring_pages(std::string_view text, bool& rounded);

}  // namespace sonde
