#include "probe/events/definition_file.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

int write_line(const Fd& file, std::string_view line) {
  ssize_t written = ::write(file.get(), line.data(), line.size());
  return written == static_cast<ssize_t>(line.size()) ? 0 : written < 0 ? errno : EIO;
}

// Opening without O_APPEND would remove everybody's probes.
Fd open_definitions(const std::string& path) {
  return Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
}

/// The last entry of error_log, if it is about this line (kernel documentation, "ftrace"):
///
///   [ 4711.123456] trace_uprobe: error: Invalid register name
///     Command: p:probe_app/f /app:0x1159 x=%zz
///                                          ^
std::string reason_in_log(const std::string& tracefs, std::string_view definition) {
  constexpr std::string_view kError = "error: ";
  constexpr std::string_view kCommand = "Command: ";
  Result<std::string> log = read_file(tracefs + "/error_log");
  if (!log) return {};
  size_t command = log->rfind(kCommand);
  size_t error = log->rfind(kError, command);
  if (command == std::string::npos || error == std::string::npos) return {};
  command += kCommand.size();
  error += kError.size();
  if (!std::string_view(*log).substr(command).starts_with(definition)) return {};
  std::string reason = log->substr(error, log->find('\n', error) - error);
  // The caret stands below the first character that is meant.
  size_t caret = log->find('^', command);
  size_t line = caret == std::string::npos ? caret : log->rfind('\n', caret);
  size_t indentation = command - (log->rfind('\n', command) + 1);
  if (line == std::string::npos || caret - line - 1 < indentation) return reason;
  size_t column = caret - line - 1 - indentation;
  if (column >= definition.size()) return reason;
  std::string_view word = definition.substr(column);
  return fmt::format("{}: '{}'", reason, word.substr(0, word.find(' ')));
}

}  // namespace

std::string definition_file(const std::string& tracefs, bool in_kernel) {
  return tracefs + (in_kernel ? "/kprobe_events" : "/uprobe_events");
}

int append_definition(const std::string& path, std::string_view line) {
  Fd file = open_definitions(path);
  return file.valid() ? write_line(file, line) : errno;
}

int append_definition_in(int namespace_pid, const std::string& path, std::string_view line) {
  if (namespace_pid == 0) return append_definition(path, line);
  Fd file = open_definitions(path);
  if (!file.valid()) return errno;
  Fd mounts(::open(fmt::format("/proc/{}/ns/mnt", namespace_pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!mounts.valid()) return errno == ENOENT ? ESRCH : errno;
  int error = 0;
  // The kernel looks the object up as the writing thread sees it; only a thread that shares its
  // root with nobody may enter a namespace, and it cannot come back.
  std::thread([&] {
    if (::unshare(CLONE_FS) != 0 || ::setns(mounts.get(), CLONE_NEWNS) != 0)
      error = errno;
    else
      error = write_line(file, line);
  }).join();
  return error;
}

Error definition_refused(const std::string& tracefs, const ProbePlace& place,
                         std::string_view definition, int error_number) {
  std::string path = definition_file(tracefs, place.in_kernel());
  std::string_view where = place.in_kernel() ? place.symbol : place.object;
  if (::access(path.c_str(), F_OK) != 0) {
    if (place.in_kernel())
      return {ErrorCode::kUnsupported,
              fmt::format("cannot make a probe in the kernel: {} does not exist, it was built "
                          "without CONFIG_KPROBE_EVENTS; programs can be probed with -x",
                          path)};
    return {ErrorCode::kUnsupported,
            fmt::format("cannot make a probe in {}: {} does not exist: this kernel was built "
                        "without CONFIG_UPROBE_EVENTS, or tracefs is hidden here",
                        where, path)};
  }
  if (error_number == EACCES || error_number == EPERM)
    return {ErrorCode::kPermission,
            fmt::format("cannot make a probe in {}: {}: {} must be writable: try sudo", where,
                        std::strerror(error_number), path)};
  if (error_number == EROFS)
    return {
        ErrorCode::kPermission,
        fmt::format("cannot make a probe in {}: {} is mounted read-only: mount -o remount,rw {}",
                    where, tracefs, tracefs)};
  if (error_number == ESRCH && !place.in_kernel())
    return {
        ErrorCode::kNotFound,
        fmt::format("cannot make a probe in {}: the process of --target-ns does not exist", where)};
  std::string reason = reason_in_log(tracefs, definition);
  return {ErrorCode::kUnsupported,
          fmt::format("cannot make a probe in {}: {}{}{} (the kernel was asked for '{}')", where,
                      std::strerror(error_number), reason.empty() ? "" : ": ", reason, definition)};
}

}  // namespace sonde
