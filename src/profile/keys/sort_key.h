// A sort key: one property by which samples are grouped into the rows of a report, and the column
// that shows it.
//
// A key turns what it looks at into a 64-bit value; equal values mean the same row. It looks either
// at the sample (pid, cpu, time …: `of_row`) or at a place in code (dso, symbol, srcline …:
// `of_place`). A key of the second kind is called once per distinct frame, never per sample, and
// also for the callers of a sample if the report adds up children. Values that stand for a string
// or a struct are indices into tables of the key or the StringPool.
//
// A key is a class and one line in sort_keys.def. docs/extending.md says how to add one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profile/counterparts.h"
#include "profile/keys/data_type_source.h"
#include "profile/profile_input.h"
#include "replay/fields/trace_texts.h"

namespace sonde {

/// A place in code on a call path: a frame and its run-time address in the recording. Only places
/// without a symbol show that address.
struct CodePlace {
  FrameId frame;
  uint64_t ip = 0;
};

/// What is grouped: a sample, or one of its branches. Decodes the sample on first use.
class RowReader {
 public:
  explicit RowReader(const ProfileInput& input) : input_(input) {}
  void move_to(uint32_t sample, uint32_t branch = 0) {
    if (sample != sample_) decoded_ = false;
    sample_ = sample;
    branch_ = branch;
  }
  [[nodiscard]] uint32_t sample() const { return sample_; }
  [[nodiscard]] uint32_t branch() const { return branch_; }
  [[nodiscard]] const ProfileInput& input() const { return input_; }
  /// Everything that the record holds; zeros if it is damaged.
  const Sample& details() {
    if (!decoded_) {
      content_ = Sample();
      input_.details.decode(sample_, content_);
      decoded_ = true;
    }
    return content_;
  }

 private:
  const ProfileInput& input_;
  uint32_t sample_ = UINT32_MAX;
  uint32_t branch_ = 0;
  bool decoded_ = false;
  Sample content_;
};

/// Which kinds of rows a key applies to.
enum class KeyFamily : uint8_t { kAny, kBranch, kMemory };

/// Settings used by several keys.
/// What branch stacks say about a function.
struct FunctionIpc {
  double ipc = 0;       // instructions per cycle of its blocks
  double coverage = 0;  // percent: its instructions that are in such blocks
};

struct KeySettings {
  bool nanoseconds = false;  // --ns
  uint64_t time_quantum_ns = 100'000'000;
  bool raw_trace = false;              // --raw-trace
  bool verbose = false;                // -v: long DSO names, addresses before symbols
  char separator = 0;                  // -t: columns are not padded
  bool dso_filter = false;             // -d: unresolved rows don't widen the DSO column
  std::string parent_pattern;          // -p: regular expression of the parent key
  bool caller_order = true;            // call chains start at the root
  const TraceTexts* traces = nullptr;  // print formats of the recording's tracepoints
  DataTypeSource* data_types = nullptr;
  /// Of the key ipc_lbr; nothing where no cycles were recorded, or the code is not here.
  std::function<std::optional<FunctionIpc>(SymbolId)> ipc = nullptr;
  const std::vector<uint32_t>* parallelism = nullptr;  // by sample (replay/fields/parallelism.h)
};

class SortKey {
 public:
  virtual ~SortKey() = default;

  [[nodiscard]] virtual bool is_of_place() const { return false; }
  /// A key of places whose value is the same for all places with the same symbol.
  [[nodiscard]] virtual bool is_of_symbol() const { return false; }
  /// A key of places whose values are numbers, counted from 0, that differ for nearly all places.
  [[nodiscard]] virtual bool numbers_places() const { return false; }
  /// About this many places will be asked for at most: reserves address space for them.
  virtual void expect_places(size_t /*count*/) {}
  /// The value of a row; called once per row.
  virtual uint64_t of_row(RowReader& row);
  /// The value of a place in code; called once per distinct place.
  virtual uint64_t of_place(const CodePlace& place);

  /// Negative if a row with value `a` sorts before one with `b`; 0 only for equal values, unless
  /// the key can show different values the same way.
  [[nodiscard]] virtual int collate(uint64_t a, uint64_t b) const;
  /// perf's own comparison where it is not a consistent order (a before b before c before a); rows
  /// are then ordered as one-by-one insertion into a search tree leaves them.
  [[nodiscard]] virtual int collate_in_tree(uint64_t a, uint64_t b) const { return collate(a, b); }
  /// Whether the two comparisons agree for the values seen so far. `among_equal_dsos`: an earlier
  /// key compares DSOs.
  [[nodiscard]] virtual bool collates_consistently(bool /*among_equal_dsos*/) const { return true; }
  /// The order of rows with equal weights; collate() breaks remaining ties.
  [[nodiscard]] virtual int order(uint64_t a, uint64_t b) const { return collate(a, b); }
  /// Dense ranks for distinct values, in their order; values that are not distinguished share a
  /// rank.
  enum class Order : uint8_t { kCollating, kShown };
  [[nodiscard]] virtual std::vector<uint32_t> ranks(std::span<const uint64_t> distinct,
                                                    Order which) const;
  virtual void text(uint64_t value, std::string& out) const = 0;
  /// The same, for text that depends on the sample that made the row.
  virtual void text_of_row(uint64_t value, uint32_t /*first_sample*/, std::string& out) const {
    text(value, out);
  }
  /// Fetches from memory what text_of_row() looks at, for some rows together: one at a time, each
  /// would wait for it several times.
  struct RowValue {
    uint64_t value;
    uint32_t first_sample;
  };
  virtual void prefetch(std::span<const RowValue> /*rows*/) const {}
  /// The name of a value, valid across recordings: rows of two recordings whose keys have equal
  /// identities are the same row. Empty if the recording has no name for it; empty identities are
  /// equal, too.
  [[nodiscard]] virtual std::string identity(uint64_t value, uint32_t first_sample) const;
  /// What identities are the names of.
  [[nodiscard]] virtual NameKind names() const { return NameKind::kOther; }
  /// The value is per sample; what is shown is the value times the row's sample count.
  [[nodiscard]] virtual bool multiplies() const { return false; }
  /// Width that a row requires of the column. `first_sample`: the sample that made the row.
  [[nodiscard]] virtual size_t width(uint64_t value, uint32_t first_sample) const;
  /// Additional width that a row without a symbol requires.
  [[nodiscard]] virtual size_t unresolved_width() const { return 0; }

  std::string name;      // as on the command line
  std::string title;     // column heading
  size_t min_width = 0;  // of the column, once it has a row
  bool cuts = false;     // text longer than the column is truncated
  bool right_aligned = false;
};

/// A tracepoint field as a key: `event.field`, shown as in the print format or, with `raw`, as its
/// value.
[[nodiscard]] std::unique_ptr<SortKey> make_field_key(const ProfileInput& input,
                                                      const KeySettings& settings, EventId event,
                                                      const TracepointField& field, bool raw);

/// Makes a key for the input; an error says what the key needs that the recording lacks.
using SortKeyFactory = Result<std::unique_ptr<SortKey>> (*)(const ProfileInput&,
                                                            const KeySettings&);

struct SortKeyInfo {
  std::string_view name;  // canonical: "symbol"
  KeyFamily family;
  SortKeyFactory make;
  bool needs_chains = false;  // of samples, also where no call graph is shown
};

/// The key for rows that are branches: keys of places are applied to the branch target.
[[nodiscard]] Result<std::unique_ptr<SortKey>> make_branch_target_key(const SortKeyInfo& info,
                                                                      const ProfileInput& input,
                                                                      const KeySettings& settings);

/// Whether one of the keys of a list "comm,wait" looks at call chains.
[[nodiscard]] bool need_chains(std::string_view keys);

/// All keys in perf's order.
[[nodiscard]] std::span<const SortKeyInfo> sort_key_list();
/// The key for a word on the command line: the first whose name starts with it, ignoring case
/// ("sym", "PID"). Null if there is none.
[[nodiscard]] const SortKeyInfo* find_sort_key(std::string_view word);

/// Three-way comparison used by the keys.
template <typename T>
[[nodiscard]] constexpr int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace sonde
