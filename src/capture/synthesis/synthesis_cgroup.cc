#include "capture/synthesis/synthesis_cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "base/text.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

std::optional<uint64_t> cgroup_id(const std::string& path) {
  // The id is the directory's file handle (include/linux/kernfs.h: 64 bits).
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

void walk(const std::string& mount, const std::string& inside,
          const std::function<void(uint64_t, std::string_view)>& visit) {
  std::string directory = mount + inside;
  std::optional<uint64_t> id = cgroup_id(directory);
  if (!id) return;
  visit(*id, inside.empty() ? std::string_view("/") : inside);
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return;
  while (dirent* entry = ::readdir(open.get())) {
    std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..")
      walk(mount, fmt::format("{}/{}", inside, name), visit);
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
  RecordFrame frame{.attr = &attr, .id = kSynthesisedId};
  walk(*mount, "",
       [&](uint64_t id, std::string_view path) { encode(CgroupRecord{id, path}, frame, out); });
}

std::map<uint64_t, std::string> cgroup_paths() {
  std::map<uint64_t, std::string> paths;
  if (std::optional<std::string> mount = cgroup_mount())
    walk(*mount, "", [&](uint64_t id, std::string_view path) { paths[id] = path; });
  return paths;
}

Result<std::optional<uint64_t>> cgroup_by_name(const std::string& given) {
  TRY(open_cgroup(given));
  std::string_view name = given;
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  if (name.empty()) return std::nullopt;
  for (const auto& [id, path] : cgroup_paths())
    if (path == fmt::format("/{}", name)) return id;
  return fail(ErrorCode::kNotFound, "there is no cgroup {}", given);
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
