#include "dwarf/source_file.h"

namespace sonde {

std::string SourceFile::path() const {
  std::string path;
  auto join = [&path](std::string_view part) {
    if (part.empty()) return;
    if (part.front() == '/') path.clear();
    if (!path.empty() && path.back() != '/') path += '/';
    path += part;
  };
  join(base);
  join(directory);
  join(name);
  return path;
}

}  // namespace sonde
