#include "perfdata/read/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "store/bundle.h"

namespace sonde {
namespace {

constexpr size_t kFirstSize = size_t{1} << 20;
constexpr const char* kDirectories[] = {"/var/tmp", "/tmp"};

std::unexpected<Error> no_memory(size_t size) {
  return fail(ErrorCode::kFailed, "out of memory: {} bytes of input could not be kept", size);
}

Result<Fd> open_unlinked_file() {
  for (const char* directory : kDirectories) {
    int fd = ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return Fd(fd);
    std::string path = std::string(directory) + "/sonde-spool-XXXXXX";
    fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) continue;
    ::unlink(path.c_str());
    return Fd(fd);
  }
  return fail(ErrorCode::kIo, "failed to create a temporary file in /var/tmp or /tmp: {}",
              std::strerror(errno));
}

/// Reads up to `size` bytes; 0 at the end.
Result<size_t> read_some(int fd, const std::string& name, std::byte* to, size_t size) {
  while (true) {
    ssize_t got = ::read(fd, to, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR)
      return fail(ErrorCode::kIo, "failed to read {}: {}", name, std::strerror(errno));
  }
}

constexpr size_t kMagicSize = 8;

/// What is no recording may have no end, and is refused for its first bytes.
bool may_be_recording(Bytes begin) {
  std::string_view magic = as_text(begin.first(kMagicSize));
  return magic == "PERFILE2" || magic == "2ELIFREP" || magic == "PERFFILE" ||
         Bundle::looks_like_one(begin);
}

}  // namespace

SpoolMemory& SpoolMemory::operator=(SpoolMemory&& other) noexcept {
  if (this != &other) {
    unmap();
    data_ = std::exchange(other.data_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
    used_ = std::exchange(other.used_, 0);
  }
  return *this;
}

void SpoolMemory::unmap() {
  if (data_ != nullptr) ::munmap(data_, mapped_);
  data_ = nullptr;
  mapped_ = 0;
}

Result<SpoolMemory> SpoolMemory::allocate(size_t size, bool on_disk) {
  Fd file;
  if (on_disk) {
    file = TRY(open_unlinked_file());
    if (int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size)); error != 0)
      return fail(ErrorCode::kIo, "failed to grow a temporary file to {} bytes: {}", size,
                  std::strerror(error));
  }
  int flags = on_disk ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, file.get(), 0);
  if (mapped == MAP_FAILED) return no_memory(size);
  SpoolMemory memory;
  memory.data_ = static_cast<std::byte*>(mapped);
  memory.mapped_ = size;
  return memory;
}

Result<> SpoolMemory::grow(size_t size) {
  void* moved = ::mremap(data_, mapped_, size, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return no_memory(size);
  data_ = static_cast<std::byte*>(moved);
  mapped_ = size;
  return {};
}

/// Writes what was read so far and all that follows to the file, which then replaces the memory.
Result<> SpoolMemory::move_to_disk(int file, const std::string& name, int input) {
  TRY(write_all(file, "a temporary file", bytes()));
  size_t total = used_;
  while (size_t got = TRY(read_some(input, name, data_, mapped_))) {
    TRY(write_all(file, "a temporary file", {data_, got}));
    total += got;
  }
  unmap();
  void* mapped = ::mmap(nullptr, total, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return no_memory(total);
  data_ = static_cast<std::byte*>(mapped);
  mapped_ = used_ = total;
  return {};
}

Result<SpoolMemory> SpoolMemory::read_to_end(int fd, const std::string& name, uint64_t limit_bytes,
                                             Bytes before) {
  SpoolMemory memory = TRY(allocate(std::max(kFirstSize, 2 * before.size()), false));
  if (!before.empty()) std::memcpy(memory.data_, before.data(), before.size());
  memory.used_ = before.size();
  while (true) {
    if (memory.used_ >= kMagicSize && !may_be_recording(memory.bytes())) return memory;
    if (memory.used_ == memory.mapped_) {
      if (memory.mapped_ >= limit_bytes) {
        Fd file = TRY(open_unlinked_file());
        TRY(memory.move_to_disk(file.get(), name, fd));
        return memory;
      }
      TRY(memory.grow(memory.mapped_ * 2));
    }
    size_t got =
        TRY(read_some(fd, name, memory.data_ + memory.used_, memory.mapped_ - memory.used_));
    if (got == 0) return memory;
    memory.used_ += got;
  }
}

}  // namespace sonde
