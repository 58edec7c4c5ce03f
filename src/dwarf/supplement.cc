#include "dwarf/supplement.h"

#include "base/files/process_root.h"
#include "base/text.h"

namespace sonde {

std::unique_ptr<DwarfFile> find_supplement(const ElfFile& elf, const DwarfLocations& places) {
  const ElfSection* link = elf.section(".gnu_debugaltlink");
  if (link == nullptr) return nullptr;
  std::string_view content = as_text(elf.content(*link));
  size_t end = content.find('\0');
  if (end == 0 || end == std::string_view::npos) return nullptr;
  std::string_view path = content.substr(0, end), build_id = content.substr(end + 1);
  std::vector<std::string> tries;
  if (places.by_build_id)
    if (std::string known = places.by_build_id(build_id); !known.empty()) tries.push_back(known);
  if (path.starts_with('/'))
    tries.push_back(path_below(places.root, path));
  else
    tries.push_back(elf.name().substr(0, elf.name().rfind('/') + 1) + std::string(path));
  // Where distributions put it, wherever the file itself was found.
  tries.push_back(path_below(
      places.root, places.debug_root + "/.dwz/" + std::string(path.substr(path.rfind('/') + 1))));
  if (std::string hex = to_hex(build_id); hex.size() > 2)
    tries.push_back(path_below(places.root, places.debug_root + "/.build-id/" + hex.substr(0, 2) +
                                                "/" + hex.substr(2) + ".debug"));
  for (const std::string& name : tries) {
    auto file = ElfFile::open(name);
    if (!file || file->build_id() != build_id) continue;
    auto dwarf = DwarfFile::open(std::move(*file), DwarfFile::Kind::kWhole, nullptr);
    if (dwarf) return std::move(*dwarf);
  }
  return nullptr;
}

}  // namespace sonde
