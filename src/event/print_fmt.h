// PrintProgram: a tracepoint's print format, compiled once per event and then run for each sample.
//
// The text is what libtraceevent prints (and perf script shows) where that is right, and what the
// kernel itself prints where it is not: see docs/differences-tracepoints.md. A run allocates
// nothing but what `out` grows by, reads only inside the raw data, and ends after a bounded number
// of steps, whatever the format and the data say.
//
//   TracepointFormat format = TRY(TracepointFormat::parse(text, "sched"));
//   PrintProgram program = PrintProgram::compile(format, {});
//   program.print(sample_raw, context, line);   // "prev_comm=bash prev_pid=12 ..."
//
// A print format that cannot be compiled makes a program that lists the fields, as perf does:
// "[FAILED TO PARSE] vector=236".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "event/print_fmt_code.h"
#include "event/tracepoint_format.h"

namespace sonde {

/// The machine that recorded.
struct PrintTarget {
  ByteOrder order = kHostOrder;
  uint32_t word_size = 8;  // bytes of a kernel `long` and of a pointer: 4 or 8
  uint32_t hz =
      250;  // CONFIG_HZ, for jiffies_to_msecs; recordings do not carry it, 250 is most usual
  /// The value of a kernel enumerator that the format leaves as a name, e.g. out of BTF. May be
  /// empty. It is asked before the table of well-known constants.
  std::function<std::optional<int64_t>(std::string_view name)> constant;
};

/// What addresses in the samples mean. Both functions may be empty.
struct PrintContext {
  struct Symbol {
    std::string_view name;
    uint64_t offset = 0;
  };
  /// The kernel function around an address, for %pS and its kin.
  std::function<std::optional<Symbol>(uint64_t address)> symbol;
  /// The text of a string constant of the kernel, for %s of a `const char *` field
  /// (printk_formats).
  std::function<std::optional<std::string_view>(uint64_t address)> printk;
};

class PrintProgram {
 public:
  /// The format need not outlive the program.
  static PrintProgram compile(const TracepointFormat& format, const PrintTarget& target);

  /// Appends the text of one sample; no newline but those of the format.
  void print(Bytes raw, const PrintContext& context, std::string& out) const;

  /// Why the print format could not be compiled; empty if it could.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Names in the format whose values nobody knows; the entries of flag and symbol lists that they
  /// stand for are never matched, elsewhere they count as 0.
  [[nodiscard]] const std::vector<std::string>& unresolved() const { return unresolved_; }

 private:
  print_fmt::Code code_;
  std::optional<TracepointFormat> listed_;  // set where the fields are listed instead
  std::vector<std::string> unresolved_;
  std::string problem_;
  ByteOrder order_ = kHostOrder;
  uint32_t word_size_ = 8;
};

}  // namespace sonde
