#include "store/mapped_object.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/files/regular_file.h"
#include "base/text.h"
#include "store/file_copy.h"
#include "store/proc_maps.h"

namespace sonde {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// Any living process in a mount namespace; 0 if there is none.
uint32_t process_in(const std::string& proc, uint64_t mount_namespace) {
  std::string wanted = fmt::format("mnt:[{}]", mount_namespace);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc, error)) {
    auto pid = parse_number(entry.path().filename().string());
    if (pid && link_target(entry.path().string() + "/ns/mnt") == wanted)
      return static_cast<uint32_t>(*pid);
  }
  return 0;
}

class Ways {
 public:
  Ways(const MappedObject& object, const std::string& proc)
      : object_(object),
        proc_(proc),
        bare_(without_deleted(object.path)),
        deleted_(bare_.size() < object.path.size()) {}

  std::vector<WayToObject> find() && {
    bool foreign = false;
    for (uint32_t pid : object_.pids) {
      std::string root = foreign_root(proc_, pid);
      foreign |= !root.empty();
      if (!root.empty() && !deleted_) add(WayKind::kPath, root + object_.path);
    }
    if (!foreign && !deleted_) add_neighbour();
    // A file may really have such a name.
    add(WayKind::kPath, object_.path);
    bool elsewhere = object_.inode != 0 && !is_file_of(object_.path, object_.inode);
    if (deleted_ || elsewhere)
      for (uint32_t pid : object_.pids) add_mappings(pid);
    if (deleted_) add(WayKind::kPath, std::string(bare_));
    return std::move(ways_);
  }

 private:
  void add(WayKind kind, std::string path) {
    for (const WayToObject& way : ways_)
      if (way.path == path) return;
    ways_.push_back({kind, std::move(path)});
  }

  /// The process has gone, but its container may still be running.
  void add_neighbour() {
    if (object_.mount_namespace == 0) return;
    std::string wanted = fmt::format("mnt:[{}]", object_.mount_namespace);
    if (link_target(proc_ + "/self/ns/mnt") == wanted) return;
    if (uint32_t pid = process_in(proc_, object_.mount_namespace); pid != 0)
      add(WayKind::kPath, fmt::format("{}/{}/root{}", proc_, pid, object_.path));
  }

  /// What the process has mapped under that path, even if it was moved since.
  void add_mappings(uint32_t pid) {
    std::string process = fmt::format("{}/{}", proc_, pid);
    auto maps = read_file(process + "/maps");
    if (!maps) return;
    for (std::string_view line : split(*maps, '\n')) {
      auto mapping = parse_proc_mapping(line);
      if (!mapping || without_deleted(mapping->path) != bare_) continue;
      if (object_.inode != 0 && mapping->inode != object_.inode) continue;
      add(WayKind::kMapping,
          fmt::format("{}/map_files/{:x}-{:x}", process, mapping->start, mapping->end));
      if (without_deleted(link_target(process + "/exe")) == bare_)
        add(WayKind::kMapping, process + "/exe");
      return;
    }
  }

  const MappedObject& object_;
  const std::string& proc_;
  std::string_view bare_;
  bool deleted_;
  std::vector<WayToObject> ways_;
};

}  // namespace

std::string_view without_deleted(std::string_view path) {
  return path.ends_with(kDeleted) ? path.substr(0, path.size() - kDeleted.size()) : path;
}

std::string foreign_root(const std::string& proc, uint32_t pid) {
  if (pid == 0) return {};
  std::string process = fmt::format("{}/{}", proc, pid);
  std::string its_mounts = link_target(process + "/ns/mnt");
  std::string its_root = link_target(process + "/root");
  if (its_root.empty()) return {};
  bool same = its_mounts == link_target(proc + "/self/ns/mnt") &&
              its_root == link_target(proc + "/self/root");
  return same ? std::string() : process + "/root";
}

bool is_file_of(const std::string& path, uint64_t inode) {
  auto status = status_of_regular(path);
  return status && (inode == 0 || status->st_ino == inode);
}

std::vector<WayToObject> ways_to(const MappedObject& object, const std::string& proc) {
  if (!object.path.starts_with('/')) return {};
  return Ways(object, proc).find();
}

}  // namespace sonde
