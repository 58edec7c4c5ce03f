// Headers of tar members (POSIX.1-1988 "ustar", with GNU's long names and sizes), both ways.
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
  std::string name;  // below the root of the archive
  TarType type = TarType::kFile;
  uint32_t mode = 0644;
  uint64_t size = 0;  // of the content: files only
  int64_t modified_s = 0;
  std::string target = {};  // of a symbolic link
  Bytes content = {};       // where it was read
};

/// How many bytes fill the last block of a content.
[[nodiscard]] constexpr uint64_t tar_padding(uint64_t size) {
  return (kTarBlock - size % kTarBlock) % kTarBlock;
}
/// The header, behind headers for what does not fit in it.
void put_tar_header(const TarMember& member, ByteBuilder& out);

class TarReader {
 public:
  explicit TarReader(Bytes archive) : in_(archive) {}
  /// nullopt at the end. Members of other types (devices, what pax adds) are passed over. Errors:
  /// kCorrupt. A content that the archive is too short for is an error unless `headers_only`.
  Result<std::optional<TarMember>> next(bool headers_only = false);
  /// Where the content of the member that was read last begins.
  [[nodiscard]] uint64_t content_offset() const { return content_offset_; }

 private:
  ByteCursor in_;
  uint64_t content_offset_ = 0;
};

}  // namespace sonde
