#include "objects/converted_chains.h"

#include <algorithm>

#include "replay/passes/recorded_host.h"
#include "symbol/dso_symbols.h"

namespace sonde {

Result<std::unique_ptr<ConvertedChains>> ConvertedChains::make(const Session& session, Env& env,
                                                               Sink sink) {
  const Recording& recording = session.recording();
  const EventTable& events = recording.events();
  bool any = std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return event.attr.samples(abi::kSampleStackUser) && event.attr.samples(abi::kSampleRegsUser);
  });
  if (!any)
    return fail(ErrorCode::kFailed,
                "{}: --convert-callchain: there are no copies of stacks; they come from "
                "record --call-graph dwarf,raw",
                recording.facts().path);
  if (file_order_is_time(events))
    return fail(ErrorCode::kFailed,
                "{}: --convert-callchain: records have no time, so it is not known what was mapped "
                "when; record without --no-timestamp",
                recording.facts().path);
  abi::Arch arch = abi::arch_from_machine(recording.features().arch.value_or(""));
  if (!StackUnwinder::knows(arch))
    return fail(ErrorCode::kUnsupported,
                "{}: --convert-callchain: stacks of this architecture cannot be unwound yet",
                recording.facts().path);
  SymbolOptions symbols;
  symbols.bundle = recording.bundle();
  symbols.path_trust = path_trust_of(symbols, host_of(recording.features()), session.machine());
  std::unique_ptr<ConvertedChains> made(
      new ConvertedChains({.arch = arch,
                           .files = finder_options(symbols, env),
                           .dumps_are_complete = true,
                           .build_ids = recording.features().build_ids},
                          std::move(sink)));
  made->unwinder_.begin(events.all());
  return made;
}

Result<> ConvertedChains::add(Bytes records) {
  constexpr size_t kBlock = 1 << 20;
  block_.insert(block_.end(), records.begin(), records.end());
  if (block_.size() < kBlock) return {};
  return unwinder_.take(std::exchange(block_, {}), false, *this);
}

Result<> ConvertedChains::finish(Env& env) {
  TRY(unwinder_.take(std::exchange(block_, {}), false, *this));
  TRY(unwinder_.finish(*this));
  unwinder_.add_losses(env.losses);
  return {};
}

}  // namespace sonde
