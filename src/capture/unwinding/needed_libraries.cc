#include "capture/unwinding/needed_libraries.h"

#include <elf.h>

#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "elf/elf_file.h"

namespace sonde {
namespace {

#ifdef __aarch64__
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif
constexpr std::string_view kUsualDirectories[] = {
    "/lib/" MULTIARCH, "/usr/lib/" MULTIARCH, "/lib64", "/usr/lib64", "/lib",
    "/usr/lib",        "/usr/local/lib"};
constexpr size_t kMostEntries = 4096;

std::string_view string_at(Bytes strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  std::string_view rest = as_text(strings.subspan(offset));
  size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

/// "/opt/x/lib" of "$ORIGIN/../lib" in /opt/x/bin/program.
std::string expanded(std::string_view directory, const std::filesystem::path& file) {
  for (std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
    if (directory.starts_with(origin))
      return file.parent_path().string() + std::string(directory.substr(origin.size()));
  return std::string(directory);
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& path) {
  std::vector<std::string> found;
  Result<ElfFile> file = ElfFile::open(path);
  if (!file || !file->is_64bit() || file->order() != kHostOrder) return found;
  auto exists = [](const std::string& name) {
    std::error_code failed;
    return std::filesystem::is_regular_file(name, failed);
  };
  if (const ElfSection* section = file->section(".interp"))
    if (std::string loader(string_at(file->content(*section), 0)); exists(loader))
      found.push_back(loader);
  const ElfSection* dynamic = file->section(".dynamic");
  const ElfSection* names = file->section(".dynstr");
  if (dynamic == nullptr || names == nullptr) return found;
  Bytes strings = file->content(*names);
  std::vector<std::string> directories;
  std::vector<std::string_view> needed;
  ByteCursor in(file->content(*dynamic));
  for (size_t i = 0; i < kMostEntries && in.left() >= sizeof(Elf64_Dyn); ++i) {
    uint64_t tag = in.u64(), value = in.u64();
    if (tag == DT_NULL) break;
    if (tag == DT_NEEDED) needed.push_back(string_at(strings, value));
    if (tag == DT_RUNPATH || tag == DT_RPATH)
      for (std::string_view directory : split(string_at(strings, value), ':'))
        directories.push_back(expanded(directory, path));
  }
  directories.push_back(std::filesystem::path(path).parent_path());
  directories.insert(directories.end(), std::begin(kUsualDirectories), std::end(kUsualDirectories));
  for (std::string_view name : needed)
    for (const std::string& directory : directories)
      if (std::string candidate = fmt::format("{}/{}", directory, name);
          !name.empty() && exists(candidate)) {
        found.push_back(candidate);
        break;
      }
  return found;
}

}  // namespace sonde
