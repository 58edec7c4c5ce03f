#include "elf/packed_file.h"

#include <libdeflate.h>
#include <zstd.h>

#include <memory>

#include "base/expansion_allowance.h"
#include "elf/xz.h"

namespace sonde {
namespace {

// RFC 1952, RFC 8878, and "The .xz File Format".
constexpr std::string_view kGzip{"\x1f\x8b", 2};
constexpr std::string_view kZstd{"\x28\xb5\x2f\xfd", 4};
constexpr std::string_view kXz{
    "\xfd"
    "7zXZ\0",
    6};

std::unexpected<Error> damaged(const std::string& path) {
  return fail(ErrorCode::kCorrupt, "{}: the compressed object is damaged", path);
}

Result<std::vector<std::byte>> unpack_gzip(const std::string& path, Bytes content) {
  constexpr size_t kTrailer = 4;  // the size, modulo 2^32
  if (content.size() < kTrailer) return damaged(path);
  auto size = load<uint32_t>(content.data() + content.size() - kTrailer, ByteOrder::kLittle);
  constexpr uint64_t kMostRatio = 1032;  // of DEFLATE: 258 bytes of two bits
  if (size > content.size() * kMostRatio) return damaged(path);
  TRY(Expansion(path).grow_in_memory(content.size(), size));
  std::unique_ptr<libdeflate_decompressor, decltype(&::libdeflate_free_decompressor)> unpacker(
      ::libdeflate_alloc_decompressor(), &::libdeflate_free_decompressor);
  std::vector<std::byte> unpacked(size);
  if (unpacker == nullptr ||
      ::libdeflate_gzip_decompress(unpacker.get(), content.data(), content.size(), unpacked.data(),
                                   size, nullptr) != LIBDEFLATE_SUCCESS)
    return damaged(path);
  return unpacked;
}

/// The size need not be known in advance.
Result<std::vector<std::byte>> unpack_zstd(const std::string& path, Bytes content) {
  std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream(::ZSTD_createDStream(),
                                                                      &::ZSTD_freeDStream);
  Expansion expansion(path);
  std::vector<std::byte> unpacked;
  ZSTD_inBuffer in{content.data(), content.size(), 0};
  size_t filled = 0, left = 1;
  while (left != 0) {
    unpacked.resize(std::max(filled * 2, content.size() * 4));
    ZSTD_outBuffer out{unpacked.data(), unpacked.size(), filled};
    size_t before = in.pos;
    left = ::ZSTD_decompressStream(stream.get(), &out, &in);
    bool is_cut_off = left != 0 && in.pos == in.size && out.pos < out.size;
    if (::ZSTD_isError(left) != 0 || is_cut_off) return damaged(path);
    TRY(expansion.grow_in_memory(in.pos - before, out.pos - filled));
    filled = out.pos;
  }
  unpacked.resize(filled);
  return unpacked;
}

}  // namespace

bool is_packed(Bytes content) {
  std::string_view text = as_text(content);
  return text.starts_with(kGzip) || text.starts_with(kZstd) || text.starts_with(kXz);
}

Result<std::vector<std::byte>> unpack_file(const std::string& path, Bytes content) {
  std::string_view text = as_text(content);
  if (text.starts_with(kGzip)) return unpack_gzip(path, content);
  if (text.starts_with(kZstd)) return unpack_zstd(path, content);
  return decompress_xz(content, path);
}

}  // namespace sonde
