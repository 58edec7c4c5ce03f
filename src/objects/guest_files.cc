#include "objects/guest_files.h"

#include <filesystem>

#include "base/file.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "store/build_id_cache.h"
#include "symbol/guest_kernel.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNames[] = {"kallsyms", "modules", "kcore"};  // all that can be there

fs::path kernel_copy_of(const Recording& recording) {
  return fs::path(recording.facts().path) / "kcore_dir";
}

}  // namespace

bool has_kernel_copy(const Recording& recording) {
  std::error_code error;
  return recording.facts().is_directory && fs::is_directory(kernel_copy_of(recording), error);
}

Result<> take_kernel_copy(const Recording& recording, const std::string& directory) {
  if (!has_kernel_copy(recording)) return {};
  std::error_code error;
  fs::create_directory(directory, error);
  for (std::string_view name : kNames) {
    fs::path from = kernel_copy_of(recording) / name;
    std::error_code unknown;
    if (error || !fs::is_regular_file(from, unknown)) continue;
    fs::copy_file(from, fs::path(directory) / name, fs::copy_options::overwrite_existing, error);
  }
  if (error)
    return fail(ErrorCode::kIo, "{}: the kernel's copy beside {} cannot be put there: {}",
                directory, recording.facts().path, error.message());
  return {};
}

void cache_guest_objects(const std::vector<BuildIdEntry>& objects, const std::string& root,
                         Env& env) {
  BuildIdCache cache(build_id_directory(env));
  if (cache.directory().empty()) return;
  for (const BuildIdEntry& object : objects) {
    if (!object.path.starts_with('/') || cache.holds(object.build_id)) continue;
    Result<std::string> content = read_guest_file(root, object.path);
    if (!content) continue;
    Result<ElfFile> elf = ElfFile::view(as_bytes(*content), object.path);
    if (!elf || !same_build_id(elf->build_id(), object.build_id)) continue;
    (void)cache.add({.path = object.path,
                     .build_id = std::string(elf->build_id()),
                     .content = as_bytes(*content)});
  }
}

}  // namespace sonde
