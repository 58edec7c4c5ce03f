// Reporter: what a benchmark measured, as plain data, and its text in the format that is wanted.
// `default` is for people, `simple` only the number. Benchmarks whose text is the same in both
// write it line by line, as they get it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sink.h"

namespace sonde {

enum class BenchmarkFormat { kDefault, kSimple };

/// Something done a number of times.
struct TimedOperations {
  std::vector<std::string> done = {};  // what, one line each: "Executed 100 getppid() calls"
  bool gap = true;                     // an empty line between those and the time
  uint64_t elapsed_ns = 0;
  std::optional<double> operations = {};          // shows the time of each, if set
  bool per_second = true;                         // and how many there are in a second
  std::optional<double> operations_per_cpu = {};  // and the time of each, per CPU
};

/// Bytes processed in a time, or by a number of cycles.
struct Throughput {
  std::vector<std::string> done = {};
  double bytes = 0;
  uint64_t elapsed_ns = 0;
  std::optional<uint64_t> cycles = {};  // shown instead of the time, if set
};

/// Operations, compared with the same under simpler conditions.
struct ComparedTime {
  std::string done = {};
  double operations = 1;
  uint64_t elapsed_ns = 0;
  std::optional<uint64_t> baseline_ns = {};
};

class Reporter {
 public:
  Reporter(Sink& out, BenchmarkFormat format) : out_(out), format_(format) {}

  void report(const TimedOperations& timed);
  void report(const Throughput& throughput);
  void report(const ComparedTime& time);
  /// A line of the default format only.
  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    if (format_ == BenchmarkFormat::kDefault) line(format, std::forward<Args>(args)...);
  }
  /// A line of both formats, shown at once.
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.print(format, std::forward<Args>(args)...);
    out_.put('\n');
    out_.flush();
  }
  /// Part of a line of both formats, shown at once.
  void text(std::string_view text) {
    out_.write_lines(text);
    out_.flush();
  }

 private:
  Sink& out_;
  BenchmarkFormat format_;
};

}  // namespace sonde
