#include "store/expand.h"

#include <bzlib.h>
#include <sys/mman.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/expansion_allowance.h"

namespace sonde {
namespace {

constexpr size_t kPiece = 1 << 20;

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
};
using ZstdContext = std::unique_ptr<ZSTD_DCtx, FreeZstd>;

std::unexpected<Error> damaged(const std::string& name, std::string_view why) {
  return fail(ErrorCode::kCorrupt, "{} is damaged: {}", name, why);
}

}  // namespace

Result<Fd> memory_file(const std::string& name) {
  Fd fd(::memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC));
  if (!fd.valid()) return fail(ErrorCode::kIo, "no memory for {}: {}", name, std::strerror(errno));
  return fd;
}

Result<> expand_zstd(Bytes compressed, uint64_t skip, uint64_t most, int fd,
                     const std::string& name) {
  ZstdContext context(::ZSTD_createDCtx());
  std::vector<std::byte> piece(kPiece);
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  size_t wanted = 1;
  Expansion expansion(name);
  while (most > 0 && (in.pos < in.size || wanted != 0)) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    size_t before = in.pos;
    wanted = ::ZSTD_decompressStream(context.get(), &out, &in);
    if (::ZSTD_isError(wanted) != 0) return damaged(name, ::ZSTD_getErrorName(wanted));
    if (wanted != 0 && in.pos == in.size && out.pos < out.size)
      return damaged(name, "it ends early");
    Bytes made = Bytes(piece).first(out.pos);
    TRY(expansion.grow(in.pos - before, made.size()));
    auto skipped = static_cast<size_t>(std::min<uint64_t>(skip, made.size()));
    made = made.subspan(skipped);
    skip -= skipped;
    made = made.first(static_cast<size_t>(std::min<uint64_t>(most, made.size())));
    most -= made.size();
    TRY(write_all(fd, name, made));
  }
  return {};
}

Result<std::vector<std::byte>> begin_of_zstd(Bytes frame, size_t most) {
  ZstdContext context(::ZSTD_createDCtx());
  std::vector<std::byte> begin(most);
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  ZSTD_outBuffer out{begin.data(), begin.size(), 0};
  size_t wanted = 1;
  while (wanted != 0 && out.pos < out.size) {
    size_t before = in.pos + out.pos;
    wanted = ::ZSTD_decompressStream(context.get(), &out, &in);
    if (::ZSTD_isError(wanted) != 0)
      return fail(ErrorCode::kCorrupt, "{}", ::ZSTD_getErrorName(wanted));
    if (in.pos + out.pos == before) break;
  }
  begin.resize(out.pos);
  return begin;
}

Result<> expand_bzip2(Bytes compressed, int fd, const std::string& name) {
  std::vector<std::byte> piece(kPiece);
  Expansion expansion(name);
  while (!compressed.empty()) {
    bz_stream stream{};
    if (::BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
      return damaged(name, "bzip2 cannot be initialized");
    int result = BZ_OK;
    bool early = false;
    Result<> written;
    while (result == BZ_OK && !early && written) {
      if (stream.avail_in == 0) {
        auto next = std::min(compressed.size(), kPiece);
        stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(compressed.data()));
        stream.avail_in = static_cast<unsigned>(next);
        compressed = compressed.subspan(next);
        early = next == 0;
      }
      stream.next_out = reinterpret_cast<char*>(piece.data());
      stream.avail_out = static_cast<unsigned>(piece.size());
      unsigned unread = stream.avail_in;
      result = ::BZ2_bzDecompress(&stream);
      size_t made = piece.size() - stream.avail_out;
      early &= made == 0;
      written = expansion.grow(unread - stream.avail_in, made);
      if (written && (result == BZ_OK || result == BZ_STREAM_END))
        written = write_all(fd, name, Bytes(piece).first(made));
    }
    // Another stream may follow in the input already consumed.
    Bytes left(reinterpret_cast<const std::byte*>(stream.next_in), stream.avail_in);
    if (!left.empty()) compressed = {left.data(), left.size() + compressed.size()};
    ::BZ2_bzDecompressEnd(&stream);
    if (!written) return written;
    if (result != BZ_STREAM_END) return damaged(name, early ? "it ends early" : "not bzip2 data");
  }
  return {};
}

}  // namespace sonde
