#include "symbol/own_vdso.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace sonde {

Result<ElfFile> own_vdso() {
  uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return fail(ErrorCode::kNotFound, "the kernel maps no vdso");
  std::string maps = TRY(read_file("/proc/self/maps"));
  std::string begins = fmt::format("{:x}-", start);
  for (std::string_view line : split(maps, '\n')) {
    if (!line.starts_with(begins)) continue;
    std::string_view rest = line.substr(begins.size());
    std::optional<uint64_t> end = parse_hex(rest.substr(0, rest.find(' ')));
    if (!end || *end <= start) break;
    std::vector<std::byte> copy(static_cast<size_t>(*end - start));
    std::memcpy(copy.data(), reinterpret_cast<const void*>(start), copy.size());
    return ElfFile::own(std::move(copy), "[vdso]");
  }
  return fail(ErrorCode::kNotFound, "the vdso is not among our own mappings");
}

}  // namespace sonde
