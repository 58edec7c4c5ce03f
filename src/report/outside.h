// The outside world of one recording among several, so that their losses can be told apart.
#pragma once

#include "base/env.h"

namespace sonde::report {

/// The same Env as `like`, except for its losses. `at_end` receives them in the end, if they belong
/// to the command's.
struct Outside {
  explicit Outside(const Env& like, LossLedger* at_end = nullptr)
      : into(at_end),
        env{.out = like.out,
            .err = like.err,
            .in_fd = like.in_fd,
            .out_fd = like.out_fd,
            .sys = like.sys,
            .losses = losses,
            .variables = like.variables,
            .tool = like.tool,
            .config = like.config,
            .debug = like.debug,
            .command_line = like.command_line} {}
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  ~Outside() {
    if (into != nullptr) into->merge(losses);
  }
  LossLedger losses;
  LossLedger* into;
  Env env;
};

}  // namespace sonde::report
