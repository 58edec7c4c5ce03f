// What a session is asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "itrace/options.h"
#include "perfdata/read/recording.h"
#include "replay/frames/chain_options.h"
#include "replay/frames/inline_frames.h"
#include "replay/sample_columns.h"
#include "symbol/symbolizer.h"

namespace sonde {

// What the rows of a session are (SampleColumns): one of these.

/// Every sample, all of them at once, in file order.
struct EachSample {};

/// Every sample, in time order, a part at a time: see Session::follow(). A pipe on standard input
/// ("-") is followed while it is written; a file is read this way if each of its samples can be
/// resolved without the others, and otherwise as EachSample.
struct SamplesInTurn {};

/// Samples whose time, task and processor nobody asks for.
struct SumsByStack {
  /// All addresses at which nothing was mapped in a process are one frame, without an address.
  /// Chains of code without frame pointers are full of them.
  bool merge_unmapped = false;
};

/// Samples counted by place, if there are few events; otherwise as SumsByStack. Chains are ignored.
struct SumsByPlace {
  /// Only samples of functions of this name need frames (see count_function). Takes effect if
  /// nothing prevents it: see Session::has_one_function().
  std::optional<std::string> only_function = std::nullopt;
};

using SampleRows = std::variant<EachSample, SamplesInTurn, SumsByStack, SumsByPlace>;

struct SessionOptions {
  OpenOptions open;
  SymbolOptions symbols;
  bool want_symbols = true;  // false: frames get no symbols
  SampleFilter filter;
  SampleRows rows = EachSample();
  std::optional<ChainOptions> chains = ChainOptions();  // not set: call chains are ignored
  Inlines inlines = Inlines::kNone;                     // which chains get inlined functions
  /// What to make of instruction traces, whose samples are then like all others. Not set: nothing.
  std::optional<ItraceOptions> itrace = std::nullopt;
  /// Samples of a thread that a later record names have that name, as in perf's tables; otherwise
  /// ":TID", as in perf's lines, which are printed before the record is read.
  bool late_names = false;
  /// Asked when a recording that is not followed has told its events, for consumers that want less
  /// than they know beforehand.
  std::function<void(const EventTable&, const Features&, SessionOptions&)> narrow = nullptr;

  template <class Rows>
  [[nodiscard]] bool wants() const {
    return std::holds_alternative<Rows>(rows);
  }
};

}  // namespace sonde
