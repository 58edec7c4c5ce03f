#include "probe/usdt/sdt_cache_text.h"

#include <sys/stat.h>

#include "elf/elf_file.h"
#include "probe/probe_definition.h"

namespace sonde {

std::string sdt_cache_text(const std::string& file, const std::string& path) {
  std::string text;
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return text;
  Result<ElfFile> elf = ElfFile::open(file);
  if (!elf) return text;
  for (const SdtProbe& probe : find_sdt_probes(*elf, path, "*", "*")) {
    std::string group = "sdt_" + probe.provider;
    if (!probe.has_plain_name() || !check_definition(group, probe.name, probe.place)) continue;
    text += fmt::format("%{}:{}={}\n{}\n", group, probe.name, probe.name,
                        probe_definition(group, probe.name, probe.place));
  }
  return text;
}

}  // namespace sonde
