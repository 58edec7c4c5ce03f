// What `histogram` is asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

struct HistogramOptions {
  // What is measured: a field of an event, the time between two events, or with neither field nor
  // events, the time that the function `event` takes.
  std::string event = {}, field = {};
  std::string from = {}, to = {};
  std::vector<std::string> key = {};  // fields that the two have in common
  bool functions = false;             // the events are functions of the kernel
  std::string executable = {};        // -x: the events are functions of this program or library

  std::string by = {};      // one histogram for each value of this
  std::string filter = {};  // of the event, or of `from`
  std::string linear = {};  // "STEP,MIN,MAX"; empty: powers of two

  // Of whom: with none of these, the command, or all.
  std::string pids = {}, tids = {}, cpus = {};
  bool all_cpus = false;
  std::vector<std::string> command = {};
  std::optional<std::string> input = {};  // instead: a recording
  bool force = false;

  double interval_s = 0, duration_s = 0;  // 0: none
  uint32_t most_cells = 8192;             // buckets of all keys together, and begins
  size_t entries = 20;                    // histograms that text shows
  bool json = false;
  std::string svg = {};     // a file
  std::string output = {};  // of text and JSON
  int verbose = 0;

  [[nodiscard]] bool are_pairs() const { return !from.empty() || field.empty(); }
};

}  // namespace sonde
