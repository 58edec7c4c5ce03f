// What a filter is told about a sample: its fields, and the answers of the functions that it may
// call. Places are looked up when asked for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/session.h"
#include "script/code_bytes.h"
#include "script/dlfilters/perf_dlfilter.h"

namespace sonde {

class SampleAnswers {
 public:
  SampleAnswers(Session& session, bool show_kernel_path);

  /// Turns to a sample of the session's current batch. False if it cannot be decoded.
  bool enter(uint32_t index);
  /// Its fields; pointers in it are valid until the next `enter`.
  [[nodiscard]] const perf_dlfilter_sample& fields() const { return fields_; }

  // Strings and build ids in places are valid as long as this object.

  /// The place of its ip; `filtered`: whether options drop it.
  [[nodiscard]] perf_dlfilter_al ip_place(bool filtered);
  /// The place of its addr; nullopt if samples of its event have none.
  [[nodiscard]] std::optional<perf_dlfilter_al> addr_place();
  [[nodiscard]] perf_dlfilter_al place_of(uint64_t address);
  /// The sampled instruction; empty if its code is not available.
  [[nodiscard]] Bytes instruction() const;
  /// The file is null if it is not known. Valid until the next call.
  [[nodiscard]] const char* source_file(uint32_t& line);
  [[nodiscard]] perf_event_attr* attr();
  /// At most `size` bytes of code from a run time address, within one mapping.
  [[nodiscard]] Bytes code(uint64_t address, size_t size) const;

 private:
  /// Text that ends with a zero, by the id of what it names.
  using Texts = std::map<uint32_t, std::string>;

  [[nodiscard]] const Frame& leaf() const;
  [[nodiscard]] Frame frame_at(uint64_t address) const;
  [[nodiscard]] perf_dlfilter_al describe(const Frame& frame, uint64_t address);
  void describe_symbol(const Frame& frame, perf_dlfilter_al& place);
  void describe_object(const Frame& frame, perf_dlfilter_al& place);
  [[nodiscard]] uint64_t left_in_mapping(uint64_t address, FrameLevel level) const;
  void load_new_objects();
  void set_numbers(const abi::EventAttr& attr);
  void set_memory();

  Session& session_;
  bool show_kernel_path_;
  CodeBytes code_;
  uint32_t index_ = 0;
  Sample sample_;
  perf_dlfilter_sample fields_{};
  std::vector<perf_branch_entry> branches_;
  std::vector<uint64_t> chain_;
  perf_event_attr attr_{};  // the filter may write to it
  std::string source_file_;
  size_t objects_loaded_ = 0;
  Texts symbols_, objects_, build_ids_, comms_;
};

}  // namespace sonde
