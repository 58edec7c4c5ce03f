// JitDump: parses what a JIT compiler wrote to jit-PID.dump: every piece of code with its name,
// bytes, lines and call frame information, and when it was placed where.
//
// The format is that of the kernel's tools/perf/Documentation/jitdump-specification.txt: a header
// that gives the byte order, then records, each with its size and a time (CLOCK_MONOTONIC, unless
// the header says that it is a cycle count). Lines and call frame information precede the code they
// belong to.
//
//   JitDump dump = TRY(JitDump::parse(TRY(read_file("/tmp/jit-4711.dump"))));
//   for (const JitDump::Code& code : dump.codes()) ... code.name ... dump.lines_of(code) ...
//
// A record that is cut off at the end is left for the next reading (`end()`): its compiler may
// still be writing. Nonsensical records are only counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

class JitDump {
 public:
  struct Header {
    ByteOrder order = kHostOrder;
    uint32_t elf_machine = 0;  // EM_*
    uint32_t pid = 0;          // in the compiler's pid namespace
    uint64_t time_ns = 0;
    bool counts_cycles = false;  // times are the processor's time stamp counter, not nanoseconds
  };
  struct Line {
    uint64_t address = 0;  // at run time
    uint32_t line = 0;
    uint32_t discriminator = 0;
    std::string_view file;
    size_t first_frame = 0, frame_count = 0;  // see frames_of
  };
  /// A function whose code is at a line's address.
  struct Frame {
    std::string_view function;
    std::string_view file;
    uint32_t line = 0;
  };
  struct Code {
    uint64_t time_ns = 0;
    uint32_t pid = 0, tid = 0;
    uint64_t address = 0;  // at run time
    uint64_t size = 0;
    uint64_t index = 0;   // the compiler's number for this code
    uint64_t offset = 0;  // of its bytes in the dump
    std::string_view name;
    // .eh_frame followed by .eh_frame_hdr, addressed as if they followed the code at the next
    // multiple of eight.
    Bytes unwinding;
    uint64_t unwinding_header_size = 0;  // bytes of `unwinding` that are .eh_frame_hdr
    uint64_t unwinding_mapped_size = 0;  // bytes that the process has mapped after its code
    size_t first_line = 0, line_count = 0;

    /// The distance of the unwinding information from the start of the code.
    [[nodiscard]] uint64_t unwinding_distance() const { return (size + 7) & ~uint64_t{7}; }
  };
  /// Code `code` (index into codes()) is at `address` from now on.
  struct Placed {
    uint64_t time_ns = 0;
    uint64_t address = 0;
    size_t code = 0;
  };

  /// Parses a dump from its beginning.
  static Result<JitDump> parse(std::string bytes);
  /// Parses what was written since `before` was read: `bytes` are those of the file from
  /// before.end() on. Code written earlier is not known here, so moving it counts as a bad record.
  static JitDump parse_more(const JitDump& before, std::string bytes);

  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] const std::vector<Code>& codes() const { return codes_; }
  [[nodiscard]] Bytes bytes_of(const Code& code) const;
  /// By address; of lines at the same one, in the order of the dump.
  [[nodiscard]] std::span<const Line> lines_of(const Code& code) const {
    return std::span(lines_).subspan(code.first_line, code.line_count);
  }
  /// Innermost first: the functions inlined there, and last the function of the code itself. Empty
  /// if the compiler does not say; libsonde-jvmti.so does, after a record's lines.
  [[nodiscard]] std::span<const Frame> frames_of(const Line& line) const {
    return std::span(frames_).subspan(line.first_frame, line.frame_count);
  }
  /// What was written and moved, in the order of the dump.
  [[nodiscard]] const std::vector<Placed>& placed() const { return placed_; }
  [[nodiscard]] bool closed() const { return closed_; }
  /// The file offset of the next record.
  [[nodiscard]] uint64_t end() const { return end_; }
  [[nodiscard]] uint64_t bad_records() const { return bad_records_; }

 private:
  friend class JitDumpParser;
  std::vector<char> bytes_;  // not a string: views into it must outlive a move
  uint64_t base_ = 0;        // their offset in the file
  Header header_;
  std::vector<Code> codes_;
  std::vector<Line> lines_;
  std::vector<Frame> frames_;
  std::vector<Placed> placed_;
  bool closed_ = false;
  uint64_t end_ = 0;
  uint64_t bad_records_ = 0;
};

/// Whether this is the name a compiler gives its dump: "…/jit-PID.dump". A process reveals its dump
/// by mapping such a file executable.
bool is_jit_dump_name(std::string_view path);

}  // namespace sonde
