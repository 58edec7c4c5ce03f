// A core file of the kernel's memory: /proc/kcore, or the part of it that `record --kcore` copied.
// It cannot be mapped, and is larger than any memory, so it is read piece by piece.
#pragma once

#include <link.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class CoreFile {
 public:
  using Header = ElfW(Ehdr);
  using Segment = ElfW(Phdr);

  /// Errors: kNotFound, kPermission or kIo if it cannot be opened; kUnsupported if it is not a core
  /// file of this machine.
  static Result<CoreFile> open(const std::string& path);

  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  /// Reads bytes at a file offset. False, with errno, if they are not all there.
  [[nodiscard]] bool read(void* to, size_t size, uint64_t offset) const;
  /// The bytes at an address; nothing if no segment has all of them, if they cannot be read, or if
  /// they are more than 64 MiB.
  [[nodiscard]] std::optional<std::vector<std::byte>> memory(uint64_t address, uint64_t size) const;

 private:
  Fd fd_;
  Header header_{};
  std::vector<Segment> segments_;
};

}  // namespace sonde
