#include "elf/compressed_section.h"

#include <elf.h>
#include <libdeflate.h>
#include <zstd.h>

#include <memory>

#include "base/expansion_allowance.h"

namespace sonde {
namespace {

// ELFCOMPRESS_ZSTD: missing from this libc's elf.h.
constexpr uint32_t kCompressZstd = 2;

std::unexpected<Error> damaged(const ElfFile& file, const ElfSection& section) {
  return fail(ErrorCode::kCorrupt, "{}: the compressed section {} is damaged", file.name(),
              section.name);
}

/// The room for a section of the size that its header promises, if it may become that large.
Result<std::vector<std::byte>> room_for(const ElfFile& file, const ElfSection& section,
                                        Bytes packed, uint64_t size) {
  TRY(Expansion(fmt::format("{}: the compressed section {}", file.name(), section.name))
          .grow_in_memory(packed.size(), size));
  return std::vector<std::byte>(size);
}

/// The size is known, so everything is unpacked at once: libdeflate takes half of zlib's time.
bool inflate(Bytes packed, std::vector<std::byte>& content) {
  std::unique_ptr<libdeflate_decompressor, decltype(&::libdeflate_free_decompressor)> unpacker(
      ::libdeflate_alloc_decompressor(), &::libdeflate_free_decompressor);
  return unpacker != nullptr &&
         ::libdeflate_zlib_decompress(unpacker.get(), packed.data(), packed.size(), content.data(),
                                      content.size(), nullptr) == LIBDEFLATE_SUCCESS;
}

}  // namespace

Result<std::vector<std::byte>> expanded_content(const ElfFile& file, const ElfSection& section) {
  ByteCursor in(file.content(section), file.order());
  uint32_t type = in.u32();
  uint64_t size = 0;
  if (file.is_64bit()) {
    in.u32();  // ch_reserved
    size = in.u64();
    in.u64();  // ch_addralign
  } else {
    size = in.u32();
    in.u32();
  }
  Bytes packed = in.rest();
  if (!in.ok()) return damaged(file, section);
  std::vector<std::byte> content = TRY(room_for(file, section, packed, size));
  if (type == ELFCOMPRESS_ZLIB) {
    if (!inflate(packed, content)) return damaged(file, section);
  } else if (type == kCompressZstd) {
    size_t written = ::ZSTD_decompress(content.data(), size, packed.data(), packed.size());
    if (::ZSTD_isError(written) != 0 || written != size) return damaged(file, section);
  } else {
    return damaged(file, section);
  }
  return content;
}

Result<std::vector<std::byte>> expanded_gnu_content(const ElfFile& file,
                                                    const ElfSection& section) {
  ByteCursor in(file.content(section), ByteOrder::kBig);
  bool marked = as_text(in.take(4)) == "ZLIB";
  uint64_t size = in.u64();
  Bytes packed = in.rest();
  if (!in.ok() || !marked) return damaged(file, section);
  std::vector<std::byte> content = TRY(room_for(file, section, packed, size));
  if (!inflate(packed, content)) return damaged(file, section);
  return content;
}

}  // namespace sonde
