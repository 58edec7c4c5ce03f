#include "capture/synthesis/jit_maps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "capture/synthesis/jvm_attach.h"
#include "store/process_file.h"

namespace sonde {
namespace {

/// The process that a thread belongs to.
pid_t process_of(pid_t tid) {
  auto status = read_file(fmt::format("/proc/{}/status", tid));
  if (!status) return -1;
  for (std::string_view line : split(*status, '\n')) {
    constexpr std::string_view kName = "Tgid:\t";
    if (!line.starts_with(kName)) continue;
    auto number = parse_number(line.substr(kName.size()));
    return number ? static_cast<pid_t>(*number) : -1;
  }
  return -1;
}

std::set<pid_t> processes_of(const Target& target) {
  std::set<pid_t> processes;
  if (target.has_cpu()) {
    for (pid_t pid : numeric_entries("/proc")) processes.insert(pid);
    return processes;
  }
  for (const ThreadEntry& thread : target.threads)
    if (pid_t pid = process_of(thread.tid); pid > 0) processes.insert(pid);
  return processes;
}

bool shares_our_files(pid_t pid) {
  std::error_code error;
  auto theirs = std::filesystem::read_symlink(fmt::format("/proc/{}/ns/mnt", pid), error);
  if (error) return true;
  return theirs == std::filesystem::read_symlink("/proc/self/ns/mnt", error) && !error;
}

/// Creates a file that only we can read; nothing if somebody else's is there.
Fd create_copy(const std::string& path) {
  struct stat status{};
  bool is_ours = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                 status.st_uid == ::geteuid();
  if (is_ours) ::unlink(path.c_str());
  return Fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
                   S_IRUSR | S_IWUSR));
}

/// A map visible only in the process's mount namespace disappears with the process: copy it here
/// under the name that readers look for. Fails if there is one that is not copied.
Result<> keep_map(pid_t pid) {
  constexpr size_t kMaxSize = size_t{256} << 20;
  if (shares_our_files(pid)) return {};
  auto inside = pid_inside(pid);
  if (!inside) return {};
  std::string source = fmt::format("/proc/{}/root/tmp/perf-{}.map", pid, *inside);
  std::string copy = fmt::format("/tmp/perf-{}.map", pid);
  Result<Fd> map = open_process_file(source, pid);
  struct stat status{}, other{};
  if (!map || ::fstat(map->get(), &status) != 0) return {};
  if (::stat(copy.c_str(), &other) == 0 && other.st_dev == status.st_dev &&
      other.st_ino == status.st_ino)
    return {};  // it shares our /tmp
  // A text has no holes, which would become real bytes here; the file ends in one.
  off_t hole = ::lseek(map->get(), 0, SEEK_HOLE);
  if (hole >= 0 && hole < status.st_size)
    return fail(ErrorCode::kCorrupt, "{} is not copied: it has holes, which no map has", source);
  (void)::lseek(map->get(), 0, SEEK_SET);
  std::string text = TRY(read_all(map->get(), source, kMaxSize));
  Fd file = create_copy(copy);
  if (!file.valid())
    return fail(ErrorCode::kIo, "{} is not copied to {}: {}", source, copy, std::strerror(errno));
  return write_all(file.get(), copy, as_bytes(text));
}

}  // namespace

std::string java_tool_options(const std::string& before, bool frame_pointers) {
  std::string options = before;
  auto add = [&](std::string_view option) {
    if (!options.empty()) options.push_back(' ');
    options.append(option);
  };
  add("-XX:+IgnoreUnrecognizedVMOptions");
  add("-XX:+UnlockDiagnosticVMOptions");
  add("-XX:+DumpPerfMapAtExit");
  if (frame_pointers) add("-XX:+PreserveFramePointer");
  return options;
}

std::vector<std::string> request_jit_maps(const Target& target) {
  std::vector<std::string> complaints;
  for (pid_t pid : processes_of(target)) {
    if (runs_jvm(pid)) {
      auto answer = jvm_command(pid, "Compiler.perfmap");
      if (!answer)
        complaints.push_back(fmt::format("Java virtual machine {} wrote no map of its code: {}",
                                         pid, answer.error().message));
    }
    if (Result<> kept = keep_map(pid); !kept) complaints.push_back(kept.error().message);
  }
  return complaints;
}

}  // namespace sonde
