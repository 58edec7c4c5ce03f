// `inject --convert-callchain`: copied stacks (record --call-graph dwarf,raw, or perf's dwarf)
// become call chains, as they would have while recording: see LiveUnwinder. The copies and
// registers are dropped, which makes a recording twenty times smaller; objects are those of this
// machine, or of the build-id cache.
#pragma once

#include <functional>
#include <memory>

#include "base/env.h"
#include "replay/frames/live_unwinder.h"
#include "replay/session.h"

namespace sonde {

class ConvertedChains final : RecordTransform::Output {
 public:
  using Sink = std::function<Result<>(Bytes records)>;
  /// Fails if the recording has no copied stacks, or no times.
  static Result<std::unique_ptr<ConvertedChains>> make(const Session& session, Env& env, Sink sink);

  Result<> add(Bytes records);
  /// Writes what was held back, and reports chains that could not be followed to their end.
  Result<> finish(Env& env);

 private:
  ConvertedChains(LiveUnwinderOptions options, Sink sink)
      : unwinder_(std::move(options)), sink_(std::move(sink)) {}
  Result<> write_ring(Bytes records) override { return sink_(records); }
  Result<> write(Bytes records) override { return sink_(records); }
  void release(std::vector<std::byte> /*block*/) override {}

  LiveUnwinder unwinder_;
  Sink sink_;
  std::vector<std::byte> block_;
};

}  // namespace sonde
