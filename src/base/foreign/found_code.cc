#include "base/foreign/found_code.h"

#include <sys/stat.h>
#include <unistd.h>

namespace sonde {

bool is_only_ours(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_uid == 0 || status.st_uid == ::geteuid()) && (status.st_mode & S_IWOTH) == 0;
}

bool is_open_to_all(const std::string& directory) {
  struct stat status{};
  return ::stat(directory.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) != 0;
}

}  // namespace sonde
