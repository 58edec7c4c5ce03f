// SharedSampleFilter: the filter program for users who may not load programs. Root pins it once,
// with its tables, in the BPF file system (`record --setup-filter pin`); whoever records his own
// tasks puts what he filters by into the tables, and attaches the program to his events.
//
// Everybody may write to the tables: a user can make samples of another's recording disappear, but
// not see them. An entry is removed with this object; those of recorders that were killed are
// removed when room is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "bpf/filters/sample_filter_terms.h"

namespace sonde {

/// "/sys/fs/bpf/sonde_filter".
[[nodiscard]] std::string shared_filter_directory();
/// Loads the program and pins it, readable and writable by everybody. Errors: kPermission; what the
/// kernel refused; a BPF file system that is not mounted; kFailed if it is pinned already.
Result<> pin_shared_filter();
/// Removes what was pinned. Recordings that use it go on. kNotFound: nothing was.
Result<> unpin_shared_filter();

class SharedSampleFilter {
 public:
  /// Whether root has pinned it.
  [[nodiscard]] static bool is_pinned();
  /// Errors: kPermission if it cannot be opened.
  static Result<SharedSampleFilter> open(const SampleFilterTerms& terms);
  SharedSampleFilter(SharedSampleFilter&&) noexcept = default;
  SharedSampleFilter& operator=(SharedSampleFilter&&) noexcept = default;
  ~SharedSampleFilter();

  /// Of the program.
  [[nodiscard]] int fd() const { return program_.get(); }
  /// The event's samples are to be filtered; to be called before it is enabled. Errors: kFailed if
  /// there is no room.
  Result<> add_event(uint64_t id);
  /// Samples that were not kept; nothing if somebody removed our entry: then none are kept.
  [[nodiscard]] std::optional<uint64_t> dropped() const;

 private:
  SharedSampleFilter(Fd program, Fd filters, Fd events, const SampleFilterTerms& terms);
  void remove_abandoned() const;
  [[nodiscard]] Result<> put(int map, const void* key, const void* value) const;

  Fd program_, filters_, events_;
  shared_filter_entry entry_{};
  std::vector<uint64_t> ids_;  // of the events; the first is the entry's key
};

}  // namespace sonde
