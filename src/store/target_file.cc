#include "store/target_file.h"

#include <array>
#include <cstdlib>

#include "base/files/process_root.h"
#include "store/file_copy.h"

namespace sonde {

Result<TargetFile> open_target_file(const std::string& path, pid_t pid) {
  TargetFile opened;
  auto inside = pid > 0 ? PathInRoot{pid, path} : path_in_root(path);
  if (!inside) {
    opened.fd = TRY(open_regular(path));
    opened.file = fmt::format("/proc/self/fd/{}", opened.fd.get());
    std::array<char, 4096> resolved{};
    opened.path = ::realpath(path.c_str(), resolved.data()) != nullptr ? resolved.data() : path;
    return opened;
  }
  ProcessRoot root = TRY(ProcessRoot::open(inside->pid));
  opened.fd = TRY(root.open_regular(inside->path));
  opened.file = fmt::format("/proc/self/fd/{}", opened.fd.get());
  opened.path = root.name_of(opened.fd);
  return opened;
}

std::string without_links(const std::string& path) {
  Result<TargetFile> opened = open_target_file(path, 0);
  if (!opened) return path;
  auto inside = path_in_root(path);
  return inside ? fmt::format("/proc/{}/root{}", inside->pid, opened->path) : opened->path;
}

}  // namespace sonde
