#include "dump_writer.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace sonde_jvmti {
namespace {

enum RecordId : uint32_t { kLoad = 0, kDebugInfo = 2, kClose = 3, kUnwindingInfo = 4 };

constexpr uint32_t kMagic = 0x4A695444;
constexpr std::string_view kInlines = "SondeInl";

#if defined(__x86_64__)
constexpr uint32_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = EM_AARCH64;
#else
constexpr uint32_t kMachine = EM_NONE;
#endif

uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

bool DumpWriter::open(const std::string& directory) {
  std::string path = directory + "/jit-" + std::to_string(::getpid()) + ".dump";
  ::unlink(path.c_str());  // left by an earlier process
  fd_ = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
  if (fd_ < 0) return false;
  put(kMagic);
  put(uint32_t{1});   // version
  put(uint32_t{40});  // size of this header
  put(kMachine);
  put(uint32_t{0});
  put(static_cast<uint32_t>(::getpid()));
  put(now_ns());
  put(uint64_t{0});
  bool good = write_all(fd_, buffer_);
  buffer_.clear();
  auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  marker_ = ::mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd_, 0);
  return good && marker_ != MAP_FAILED;
}

DumpWriter::~DumpWriter() {
  close();
}

void DumpWriter::close() {
  std::scoped_lock lock(mutex_);
  if (fd_ < 0) return;
  buffer_.clear();
  begin(kClose);
  end();
  (void)write_all(fd_, buffer_);
  ::close(fd_);
  fd_ = -1;
}

void DumpWriter::begin(uint32_t id) {
  record_ = buffer_.size();
  put(id);
  put(uint32_t{0});
  put(now_ns());
}

void DumpWriter::end() {
  auto size = static_cast<uint32_t>(buffer_.size() - record_);
  std::memcpy(buffer_.data() + record_ + 4, &size, sizeof size);
}

void DumpWriter::write(const CodePiece& piece) {
  std::scoped_lock lock(mutex_);
  if (fd_ < 0) return;
  buffer_.clear();
  if (!piece.lines.empty()) put_lines(piece);
  if (!piece.eh_frame.empty()) put_unwinding(piece);
  begin(kLoad);
  put(static_cast<uint32_t>(::getpid()));
  put(static_cast<uint32_t>(::syscall(SYS_gettid)));
  put(piece.address);
  put(piece.address);
  put(uint64_t{piece.bytes.size()});
  put(index_++);
  put_text(piece.name);
  buffer_.append(piece.bytes);
  end();
  if (!write_all(fd_, buffer_)) {  // a full disk: what was written so far is readable
    ::close(fd_);
    fd_ = -1;
  }
}

/// The lines as every reader expects them, followed by the functions of each line:
///   "SondeInl", strings: count and texts; lines: count, and for each its frames: count, and for
///   each function, file (numbers of strings) and line
void DumpWriter::put_lines(const CodePiece& piece) {
  begin(kDebugInfo);
  put(piece.address);
  put(uint64_t{piece.lines.size()});
  for (const CodeLine& line : piece.lines) {
    put(line.address);
    put(line.frames.front().line);
    put(uint32_t{0});
    put_text(line.frames.front().file);
  }
  std::map<std::string_view, uint32_t> numbers;
  std::vector<std::string_view> strings;
  auto number_of = [&](std::string_view text) {
    auto [entry, added] = numbers.emplace(text, static_cast<uint32_t>(strings.size()));
    if (added) strings.push_back(text);
    return entry->second;
  };
  for (const CodeLine& line : piece.lines)
    for (const Frame& frame : line.frames) {
      number_of(frame.function);
      number_of(frame.file);
    }
  buffer_.append(kInlines);
  put(static_cast<uint32_t>(strings.size()));
  for (std::string_view text : strings) put_text(text);
  put(static_cast<uint32_t>(piece.lines.size()));
  for (const CodeLine& line : piece.lines) {
    put(static_cast<uint32_t>(line.frames.size()));
    for (const Frame& frame : line.frames) {
      put(number_of(frame.function));
      put(number_of(frame.file));
      put(frame.line);
    }
  }
  end();
}

/// The table, then an empty index of it, which readers expect.
void DumpWriter::put_unwinding(const CodePiece& piece) {
  constexpr std::string_view kNoIndex("\x01\x1b\x03\x3b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  begin(kUnwindingInfo);
  size_t size = piece.eh_frame.size() + kNoIndex.size();
  put(uint64_t{size});
  put(uint64_t{kNoIndex.size()});
  put(uint64_t{0});  // none of it is mapped after the code
  buffer_.append(piece.eh_frame);
  buffer_.append(kNoIndex);
  buffer_.append((8 - size % 8) % 8, '\0');
  end();
}

}  // namespace sonde_jvmti
