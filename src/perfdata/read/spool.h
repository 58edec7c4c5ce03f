// Memory for data that has no file to be mapped from: piped input and expanded records. Small
// amounts are anonymous memory; beyond a limit the bytes are in an unlinked temporary file that is
// mapped, so that the kernel can write them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// A writable mapping at a fixed address.
class SpoolMemory {
 public:
  static Result<SpoolMemory> allocate(size_t size, bool on_disk);
  /// Reads `fd` to its end into one contiguous mapping, after a copy of `before`.
  static Result<SpoolMemory> read_to_end(int fd, const std::string& name, uint64_t limit_bytes,
                                         Bytes before = {});

  SpoolMemory() = default;
  SpoolMemory(SpoolMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        mapped_(std::exchange(other.mapped_, 0)),
        used_(std::exchange(other.used_, 0)) {}
  SpoolMemory& operator=(SpoolMemory&& other) noexcept;
  ~SpoolMemory() { unmap(); }

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] size_t capacity() const { return mapped_; }
  /// What read_to_end read.
  [[nodiscard]] Bytes bytes() const { return {data_, used_}; }

 private:
  Result<> grow(size_t size);
  Result<> move_to_disk(int file, const std::string& name, int input);
  void unmap();

  std::byte* data_ = nullptr;
  size_t mapped_ = 0;
  size_t used_ = 0;
};

}  // namespace sonde
