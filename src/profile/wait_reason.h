// What a thread waits for, as the functions say in which it does, and what it said of itself: names
// of the kernel's functions that begin a wait. What is known by its state alone stays that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include <tsl/robin_map.h>

#include "perfdata/off_cpu_sample.h"
#include "perfdata/sample.h"
#include "replay/frame_table.h"

namespace sonde {

enum class WaitReason : uint8_t {
  kRunnable,  // it was woken, and has no CPU
  kIo,        // disks
  kLock,      // mutexes, semaphores, futexes
  kSleep,     // for a time
  kPoll,      // for any of several files
  kData,      // pipes, sockets, terminals
  kChild,     // for a process
  kSignal,
  kBlocked,  // uninterruptibly, for something else
  kOther,
};

/// "I/O", "lock" …
[[nodiscard]] std::string_view wait_reason_name(WaitReason reason);

/// What a function's name says; nothing for most of them.
[[nodiscard]] std::optional<WaitReason> reason_in_function(std::string_view function);

/// `function_at(i)`: the function i frames from the innermost one, empty where it has no name;
/// nothing behind the last one. The innermost that says something decides.
using FunctionAt = std::function<std::optional<std::string_view>(size_t)>;
[[nodiscard]] WaitReason wait_reason(std::optional<OffCpuState> state,
                                     const FunctionAt& function_at);

/// The same for samples, whose call chains are few.
class WaitReasons {
 public:
  /// `frames`: of the chain, the innermost first. `name_of`: a frame's function; empty where it has
  /// no name.
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
