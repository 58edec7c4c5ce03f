#include "stacks/byte_chunks.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/expansion_allowance.h"

namespace sonde {
namespace {

constexpr size_t kPieceSize = size_t{1} << 20;

class MemoryChunks final : public ChunkSource {
 public:
  explicit MemoryChunks(std::string_view bytes) : bytes_(bytes) {}
  Result<std::string_view> next() override { return std::exchange(bytes_, {}); }
  [[nodiscard]] bool is_one_piece() const override { return true; }

 private:
  std::string_view bytes_;
};

class DescriptorChunks final : public ChunkSource {
 public:
  DescriptorChunks(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Result<std::string_view> next() override {
    ssize_t got;
    do {
      got = ::read(fd_, buffer_.data(), buffer_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fail(ErrorCode::kIo, "cannot read {}: {}", name_, std::strerror(errno));
    return std::string_view(buffer_.data(), static_cast<size_t>(got));
  }

 private:
  int fd_;
  std::string name_;
  std::vector<char> buffer_ = std::vector<char>(kPieceSize);
};

class GzipChunks final : public ChunkSource {
 public:
  explicit GzipChunks(Pieces& packed) : packed_(packed), expansion_(packed.name()) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    is_ready_ = ::inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  GzipChunks(const GzipChunks&) = delete;
  GzipChunks& operator=(const GzipChunks&) = delete;
  ~GzipChunks() override { ::inflateEnd(&stream_); }

  Result<std::string_view> next() override {
    if (!is_ready_)
      return fail(ErrorCode::kFailed, "not enough memory to decompress {}", packed_.name());
    stream_.next_out = buffer_.data();
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    while (stream_.avail_out == buffer_.size() && !at_end_) TRY(inflate_some());
    return std::string_view(reinterpret_cast<const char*>(buffer_.data()),
                            buffer_.size() - stream_.avail_out);
  }

 private:
  Result<> inflate_some() {
    if (input_.empty()) input_ = TRY(packed_.next());
    if (input_.empty()) {
      at_end_ = true;
      if (is_inside_)
        return fail(ErrorCode::kCorrupt, "{}: the compressed data is truncated", packed_.name());
      return {};
    }
    constexpr size_t kMax = size_t{1} << 30;
    auto offered = static_cast<uInt>(std::min(input_.size(), kMax));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    stream_.avail_in = offered;
    is_inside_ = true;
    size_t room = stream_.avail_out;
    int status = ::inflate(&stream_, Z_NO_FLUSH);
    input_.remove_prefix(offered - stream_.avail_in);
    TRY(expansion_.grow(offered - stream_.avail_in, room - stream_.avail_out));
    if (status == Z_STREAM_END) {
      is_inside_ = false;
      ::inflateReset(&stream_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return fail(ErrorCode::kCorrupt, "{}: the compressed data is corrupt", packed_.name());
    }
    return {};
  }

  Pieces& packed_;
  Expansion expansion_;
  z_stream stream_{};
  std::string_view input_;
  std::vector<Bytef> buffer_ = std::vector<Bytef>(kPieceSize);
  bool is_ready_ = false;
  bool is_inside_ = false;  // of a gzip member
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<ChunkSource> pieces_of_memory(std::string_view bytes) {
  return std::make_unique<MemoryChunks>(bytes);
}
std::unique_ptr<ChunkSource> pieces_of_descriptor(int fd, std::string name) {
  return std::make_unique<DescriptorChunks>(fd, std::move(name));
}
std::unique_ptr<ChunkSource> gunzipped(Pieces& packed) {
  return std::make_unique<GzipChunks>(packed);
}

bool is_gzip(std::string_view first_bytes) {
  return first_bytes.starts_with("\x1f\x8b");
}

Result<std::string_view> Pieces::peek(size_t size) {
  if (waiting_.empty()) waiting_ = TRY(source_->next());
  if (waiting_.size() >= size) return waiting_.substr(0, size);
  held_ = std::string(waiting_);
  while (held_.size() < size) {
    std::string_view piece = TRY(source_->next());
    if (piece.empty()) break;
    held_ += piece;
  }
  waiting_ = held_;
  return waiting_.substr(0, size);
}

Result<std::string_view> Pieces::next() {
  if (!waiting_.empty()) return std::exchange(waiting_, {});
  return source_->next();
}

Result<std::string_view> Pieces::all(size_t limit) {
  std::string_view first = TRY(next());
  if (source_->is_one_piece()) return first;
  std::string whole(first);
  for (;;) {
    std::string_view piece = TRY(source_->next());
    if (piece.empty()) break;
    if (piece.size() > limit || whole.size() > limit - piece.size())
      return fail(ErrorCode::kUnsupported, "{}: more than {} MiB cannot be read at once", name_,
                  limit >> 20);
    whole += piece;
  }
  held_ = std::move(whole);
  return std::string_view(held_);
}

}  // namespace sonde
