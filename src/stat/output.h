// Where `stat` writes its counts: standard error, a file (-o) or a descriptor (--log-fd); and in
// which format.
#pragma once

#include <memory>
#include <optional>

#include "base/env.h"
#include "base/error.h"
#include "base/file.h"
#include "render/counting.h"
#include "stat/options.h"

namespace sonde {

class StatOutput {
 public:
  /// `recording`: -o names the recording, and the counts go to standard error.
  static Result<StatOutput> open(const StatOptions& options, Env& env, bool recording);

  [[nodiscard]] Sink& sink() { return own_ ? *own_ : *shared_; }

 private:
  Fd file_;
  std::unique_ptr<Sink> own_;
  Sink* shared_ = nullptr;
};

/// The writer for these options; `intervals`: counts come with times.
std::unique_ptr<render::CountWriter> make_stat_writer(const StatOptions& options,
                                                      view::CountGrouping grouping, bool intervals,
                                                      Sink& out);

}  // namespace sonde
