// MemoryArea: anonymous memory in pages of a chosen size.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace sonde {

class MemoryArea {
 public:
  /// `page_bytes`: the machine's own, or that of huge pages, which the system must have reserved.
  /// `flags`: more of mmap's. Errors say what is missing.
  static Result<MemoryArea> map(size_t bytes, size_t page_bytes, int flags = 0);
  MemoryArea(MemoryArea&& other) noexcept;
  MemoryArea& operator=(MemoryArea&&) = delete;
  ~MemoryArea();

  [[nodiscard]] char* data() const { return data_; }

 private:
  MemoryArea(char* data, size_t bytes) : data_(data), bytes_(bytes) {}
  char* data_;
  size_t bytes_;
};

/// Page sizes that --page takes: 4KB, 2MB, 1GB.
Result<size_t> parse_page_size(std::string_view text);

}  // namespace sonde
