#include "capture/synthesis/object_build_id.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include "base/files/regular_file.h"
#include "capture/recorders/record_scan.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "store/mapped_object.h"
#include "store/proc_maps.h"

namespace sonde {
namespace {

MappedObject as_mapped(const HitObject& object) {
  return {.path = object.path, .inode = object.file.inode, .pids = object.pids};
}

std::optional<std::string> non_empty(std::string_view id) {
  if (id.empty()) return std::nullopt;
  return std::string(id);
}

std::optional<std::string> id_in_notes_file(const std::string& path) {
  Result<std::string> notes = read_file(path);
  if (!notes) return std::nullopt;
  return non_empty(build_id_in_notes(as_bytes(*notes)));
}

}  // namespace

bool path_will_not_do(const HitObject& object) {
  if (!object.path.starts_with('/')) return false;
  if (!is_file_of(object.path, object.file.inode)) return true;
  return object.pid > 0 && !foreign_root("/proc", static_cast<uint32_t>(object.pid)).empty();
}

std::string object_file(const HitObject& object) {
  if (object.held_fd >= 0) return fmt::format("/proc/self/fd/{}", object.held_fd);
  for (const WayToObject& way : ways_to(as_mapped(object)))
    if (is_file_of(way.path, object.file.inode)) return way.path;
  return {};
}

Fd open_object(const HitObject& object) {
  std::string path = object_file(object);
  if (path.empty()) return {};
  Result<Fd> fd = open_regular(path);
  struct stat status{};
  // The path may lead elsewhere by now.
  bool is_it = fd && ::fstat(fd->get(), &status) == 0 &&
               (object.file.inode == 0 || status.st_ino == object.file.inode);
  return is_it ? std::move(*fd) : Fd();
}

std::optional<std::string> object_build_id(const HitObject& object) {
  if (object.path == "[vdso]") {
    Bytes image = vdso_bytes();
    if (image.empty()) return std::nullopt;
    Result<ElfFile> vdso = ElfFile::view(image, object.path);
    return vdso ? non_empty(vdso->build_id()) : std::nullopt;
  }
  Fd file = open_object(object);
  if (!file.valid()) return std::nullopt;
  Result<ElfFile> elf = ElfFile::open(fmt::format("/proc/self/fd/{}", file.get()));
  return elf ? non_empty(elf->build_id()) : std::nullopt;
}

std::optional<std::string> kernel_build_id() {
  return id_in_notes_file("/sys/kernel/notes");
}

std::optional<std::string> module_build_id(const std::string& name) {
  return id_in_notes_file("/sys/module/" + name + "/notes/.note.gnu.build-id");
}

Bytes vdso_bytes() {
  uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return {};
  Result<std::string> maps = read_file("/proc/self/maps");
  if (!maps) return {};
  std::string_view rest = *maps;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::optional<ProcMapping> mapping = parse_proc_mapping(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (mapping && mapping->start == start)
      return {reinterpret_cast<const std::byte*>(start), mapping->end - mapping->start};
  }
  return {};
}

}  // namespace sonde
