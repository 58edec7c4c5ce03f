// A sort key: one property by which samples are grouped into the rows of a report, and the column
// that shows it.
//
// A key turns what it looks at into a 64-bit value, where equal values mean the same row. It looks
// either at the sample (pid, cpu, time …: `of_row`) or at a place in code (dso, symbol, srcline …:
// `of_place`). The second kind is asked once per distinct frame, never per sample, and is also
// asked for the callers of a sample when the report adds up children. Values whose meaning is a
// string or a struct are indices into tables that the key or the StringPool holds.
//
// A key is a class and one line in sort_keys.def. docs/extending.md says how to add one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profile/data_type_source.h"
#include "profile/profile_input.h"
#include "replay/trace_texts.h"

namespace sonde {

/// A place in code on a call path: a frame, and the run time address that the recording has for it.
/// Only places without a symbol show that address.
struct CodePlace {
  FrameId frame;
  uint64_t ip = 0;
};

/// What is grouped: a sample, or one of its branches. Decodes the sample on first demand.
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
  /// Everything that the record holds; zeros where it is damaged.
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

/// Which rows a key can describe.
enum class KeyFamily : uint8_t { kAny, kBranch, kMemory };

/// Settings that several keys look at.
struct KeySettings {
  bool nanoseconds = false;  // --ns
  uint64_t time_quantum_ns = 100'000'000;
  bool raw_trace = false;              // --raw-trace
  bool verbose = false;                // -v: long DSO names, addresses before symbols
  char separator = 0;                  // -t: widths are not padded for it
  bool dso_filter = false;             // -d: unresolved rows don't widen the DSO column
  std::string parent_pattern;          // -p: regular expression of the parent key
  bool caller_order = true;            // call chains go from the root
  const TraceTexts* traces = nullptr;  // print formats of the recording's tracepoints
  DataTypeSource* data_types = nullptr;
};

class SortKey {
 public:
  virtual ~SortKey() = default;

  [[nodiscard]] virtual bool is_of_place() const { return false; }
  /// The value of a row; called once per row.
  virtual uint64_t of_row(RowReader& row);
  /// The value of a place in code; called once per distinct place.
  virtual uint64_t of_place(const CodePlace& place);

  /// Negative where a row with value `a` stands before one with `b`; 0 only for equal values,
  /// unless the key can show different values alike.
  [[nodiscard]] virtual int collate(uint64_t a, uint64_t b) const;
  /// perf's own comparison where that is no order (a before b before c before a); rows then stand
  /// as insertion one by one into a search tree leaves them.
  [[nodiscard]] virtual int collate_in_tree(uint64_t a, uint64_t b) const { return collate(a, b); }
  /// Whether the two comparisons come to the same for the values that are known.
  /// `among_equal_dsos`: an earlier key compares DSOs.
  [[nodiscard]] virtual bool collates_consistently(bool /*among_equal_dsos*/) const { return true; }
  /// The order of rows whose weights are equal; collate() decides what this leaves open.
  [[nodiscard]] virtual int order(uint64_t a, uint64_t b) const { return collate(a, b); }
  /// For distinct values, dense numbers that have their order; values that are not told apart share
  /// one.
  enum class Order : uint8_t { kCollating, kShown };
  [[nodiscard]] virtual std::vector<uint32_t> ranks(std::span<const uint64_t> distinct,
                                                    Order which) const;
  virtual void text(uint64_t value, std::string& out) const = 0;
  /// The same where it depends on the sample that made the row.
  virtual void text_of_row(uint64_t value, uint32_t /*first_sample*/, std::string& out) const {
    text(value, out);
  }
  /// What a value is called in any recording: rows whose keys have equal identities are the same
  /// row of two. Empty where the recording has nothing to call it by; those are the same, too.
  [[nodiscard]] virtual std::string identity(uint64_t value, uint32_t first_sample) const;
  /// The value is of one sample; what is shown is that times the samples of the row.
  [[nodiscard]] virtual bool multiplies() const { return false; }
  /// Characters that a row demands of the column. `first_sample` is the sample that made the row.
  [[nodiscard]] virtual size_t width(uint64_t value, uint32_t first_sample) const;
  /// What a row demands on top of that whose place has no symbol.
  [[nodiscard]] virtual size_t unresolved_width() const { return 0; }

  std::string name;      // as on the command line
  std::string title;     // over the column
  size_t min_width = 0;  // of the column, once it has a row
  bool cuts = false;     // text that is longer than the column is cut
  bool right_aligned = false;
};

/// A field of a tracepoint as a key: `event.field`, shown as the print format shows it or, with
/// `raw`, as its value.
[[nodiscard]] std::unique_ptr<SortKey> make_field_key(const ProfileInput& input,
                                                      const KeySettings& settings, EventId event,
                                                      const TracepointField& field, bool raw);

/// Makes a key for the input; errors say what the key needs that the recording lacks.
using SortKeyFactory = Result<std::unique_ptr<SortKey>> (*)(const ProfileInput&,
                                                            const KeySettings&);

struct SortKeyInfo {
  std::string_view name;  // canonical: "symbol"
  KeyFamily family;
  SortKeyFactory make;
};

/// The key for rows that are branches: what looks at places is asked about a branch's target.
[[nodiscard]] Result<std::unique_ptr<SortKey>> make_branch_target_key(const SortKeyInfo& info,
                                                                      const ProfileInput& input,
                                                                      const KeySettings& settings);

/// All keys in the order in which perf lists them.
[[nodiscard]] std::span<const SortKeyInfo> sort_key_list();
/// The key that a word on the command line means: the first whose name begins with it, without
/// regard to case ("sym", "PID"). Null where there is none.
[[nodiscard]] const SortKeyInfo* find_sort_key(std::string_view word);

/// Three-way comparison as the keys use it.
template <typename T>
[[nodiscard]] constexpr int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace sonde
