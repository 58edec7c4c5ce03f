// Reconstructs records from the text of `report -D` and `script -D`: its headlines and hex lines.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde {

/// Appends the bytes of a line like ".  0010:  0a 00 …  ......"; false for other lines.
bool append_hex_line(std::string_view line, std::vector<std::byte>& bytes);

class DumpReader {
 public:
  /// "0x108@perf.data [0x50]: event: 69"; false for other lines.
  bool take_headline(std::string_view line);
  /// Adds bytes to the record of the last headline; other lines are ignored.
  void take_hex_line(std::string_view line);
  [[nodiscard]] bool started() const { return !records_.empty(); }
  [[nodiscard]] bool of_pipe() const { return started() && records_.front().path == "pipe"; }
  /// As the first record's header shows it.
  [[nodiscard]] ByteOrder order() const;

  /// What follows the record at `offset` and is not part of it, so not in the dump.
  std::vector<std::byte>& behind(uint64_t offset) { return behind_[offset]; }

  /// Appends all records in file order. Gaps between two of them are filled from `behind`, after a
  /// TRACING_DATA record from `tracing_data`, and otherwise with zeros.
  void put_records(Bytes tracing_data, ByteBuilder& out);

 private:
  struct Record {
    std::string path;
    uint64_t offset = 0;
    uint32_t type = 0;
    uint64_t size = 0;
    size_t arrival = 0;
    std::vector<std::byte> bytes;
  };
  void put_gap(const Record& record, uint64_t size, Bytes tracing_data, ByteBuilder& out) const;

  std::vector<Record> records_;
  std::map<uint64_t, std::vector<std::byte>> behind_;
};

}  // namespace sonde
