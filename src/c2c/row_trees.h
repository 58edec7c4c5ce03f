// The call graph below a row: from where its code was called.
#pragma once

#include "base/sink.h"
#include "c2c/cache_lines.h"
#include "profile/session_input.h"

namespace sonde::c2c {

class RowTrees {
 public:
  /// The session must have call chains, if there are to be any. It and the options outlive this.
  RowTrees(const Session& session, const report::CallGraphOptions& options)
      : details_(session), input_(details_.input()), options_(options) {}
  /// Shares are of `total`, the period of the row's line.
  void write(const LineRow& row, uint64_t total, Sink& out) const;

 private:
  SessionInput details_;
  ProfileInput input_;
  const report::CallGraphOptions& options_;
};

}  // namespace sonde::c2c
