#pragma once

// A folder of this process, in memory where there is such a file system, for targets whose subject
// is files. It is removed when the process ends in peace.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/bytes.h"
#include "base/check.h"

namespace sonde {

class OwnFolder {
 public:
  OwnFolder() {
    std::error_code error;
    std::filesystem::path base = "/dev/shm";
    if (::access(base.c_str(), W_OK) != 0) base = std::filesystem::temp_directory_path(error);
    std::string pattern = (base / "sonde-fuzz-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The path of a file in it that has this content.
  [[nodiscard]] std::string file(const std::string& name, Bytes content) const {
    std::string path = path_ + "/" + name;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(content.data()),
              static_cast<std::streamsize>(content.size()));
    CHECK(out.flush().good());
    return path;
  }

 private:
  std::string path_;
};

}  // namespace sonde
