// Opens files to be read. Sonde often runs as root, and looks for many files by itself, some of
// them at names where anybody can put something: it must neither wait for what is there, nor be led
// to a file that is not meant. So there are two functions, and nothing else opens files for reading
// (tools/check_opens.py):
//
//   Fd map = TRY(open_regular("/tmp/perf-4711.map"));  // what Sonde looks for
//   Fd text = TRY(open_stream(argument));              // what the user names, and may be a pipe
//
// open_regular gives regular files only, which never make the reader wait; /proc and /sys have
// such, and /dev/null counts as an empty one. In the name of another process, a path is looked up
// in its root and with its rights (base/files/process_root.h): "/proc/4711/root/tmp/perf-1.map".
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// What happens if the last part of a path is a symbolic link.
enum class LastLink : uint8_t { kFollow, kRefuse };

/// "cannot read /tmp/perf-12.map: it is a FIFO, not a regular file".
Result<Fd> open_regular(const std::string& path, LastLink last = LastLink::kFollow);
/// Of what open_regular would open; nothing if that is not a regular file, or cannot be reached.
[[nodiscard]] std::optional<struct stat> status_of_regular(const std::string& path);

/// A regular file, or a pipe or terminal, which is waited for.
Result<Fd> open_stream(const std::string& path);
/// The whole content of such a file, at most `limit` bytes.
Result<std::string> read_stream(const std::string& path, size_t limit = size_t{1} << 30);

/// What an errno of a system call on a file means.
ErrorCode error_code_of(int error);
/// "failed to open X: No such file or directory".
std::unexpected<Error> failed_to_open(const std::string& path, int error);

/// Fails unless a file of this status can be read like a regular one.
Result<> check_regular(const struct stat& status, const std::string& path);

}  // namespace sonde
