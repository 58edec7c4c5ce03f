// JitDumpBuilder: small jitdumps for tests, in either byte order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde {

class JitDumpBuilder {
 public:
  struct Line {
    uint64_t address;
    uint32_t line;
    std::string_view file;
  };

  explicit JitDumpBuilder(ByteOrder order = kHostOrder, uint64_t flags = 0) : out_(order) {
    out_.u32(0x4A695444);
    out_.u32(1);
    out_.u32(40);
    out_.u32(62);  // EM_X86_64
    out_.u32(0);
    out_.u32(4711);
    out_.u64(1);
    out_.u64(flags);
  }

  void code(uint64_t time, uint64_t address, uint64_t index, std::string_view name,
            std::string_view bytes) {
    begin(0, time);
    out_.u32(4711);
    out_.u32(4712);
    out_.u64(address);
    out_.u64(address);
    out_.u64(bytes.size());
    out_.u64(index);
    out_.text(name);
    out_.u8(0);
    out_.text(bytes);
    end();
  }
  void move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index) {
    begin(1, time);
    out_.u32(4711);
    out_.u32(4712);
    out_.u64(to);
    out_.u64(from);
    out_.u64(to);
    out_.u64(size);
    out_.u64(index);
    end();
  }
  /// `behind`: data that a writer appends and that not every reader knows.
  void lines(uint64_t address, const std::vector<Line>& lines, std::string_view behind = {}) {
    begin(2, 0);
    out_.u64(address);
    out_.u64(lines.size());
    for (const Line& line : lines) {
      out_.u64(line.address);
      out_.u32(line.line);
      out_.u32(0);
      out_.text(line.file);
      out_.u8(0);
    }
    out_.text(behind);
    end();
  }
  void unwinding(std::string_view table, std::string_view header) {
    begin(4, 0);
    out_.u64(table.size() + header.size());
    out_.u64(header.size());
    out_.u64(0);
    out_.text(table);
    out_.text(header);
    out_.zeros((8 - (table.size() + header.size()) % 8) % 8);
    end();
  }
  void close() {
    begin(3, 0);
    end();
  }
  /// A record of any kind.
  void other(uint32_t id, std::string_view content) {
    begin(id, 0);
    out_.text(content);
    end();
  }

  [[nodiscard]] std::string bytes() const { return std::string(as_text(out_.view())); }

 private:
  void begin(uint32_t id, uint64_t time) {
    start_ = out_.size();
    out_.u32(id);
    out_.u32(0);
    out_.u64(time);
  }
  void end() { out_.patch(start_ + 4, static_cast<uint32_t>(out_.size() - start_)); }

  ByteBuilder out_;
  size_t start_ = 0;
};

}  // namespace sonde
