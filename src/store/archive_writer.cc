#include "store/archive_writer.h"

#include <bzlib.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/files/regular_file.h"
#include "base/output/overwriting.h"
#include "store/tar_format.h"

namespace sonde {
namespace {

constexpr size_t kBufferSize = 1 << 20;

/// Compresses bytes into a file.
class Compressor {
 public:
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  virtual Result<> write(Bytes bytes) = 0;
  virtual Result<> end_member() = 0;
  virtual Result<> finish() = 0;
  [[nodiscard]] uint64_t written() const { return written_; }

 protected:
  Compressor(int fd, const std::string& name) : fd_(fd), name_(name), buffer_(kBufferSize) {}
  Result<> put(size_t size) {
    written_ += size;
    return write_all(fd_, name_, Bytes(buffer_).first(size));
  }
  [[nodiscard]] std::unexpected<Error> failed(std::string_view why) const {
    return fail(ErrorCode::kIo, "failed to compress {}: {}", name_, why);
  }
  std::vector<std::byte>& buffer() { return buffer_; }

 private:
  int fd_;
  std::string name_;
  std::vector<std::byte> buffer_;
  uint64_t written_ = 0;
};

class Bzip2 final : public Compressor {
 public:
  Bzip2(int fd, const std::string& name) : Compressor(fd, name) {
    constexpr int kBlockSize = 9, kWorkFactor = 0;
    CHECK(::BZ2_bzCompressInit(&stream_, kBlockSize, 0, kWorkFactor) == BZ_OK);
  }
  ~Bzip2() override { ::BZ2_bzCompressEnd(&stream_); }

  Result<> write(Bytes bytes) override {
    while (!bytes.empty()) {
      Bytes piece = bytes.first(std::min(bytes.size(), kBufferSize));
      bytes = bytes.subspan(piece.size());
      stream_.next_in = const_cast<char*>(reinterpret_cast<const char*>(piece.data()));
      stream_.avail_in = static_cast<unsigned>(piece.size());
      while (stream_.avail_in > 0) TRY(step(BZ_RUN, BZ_RUN_OK));
    }
    return {};
  }
  Result<> end_member() override { return {}; }
  Result<> finish() override {
    while (!ended_) TRY(step(BZ_FINISH, BZ_FINISH_OK));
    return {};
  }

 private:
  Result<> step(int action, int expected) {
    stream_.next_out = reinterpret_cast<char*>(buffer().data());
    stream_.avail_out = static_cast<unsigned>(buffer().size());
    int result = ::BZ2_bzCompress(&stream_, action);
    ended_ = result == BZ_STREAM_END;
    if (result != expected && !ended_) return failed(fmt::format("bzip2 error {}", result));
    return put(buffer().size() - stream_.avail_out);
  }

  bz_stream stream_{};
  bool ended_ = false;
};

class ZstdFrames final : public Compressor {
 public:
  ZstdFrames(int fd, const std::string& name)
      : Compressor(fd, name), context_(::ZSTD_createCCtx()) {
    ::ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdFrames() override { ::ZSTD_freeCCtx(context_); }

  Result<> write(Bytes bytes) override {
    open_ |= !bytes.empty();
    return run({bytes.data(), bytes.size(), 0}, ZSTD_e_continue);
  }
  Result<> end_member() override {
    if (!open_) return {};
    open_ = false;
    return run({nullptr, 0, 0}, ZSTD_e_end);
  }
  Result<> finish() override { return end_member(); }

 private:
  Result<> run(ZSTD_inBuffer in, ZSTD_EndDirective how) {
    while (true) {
      ZSTD_outBuffer out{buffer().data(), buffer().size(), 0};
      size_t left = ::ZSTD_compressStream2(context_, &out, &in, how);
      if (::ZSTD_isError(left) != 0) return failed(::ZSTD_getErrorName(left));
      TRY(put(out.pos));
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }

  ZSTD_CCtx* context_;
  bool open_ = false;
};

/// Of any kind that is made here; also an empty file.
bool is_archive(const std::string& path) {
  Result<Fd> file = open_regular(path);
  std::array<char, 4> start{};
  ssize_t got = file ? ::read(file->get(), start.data(), start.size()) : -1;
  if (got <= 0) return got == 0;
  std::string_view magic(start.data(), static_cast<size_t>(got));
  return magic.starts_with("BZh") || magic == "\x28\xb5\x2f\xfd";
}

std::unique_ptr<Compressor> make_compressor(Compression which, int fd, const std::string& name) {
  if (which == Compression::kBzip2) return std::make_unique<Bzip2>(fd, name);
  return std::make_unique<ZstdFrames>(fd, name);
}

}  // namespace

struct ArchiveWriter::State {
  std::string path, temporary;
  Fd fd;
  std::unique_ptr<Compressor> out;
  bool finished = false;

  ~State() {
    if (!finished && fd.valid() && !temporary.empty()) ::unlink(temporary.c_str());
  }
  Result<> add(const TarMember& member, Bytes content) {
    ByteBuilder header;
    put_tar_header(member, header);
    TRY(out->write(header.view()));
    TRY(out->write(content));
    ByteBuilder padding;
    padding.zeros(tar_padding(content.size()));
    TRY(out->write(padding.view()));
    return out->end_member();
  }
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;
ArchiveWriter::~ArchiveWriter() = default;

Result<ArchiveWriter> ArchiveWriter::create(const std::string& path, Compression compression) {
  auto state = std::make_unique<State>();
  state->path = path;
  struct stat status{};
  bool is_there = ::stat(path.c_str(), &status) == 0;
  bool is_device = is_there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (is_there && !is_device && !is_archive(path))
    return fail(ErrorCode::kFailed,
                "{}: what is there is no archive, and is left alone: move it, or name another "
                "output with -o",
                path);
  if (!is_device) state->temporary = fmt::format("{}.{}", path, ::getpid());
  // Contains kernel and program memory: like recordings, for the owner only.
  state->fd = is_device ? Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY))
                        : make_file(state->temporary, S_IRUSR | S_IWUSR);
  if (!state->fd.valid())
    return fail(ErrorCode::kIo, "failed to create {}: {}", path, std::strerror(errno));
  state->out = make_compressor(compression, state->fd.get(), path);
  return ArchiveWriter(std::move(state));
}

Result<> ArchiveWriter::add_file(const std::string& name, const std::string& from) {
  Fd fd = TRY(open_regular(from));
  MappedFile file = TRY(MappedFile::map(fd.get(), from));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0)
    return fail(ErrorCode::kNotFound, "{}: {}", from, std::strerror(errno));
  TarMember member{.name = name, .mode = status.st_mode & 0777, .size = file.size()};
  member.modified_s = status.st_mtime;
  return state_->add(member, file.bytes());
}

Result<> ArchiveWriter::add_bytes(const std::string& name, Bytes content) {
  return state_->add({.name = name, .size = content.size()}, content);
}

Result<> ArchiveWriter::add_directory(const std::string& name) {
  return state_->add({.name = name + "/", .type = TarType::kDirectory, .mode = 0755}, {});
}

Result<> ArchiveWriter::add_link(const std::string& name, const std::string& target) {
  return state_->add({.name = name, .type = TarType::kLink, .mode = 0777, .target = target}, {});
}

Result<> ArchiveWriter::finish() {
  ByteBuilder end;
  end.zeros(2 * kTarBlock);
  TRY(state_->out->write(end.view()));
  TRY(state_->out->finish());
  if (!state_->temporary.empty() && ::rename(state_->temporary.c_str(), state_->path.c_str()) != 0)
    return fail(ErrorCode::kIo, "failed to create {}: {}", state_->path, std::strerror(errno));
  state_->finished = true;
  return {};
}

uint64_t ArchiveWriter::bytes_written() const {
  return state_->out->written();
}

}  // namespace sonde
