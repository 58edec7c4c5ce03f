// PrintProgram: a tracepoint's print format, compiled once per event and then run for each sample.
//
// The text is what libtraceevent prints (and perf script shows) if that is right, and otherwise
// what the kernel itself prints: see docs/differences-tracepoints.md. A run allocates only what
// `out` grows by, reads only inside the raw data, and ends after a bounded number of steps,
// whatever the format and the data are.
//
//   TracepointFormat format = TRY(TracepointFormat::parse(text, "sched"));
//   PrintProgram program = PrintProgram::compile(format, {});
//   program.print(sample_raw, context, line);   // "prev_comm=bash prev_pid=12 ..."
//
// If a print format cannot be compiled, the program lists the fields, as perf does: "[FAILED TO
// PARSE] vector=236".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "event/print_fmt/print_fmt_code.h"
#include "event/print_fmt/tracepoint_format.h"

namespace sonde {

/// The machine that was recorded.
struct PrintTarget {
  ByteOrder order = kHostOrder;
  uint32_t word_size = 8;  // bytes of a kernel `long` and of a pointer: 4 or 8
  uint32_t hz =
      250;  // CONFIG_HZ, for jiffies_to_msecs; recordings do not carry it, 250 is most usual
  /// The value of a kernel enumerator that the format leaves as a name, e.g. from BTF. May be
  /// empty. Queried before the table of well-known constants.
  std::function<std::optional<int64_t>(std::string_view name)> constant;
};

/// The meaning of addresses in the samples. Both functions may be empty.
struct PrintContext {
  struct Symbol {
    std::string_view name;
    uint64_t offset = 0;
  };
  /// The kernel function around an address, for %pS and similar conversions.
  std::function<std::optional<Symbol>(uint64_t address)> symbol;
  /// The text of a string constant of the kernel, for %s of a `const char *` field
  /// (printk_formats).
  std::function<std::optional<std::string_view>(uint64_t address)> printk;
};

/// The names that a print format gives to the values of a field (__print_flags, __print_symbolic).
struct ValueNames {
  struct Entry {
    uint64_t value = 0;
    std::string name;
  };
  std::string field;
  bool are_flags = false;  // masks, of which a value may have several
  std::string delimiter;   // between flags
  std::vector<Entry> entries;
};

class PrintProgram {
 public:
  /// The format need not outlive the program.
  static PrintProgram compile(const TracepointFormat& format, const PrintTarget& target);

  /// Appends the text of one sample; no newlines except those of the format.
  void print(Bytes raw, const PrintContext& context, std::string& out) const;

  /// Of fields of this format, which must be the one that was compiled; in the order in which they
  /// are printed. Lists whose value is not computed from a single field are left out.
  [[nodiscard]] std::vector<ValueNames> value_names(const TracepointFormat& format) const;
  /// Why the print format could not be compiled; empty if it could.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Names in the format whose values are unknown; entries of flag and symbol lists with such a
  /// value never match; elsewhere they count as 0.
  [[nodiscard]] const std::vector<std::string>& unresolved() const { return unresolved_; }

 private:
  print_fmt::Code code_;
  std::optional<TracepointFormat> listed_;  // set if the fields are listed instead
  std::vector<std::string> unresolved_;
  std::string problem_;
  ByteOrder order_ = kHostOrder;
  uint32_t word_size_ = 8;
};

}  // namespace sonde
