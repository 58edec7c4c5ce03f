#include "elf/dynamic.h"

#include <elf.h>

#include <algorithm>

namespace sonde {

DynamicInfo dynamic_info(const ElfFile& file) {
  DynamicInfo info;
  auto dynamic = std::ranges::find(file.sections(), uint32_t{SHT_DYNAMIC}, &ElfSection::type);
  if (dynamic == file.sections().end()) return info;
  const ElfSection* strings = file.section_at(dynamic->link);
  if (strings == nullptr) return info;
  std::string_view names = as_text(file.content(*strings));
  auto name_at = [&](uint64_t offset) {
    std::string_view rest = offset < names.size() ? names.substr(offset) : std::string_view();
    size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  };
  ByteCursor cursor(file.content(*dynamic), file.order());
  while (cursor.left() > 0) {
    uint64_t tag = file.is_64bit() ? cursor.u64() : cursor.u32();
    uint64_t value = file.is_64bit() ? cursor.u64() : cursor.u32();
    if (!cursor.ok() || tag == DT_NULL) break;
    if (tag == DT_NEEDED && !name_at(value).empty()) info.needed.push_back(name_at(value));
    // If both exist, the linker uses DT_RUNPATH.
    if (tag == DT_RUNPATH || (tag == DT_RPATH && info.run_path.empty()))
      info.run_path = name_at(value);
  }
  return info;
}

}  // namespace sonde
