#include "doctor/program_path.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace sonde::doctor {

Result<std::string> program_path(const std::string& program, const Env& env) {
  bool is_pid =
      !program.empty() && std::ranges::all_of(program, [](char c) { return c >= '0' && c <= '9'; });
  std::error_code error;
  if (is_pid) {
    auto target = std::filesystem::read_symlink("/proc/" + program + "/exe", error);
    if (!error) return target.string();
    return fail(ErrorCode::kNotFound, "doctor: process {}: {}", program, error.message());
  }
  if (program.find('/') != std::string::npos)
    return std::filesystem::absolute(program, error).string();
  std::string places = env.variable("PATH").value_or("");
  for (std::string_view place : split(places, ':'))
    if (std::string path = std::string(place) + "/" + program; ::access(path.c_str(), X_OK) == 0)
      return path;
  return fail(ErrorCode::kNotFound, "doctor: there is no program '{}' in PATH", program);
}

std::string own_library() {
  Result<std::string> maps = read_file("/proc/self/maps");
  if (!maps) return {};
  for (std::string_view line : split(*maps, '\n'))
    if (line.find("/libc.so") != std::string_view::npos)
      return std::string(line.substr(line.find('/')));
  return {};
}

}  // namespace sonde::doctor
