// The tracing-data section: what the kernel said about its tracepoints at recording time, in the
// layout of trace.dat files (trace-cmd.dat(5), versions 0.5 and 0.6): the ring buffer's header
// formats, the `format` files of ftrace's own events and of every recorded tracepoint, kallsyms,
// the strings of printk_formats and saved command names.
//
// Only cut apart here; event/print_fmt/tracepoint_format.h parses a format's text. All views point
// into the section. A section that ends too early gives what was there and is not `complete()`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde {

class TracingData {
 public:
  struct Format {
    std::string_view system;  // "ftrace" for ftrace's own
    std::string_view name;    // from the text's line "name:"
    uint32_t id = 0;          // from the text's line "ID:"
    std::string_view text;
  };

  static TracingData parse(Bytes section);

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::string_view version() const { return version_; }
  /// Of the recorded kernel, whatever the file's own byte order is.
  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] uint32_t long_size() const { return long_size_; }
  [[nodiscard]] uint32_t page_size() const { return page_size_; }
  [[nodiscard]] std::string_view header_page() const { return header_page_; }
  [[nodiscard]] std::string_view header_event() const { return header_event_; }
  [[nodiscard]] const std::vector<Format>& formats() const { return formats_; }
  /// Null if there is none. Tracepoints come before ftrace's own events.
  [[nodiscard]] const Format* by_id(uint32_t id) const;
  [[nodiscard]] const Format* by_name(std::string_view system, std::string_view name) const;
  /// Lines as in /proc/kallsyms.
  [[nodiscard]] std::string_view kallsyms() const { return kallsyms_; }
  /// Lines "0xADDRESS : "text"" as in tracefs' printk_formats.
  [[nodiscard]] std::string_view printk_formats() const { return printk_formats_; }
  /// Lines "PID COMM"; version 0.6.
  [[nodiscard]] std::string_view saved_cmdlines() const { return saved_cmdlines_; }

 private:
  bool read_header(ByteCursor& in);
  bool read_formats(ByteCursor& in, std::string_view system, std::vector<Format>& formats);
  bool read_systems(ByteCursor& in);
  bool read_rest(ByteCursor& in);

  bool complete_ = false;
  ByteOrder order_ = kHostOrder;
  uint32_t long_size_ = 8;
  uint32_t page_size_ = 4096;
  std::string_view version_, header_page_, header_event_;
  std::string_view kallsyms_, printk_formats_, saved_cmdlines_;
  std::vector<Format> formats_;
};

}  // namespace sonde
