// Who ended waits: the samples of offcpu-waker that those of offcpu-time name (record
// --off-cpu-waker, perfdata/off_cpu_sample.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <tsl/robin_map.h>

#include "base/number_hash.h"
#include "perfdata/off_cpu_sample.h"
#include "replay/session.h"

namespace sonde {

class Wakers {
 public:
  /// Reads the samples of wakers, where there are any. `session` must outlive this.
  explicit Wakers(const Session& session);

  [[nodiscard]] bool any() const { return !by_number_.empty(); }
  /// The waker's sample; nothing where `wait` is no sample of a wait, or nobody is known.
  [[nodiscard]] std::optional<size_t> of(const Sample& wait) const;
  /// The waker's thread, "interrupt" where that interrupted a thread that has nothing to do with
  /// it.
  [[nodiscard]] std::string_view name(size_t waker) const;
  /// The waker's call chain, the innermost frame first; of an interrupt, as far as it is its own.
  [[nodiscard]] std::span<const FrameId> chain(size_t waker) const;

 private:
  /// Frames that are an interrupt's own; 0 where it is none.
  [[nodiscard]] size_t interrupt_frames(std::span<const FrameId> chain) const;
  [[nodiscard]] std::span<const FrameId> whole_chain(size_t waker) const;

  const Session& session_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> by_number_;
};

}  // namespace sonde
