// Reads and writes tar member headers (POSIX.1-1988 "ustar", with GNU's long names and sizes).
//
//   ByteBuilder out;
//   put_tar_header({.name = "usr/bin/x/elf", .size = 5}, out);   // 512 bytes, more for a long name
//   ... the content ... put_tar_padding(5, out);
//
//   TarReader reader(archive);
//   while (auto member = TRY(reader.next())) ... member->name, member->content ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

inline constexpr size_t kTarBlock = 512;

enum class TarType : char { kFile = '0', kLink = '2', kDirectory = '5' };

struct TarMember {
  std::string name;  // relative to the root of the archive
  TarType type = TarType::kFile;
  uint32_t mode = 0644;
  uint64_t size = 0;  // of the content: only for files
  int64_t modified_s = 0;
  std::string target = {};  // of a symbolic link
  Bytes content = {};       // if it was read
};

/// The number of bytes that fill up the last block of the content.
[[nodiscard]] constexpr uint64_t tar_padding(uint64_t size) {
  return (kTarBlock - size % kTarBlock) % kTarBlock;
}
/// The header, preceded by headers for what does not fit in it.
void put_tar_header(const TarMember& member, ByteBuilder& out);

class TarReader {
 public:
  explicit TarReader(Bytes archive) : in_(archive) {}
  /// Nullopt at the end. Skips members of other types (devices, pax extensions). Fails with
  /// kCorrupt; truncated content is an error unless `headers_only`.
  Result<std::optional<TarMember>> next(bool headers_only = false);
  /// The offset of the last member's content.
  [[nodiscard]] uint64_t content_offset() const { return content_offset_; }

 private:
  ByteCursor in_;
  uint64_t content_offset_ = 0;
};

}  // namespace sonde
