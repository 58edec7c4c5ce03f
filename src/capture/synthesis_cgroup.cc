#include "capture/synthesis_cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "perfdata/record_encoder.h"

namespace sonde {
namespace {

std::optional<uint64_t> cgroup_id(const std::string& path) {
  // The id is the file handle of the directory (include/linux/kernfs.h: 64 bits).
  struct Handle {
    file_handle head;
    unsigned char bytes[8];
  } handle{};
  handle.head.handle_bytes = sizeof handle.bytes;
  int mount_id = 0;
  if (::name_to_handle_at(AT_FDCWD, path.c_str(), &handle.head, &mount_id, 0) != 0)
    return std::nullopt;
  return load<uint64_t>(reinterpret_cast<const std::byte*>(handle.head.f_handle));
}

void walk(const std::string& mount, const std::string& inside, const RecordFrame& frame,
          ByteBuilder& out) {
  std::string directory = mount + inside;
  std::optional<uint64_t> id = cgroup_id(directory);
  if (!id) return;
  encode(CgroupRecord{*id, inside.empty() ? std::string_view("/") : inside}, frame, out);
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return;
  while (dirent* entry = ::readdir(open.get())) {
    std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..")
      walk(mount, fmt::format("{}/{}", inside, name), frame, out);
  }
}

}  // namespace

std::optional<std::string> cgroup_mount() {
  Result<std::string> mounts = read_file("/proc/mounts");
  if (!mounts) return std::nullopt;
  std::optional<std::string> unified;
  for (std::string_view line : split(*mounts, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 4) continue;
    if (words[2] == "cgroup")
      for (std::string_view option : split(words[3], ','))
        if (option == "perf_event") return std::string(words[1]);
    if (words[2] == "cgroup2" && !unified) unified = std::string(words[1]);
  }
  return unified;
}

void synthesise_cgroups(const abi::EventAttr& attr, ByteBuilder& out) {
  std::optional<std::string> mount = cgroup_mount();
  if (!mount) return;
  walk(*mount, "", RecordFrame{.attr = &attr, .id = kSynthesisedId}, out);
}

Result<Fd> open_cgroup(const std::string& name) {
  std::optional<std::string> mount = cgroup_mount();
  if (!mount)
    return fail(ErrorCode::kUsage, "no cgroup hierarchy with perf_event is mounted (needed by -G)");
  std::string path = *mount + "/" + name;
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return fail(ErrorCode::kUsage, "no access to cgroup {}", path);
  return fd;
}

}  // namespace sonde
