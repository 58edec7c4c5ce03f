#include "trace/sources/proc_fd_source.h"

#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

std::string link_target(const std::string& link) {
  std::error_code error;
  return std::filesystem::read_symlink(link, error).string();
}

}  // namespace

std::string ProcFdSource::fd(int32_t pid, int32_t fd) {
  return link_target(proc_ + "/" + std::to_string(pid) + "/fd/" + std::to_string(fd));
}

std::string ProcFdSource::working_directory(int32_t pid) {
  return link_target(proc_ + "/" + std::to_string(pid) + "/cwd");
}

std::string ProcFdSource::comm(int32_t tid) {
  auto text = read_file(proc_ + "/" + std::to_string(tid) + "/comm");
  return text ? std::string(trim(*text)) : "";
}

uint64_t ProcFdSource::now_ns() {
  return monotonic_ns();
}

}  // namespace sonde
