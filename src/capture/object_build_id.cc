#include "capture/object_build_id.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/proc_maps.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"

namespace sonde {
namespace {

bool same_mount_namespace(pid_t pid) {
  struct stat ours{};
  struct stat theirs{};
  if (::stat("/proc/self/ns/mnt", &ours) != 0) return true;
  if (::stat(fmt::format("/proc/{}/ns/mnt", pid).c_str(), &theirs) != 0) return true;
  return ours.st_ino == theirs.st_ino;
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

std::string reachable_path(const std::string& path, pid_t pid) {
  if (pid <= 0 || same_mount_namespace(pid)) return path;
  std::string inside = fmt::format("/proc/{}/root{}", pid, path);
  return ::access(inside.c_str(), R_OK) == 0 ? inside : path;
}

std::optional<std::string> object_build_id(const std::string& path, pid_t pid) {
  if (path == "[vdso]") {
    Bytes image = vdso_bytes();
    if (image.empty()) return std::nullopt;
    Result<ElfFile> vdso = ElfFile::view(image, path);
    return vdso ? non_empty(vdso->build_id()) : std::nullopt;
  }
  struct stat status{};
  std::string file = reachable_path(path, pid);
  // A device or a pipe would block, or have no end.
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  Result<ElfFile> elf = ElfFile::open(file);
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
