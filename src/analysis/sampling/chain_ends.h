// Where the call chains of a recording end that were recorded by frame pointers: at the first
// function of their thread, or before it, in code that keeps none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replay/session.h"

namespace sonde {

struct FramePointerChains {
  uint64_t chains = 0;  // samples with a chain by frame pointers whose end is known: it has a name
  uint64_t whole = 0;   // that reach the first function of a thread
  uint64_t cut = 0;     // at a caller that cannot be one (SessionOptions::check_chains)
};

/// Whether a function is the first one of a thread, or of a goroutine.
[[nodiscard]] bool begins_thread(std::string_view function);

/// Needs chains and symbols. Samples whose chains were copied, unwound or walked are left out.
[[nodiscard]] FramePointerChains count_frame_pointer_chains(const Session& session);

/// A sentence for headings, with what to record instead; empty if nearly all chains are whole, or
/// if they were not checked.
[[nodiscard]] std::string chain_gap(const Session& session);

}  // namespace sonde
