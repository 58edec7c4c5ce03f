// PMUs as shown by sysfs: /sys/bus/event_source/devices/NAME has the number for
// perf_event_attr.type, the CPUs on which to open, the bit positions of terms in config words
// (format/), predefined events (events/) and capabilities (caps/).
//
// Everything is read on first use and cached: a command that opens a software event touches no
// file, one that names a PMU reads only that PMU's directory. If a file is missing or malformed,
// its part is empty. The root is a parameter so that tests can present another machine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// A PMU of ours, which no kernel has: `record` steps the command instruction by instruction and
/// writes what intel_pt would (src/stepping). It has no directory, and is found by its name only.
inline constexpr std::string_view kSteppingPmu = "sonde_step";
inline constexpr uint32_t kSteppingPmuType = 0x534f'4e44;  // far above what kernels give out

/// One file of format/: which bits a term's value goes to. "config:0-7,32-35" scatters the value's
/// bits over the ranges, lowest first.
struct PmuFormat {
  struct Range {
    unsigned low = 0;
    unsigned high = 0;
    bool operator==(const Range&) const = default;
  };
  std::string name;
  unsigned word = 0;  // 0: config, 1: config1, 2: config2, 3: config3
  std::vector<Range> bits;

  /// The largest value that fits.
  [[nodiscard]] uint64_t max_value() const;
  /// `value` spread over the bits of the word; all other bits are 0.
  [[nodiscard]] uint64_t spread(uint64_t value) const;
  [[nodiscard]] uint64_t mask() const { return spread(~uint64_t{0}); }

  /// Parses the text of a format file; nothing if it is not one.
  static std::optional<PmuFormat> parse(std::string_view name, std::string_view text);
};

/// One event of events/, with its companions NAME.unit, NAME.scale, NAME.per-pkg, NAME.snapshot.
struct PmuAlias {
  std::string name;
  std::string terms;  // "event=0x3c,umask=0x01"
  std::string unit;
  double scale = 1.0;
  bool per_package = false;
  bool snapshot = false;
};

class Pmu {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] uint32_t type() const { return type_; }
  /// `cpumask` (uncore: one CPU represents all) or `cpus` (hybrid cores); empty: all CPUs.
  [[nodiscard]] const std::vector<int>& cpus() const;
  /// Whether the CPUs come from `cpumask`, so that the PMU counts for a whole package.
  [[nodiscard]] bool is_uncore() const;
  /// Whether `--filter` can pass it addresses to trace.
  [[nodiscard]] bool filters_addresses() const;
  /// Both sorted by name.
  [[nodiscard]] const std::vector<PmuFormat>& formats() const;
  [[nodiscard]] const std::vector<PmuAlias>& aliases() const;
  [[nodiscard]] const PmuFormat* format(std::string_view name) const;
  [[nodiscard]] const PmuAlias* alias(std::string_view name) const;
  /// The text of caps/NAME without its newline.
  [[nodiscard]] std::optional<std::string> cap(std::string_view name) const;
  /// All of caps/, sorted by name.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> caps() const;
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  friend class PmuCatalog;
  Pmu(std::string name, std::string directory, uint32_t type)
      : name_(std::move(name)), directory_(std::move(directory)), type_(type) {}
  void read_cpus() const;

  std::string name_;
  std::string directory_;
  uint32_t type_;
  mutable std::optional<std::vector<int>> cpus_;
  mutable bool uncore_ = false;
  mutable std::optional<std::vector<PmuFormat>> formats_;
  mutable std::optional<std::vector<PmuAlias>> aliases_;
};

class PmuCatalog {
 public:
  /// `devices` is the directory with one entry per PMU.
  explicit PmuCatalog(std::string devices = "/sys/bus/event_source/devices")
      : devices_(std::move(devices)) {}

  /// The PMU of that name, or null.
  [[nodiscard]] const Pmu* find(std::string_view name);
  /// The PMUs that `-e NAME/…/` refers to: the one with that name; else those that match NAME as a
  /// glob, or that are NAME or uncore_NAME followed by _number (uncore units: "cbox" for
  /// uncore_cbox_0 …).
  [[nodiscard]] std::vector<const Pmu*> matching(std::string_view name);
  /// The PMU with that perf_event_attr.type, or null. Looks at every PMU.
  [[nodiscard]] const Pmu* by_type(uint32_t type);
  /// All, sorted by name.
  [[nodiscard]] const std::vector<const Pmu*>& all();
  /// The PMUs of cores (`cpu`, `cpu_core`, `armv8_pmuv3_0` …): those with `cpus`, or named cpu.
  [[nodiscard]] std::vector<const Pmu*> core();

 private:
  std::string devices_;
  std::map<std::string, std::unique_ptr<Pmu>, std::less<>> known_;  // null: looked for, not found
  std::optional<std::vector<const Pmu*>> all_;
};

/// "0-3,8" as {0,1,2,3,8}: the kernel's CPU list format (cpumask files, `cpu=` terms, `-C`).
/// Nothing if the text is not such a list, or contains a CPU over `limit`.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text, int limit = 1 << 16);

}  // namespace sonde
