// The wakers that ended waits: the offcpu-waker samples that offcpu-time samples refer to (record
// --off-cpu-waker, perfdata/records/off_cpu_sample.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "perfdata/records/off_cpu_sample.h"
#include "replay/session.h"

namespace sonde {

class Wakers {
 public:
  /// Reads the waker samples, if any. `session` must outlive this.
  explicit Wakers(const Session& session);

  [[nodiscard]] bool any() const { return !by_number_.empty(); }
  /// The waker's sample; nullopt if `wait` is not a wait sample, or the waker is not known.
  [[nodiscard]] std::optional<size_t> of(const Sample& wait) const;
  /// The waker's thread; "interrupt" if an interrupt that hit an unrelated thread did the wakeup.
  [[nodiscard]] std::string_view name(size_t waker) const;
  /// The waker's call chain, innermost frame first; for an interrupt, only the interrupt's own
  /// frames.
  [[nodiscard]] std::span<const FrameId> chain(size_t waker) const;

 private:
  /// Number of frames that belong to an interrupt; 0 if there is none.
  [[nodiscard]] size_t interrupt_frames(std::span<const FrameId> chain) const;
  [[nodiscard]] std::span<const FrameId> whole_chain(size_t waker) const;

  const Session& session_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> by_number_;
};

}  // namespace sonde
