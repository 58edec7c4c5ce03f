// Self-checks: what works on this user's machine. Each really does something, by the program's own
// commands on a workload whose outcome is known (workloads/), and says why it cannot be done here.
//
// Each is a function and a line in checks.def; it is in the file of its subject.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "selftest/own_program.h"

namespace sonde::selftest {

struct Outcome {
  enum class Kind : uint8_t { kOk, kSkip, kFailed } kind = Kind::kOk;
  std::string reason = {};  // of a skip or a failure, one line
  [[nodiscard]] bool is_ok() const { return kind == Kind::kOk; }
};
[[nodiscard]] inline Outcome ok() {
  return {};
}
[[nodiscard]] Outcome skip(std::string reason);
[[nodiscard]] Outcome failed(std::string reason);
/// The first line of what a command said on standard error, without "Error:"; its status if it said
/// nothing.
[[nodiscard]] std::string reason_of(const Finished& finished);

/// What a check works with.
class CheckRun {
 public:
  CheckRun(std::string directory, Sink* said) : directory_(std::move(directory)), said_(said) {}

  /// Runs a command of this program; with -v its text is shown.
  [[nodiscard]] Result<Finished> own(const std::vector<std::string>& words) const;
  /// `record` of a workload, into a fresh perf.data; skipped or failed if it cannot be recorded.
  [[nodiscard]] Outcome record(const std::vector<std::string>& options,
                               const std::vector<std::string>& workload) const;
  /// `words` are a `stat -x,`: the event whose name ends in `event` occurred. Skipped if it cannot
  /// be counted here.
  [[nodiscard]] Outcome expect_count(const std::vector<std::string>& words,
                                     std::string_view event) const;
  /// Writes a file into the directory that commands run in.
  [[nodiscard]] Result<> save(const std::string& name, const std::string& content) const;
  /// The own command's output contains each of `parts`.
  [[nodiscard]] Outcome expect(const std::vector<std::string>& words,
                               const std::vector<std::string>& parts) const;

 private:
  std::string directory_;
  Sink* said_;  // null: quiet
};

/// The count of the event whose name ends in `event`, in the lines of `stat -x,`; -1 if it is not
/// there, or was not counted.
[[nodiscard]] double count_of(std::string_view text, std::string_view event);

struct Check {
  std::string_view name;     // "call_chains"
  std::string_view summary;  // "Call chains by frame pointers"
  Outcome (*run)(const CheckRun& run);
};

[[nodiscard]] std::span<const Check> checks();

#define CHECK_OF(name, summary) Outcome check_##name(const CheckRun& run);
#include "selftest/checks.def"
#undef CHECK_OF

}  // namespace sonde::selftest
