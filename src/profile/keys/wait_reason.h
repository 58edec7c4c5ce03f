// What a thread waits for, derived from the kernel functions in which it waits and from its state.
// If only the state is known, the reason is no more specific than that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include <tsl/robin_map.h>

#include "perfdata/records/off_cpu_sample.h"
#include "perfdata/records/sample.h"
#include "replay/frames/frame_table.h"

namespace sonde {

enum class WaitReason : uint8_t {
  kRunnable,  // woken, waiting for a CPU
  kIo,        // disk
  kLock,      // mutexes, semaphores, futexes
  kSleep,     // for some time
  kPoll,      // on several files
  kData,      // pipes, sockets, terminals
  kChild,     // for a process
  kSignal,
  kBlocked,  // uninterruptible, for another reason
  kOther,
};

/// "I/O", "lock" …
[[nodiscard]] std::string_view wait_reason_name(WaitReason reason);

/// The reason that a function's name implies; nullopt for most functions.
[[nodiscard]] std::optional<WaitReason> reason_in_function(std::string_view function);

/// `function_at(i)`: the function i frames out from the innermost, empty if it has no name; nullopt
/// past the outermost. The innermost function that implies a reason decides.
using FunctionAt = std::function<std::optional<std::string_view>(size_t)>;
[[nodiscard]] WaitReason wait_reason(std::optional<OffCpuState> state,
                                     const FunctionAt& function_at);

/// The same for samples, cached by call chain.
class WaitReasons {
 public:
  /// `frames`: of the chain, innermost first. `name_of`: a frame's function; empty if it has no
  /// name.
  template <typename NameOf>
  WaitReason of(const Sample& sample, ChainId chain, std::span<const FrameId> frames,
                const NameOf& name_of) {
    std::optional<OffCpuState> state;
    if (auto note = decode_off_cpu_note(sample.raw, sample.order)) state = note->state;
    uint64_t key = uint64_t{chain.valid() ? chain.value : UINT32_MAX} << 8 |
                   (state ? static_cast<uint64_t>(*state) : UINT8_MAX);
    auto [known, is_new] = known_.try_emplace(key, WaitReason::kOther);
    if (is_new)
      known.value() = wait_reason(state, [&](size_t i) -> std::optional<std::string_view> {
        if (i >= frames.size()) return std::nullopt;
        return name_of(frames[i]);
      });
    return known->second;
  }

 private:
  tsl::robin_map<uint64_t, WaitReason> known_;  // by chain and state
};

}  // namespace sonde
