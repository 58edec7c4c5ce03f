// A tracepoint's `format` file: its name, its id, the position of each field in the raw data of a
// sample, and the text of its print format (compiled by print_fmt.h). The text comes from tracefs
// or from the tracing-data section of a perf.data, so it is untrusted: a malformed line is an
// error, never a crash.
//
//   name: sched_process_exec
//   ID: 285
//   format:
//   	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
//   	...
//   	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
//
//   print fmt: "filename=%s pid=%d old_pid=%d", __get_str(filename), REC->pid, REC->old_pid
//
// The grammar is the kernel's (kernel/trace/trace_events.c, f_show); fields before the blank line
// are common to all events.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct TracepointField {
  std::string name;
  std::string
      type;  // as declared, with the brackets: "char[16]", "__data_loc char[]", "const char *"
  uint32_t offset = 0;  // bytes from the start of the raw data
  uint32_t size =
      0;  // bytes; 0 for a flexible array (`char buf[]`), which reaches to the end of the data
  uint32_t element_size =
      0;  // bytes of one element of an array or dynamic array; `size` where it is neither
  bool is_signed = false;       // of the elements, for arrays of integers
  bool is_array = false;        // declared with brackets, fixed, flexible or dynamic
  bool is_string = false;       // an array of char
  bool is_dynamic = false;      // __data_loc or __rel_loc: the field holds (length << 16 | offset)
  bool is_rel_dynamic = false;  // __rel_loc: that offset is relative to the end of the field
  bool is_pointer = false;
  bool is_long = false;  // a `long` of any kind; such values are usually addresses or masks

  [[nodiscard]] bool is_flexible() const { return size == 0 && is_array && !is_dynamic; }
};

class TracepointFormat {
 public:
  /// kCorrupt if the text is not a format file; the message names the event and the line.
  static Result<TracepointFormat> parse(std::string_view text, std::string_view system);

  [[nodiscard]] const std::string& system() const { return system_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The id in the first two bytes of the raw data, and `attr.config` of its perf events.
  [[nodiscard]] uint32_t id() const { return id_; }
  /// common_type, common_flags, common_preempt_count, common_pid.
  [[nodiscard]] std::span<const TracepointField> common_fields() const {
    return std::span(fields_).first(common_count_);
  }
  /// The event's own fields, in declared order.
  [[nodiscard]] std::span<const TracepointField> fields() const {
    return std::span(fields_).subspan(common_count_);
  }
  [[nodiscard]] std::span<const TracepointField> all_fields() const { return fields_; }
  /// By name, own fields first; null if there is none.
  [[nodiscard]] const TracepointField* field(std::string_view name) const;
  /// What follows "print fmt:"; empty if there is no such line.
  [[nodiscard]] const std::string& print_fmt() const { return print_fmt_; }

 private:
  std::string system_;
  std::string name_;
  std::string print_fmt_;
  std::vector<TracepointField> fields_;
  size_t common_count_ = 0;
  uint32_t id_ = 0;
};

}  // namespace sonde
