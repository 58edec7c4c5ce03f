#include "base/process/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/files/regular_file.h"
#include "base/text.h"

namespace sonde {
namespace {

bool is_program(const std::string& path) {
  struct stat status{};
  return ::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

/// What "#!/usr/bin/python3 -u" names; empty if the file is no script. Programs that may be
/// executed and not be read are none.
std::string interpreter_of(const std::string& path) {
  std::array<char, 256> begin{};  // as much as the kernel looks at
  Result<Fd> file = open_regular(path);
  ssize_t size = file ? ::read(file->get(), begin.data(), begin.size()) : 0;
  std::string_view text(begin.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  if (!text.starts_with("#!")) return {};
  text = text.substr(2, text.find('\n') - 2);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return std::string(text.substr(0, text.find_first_of(" \t")));
}

}  // namespace

std::string find_program(const std::string& program, std::string_view path) {
  if (program.empty()) return {};
  if (program.contains('/')) return is_program(program) ? program : "";
  for (std::string_view directory : split(path, ':')) {
    std::string file = fmt::format("{}/{}", directory.empty() ? "." : directory, program);
    if (is_program(file)) return file;
  }
  return {};
}

Result<> check_program(const std::string& program, std::string_view path) {
  std::string file = find_program(program, path);
  auto cannot = [&](std::string_view reason) {
    return fail(ErrorCode::kFailed, "cannot run '{}': {}", program, reason);
  };
  if (file.empty() && !program.contains('/')) {
    if (is_program("./" + program))
      return cannot(fmt::format("it is not in PATH; the one here is ./{}", program));
    return cannot("there is no such program in PATH");
  }
  if (file.empty()) {
    struct stat status{};
    if (::stat(program.c_str(), &status) != 0) return cannot(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return cannot("it is a directory");
    return cannot("it is not executable: chmod +x");
  }
  std::string interpreter = interpreter_of(file);
  if (!interpreter.empty() && ::access(interpreter.c_str(), X_OK) != 0)
    return cannot(
        fmt::format("{}: {}, which its first line names", std::strerror(errno), interpreter));
  return {};
}

}  // namespace sonde
