#include "machine/dso.h"

#include <charconv>

namespace sonde {
namespace {

std::string_view base_name(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// "[ext4]" from "/lib/modules/…/ext4.ko.xz": dashes become underscores, as the kernel names
/// modules.
std::string module_name(std::string_view path) {
  if (path.starts_with('[')) return std::string(path);
  std::string name(base_name(path));
  name.resize(std::min(name.size(), name.find(".ko")));
  for (char& c : name)
    if (c == '-') c = '_';
  return "[" + name + "]";
}

std::string short_name_of(std::string_view path, DsoKind kind) {
  constexpr std::string_view kPerfMap = "/tmp/perf-";
  if (kind == DsoKind::kModule) return module_name(path);
  if (path.starts_with(kPerfMap) && path.ends_with(".map")) {
    std::string_view pid = path.substr(kPerfMap.size(), path.size() - kPerfMap.size() - 4);
    uint32_t number = 0;
    auto [end, error] = std::from_chars(pid.data(), pid.data() + pid.size(), number);
    if (error == std::errc{} && end == pid.data() + pid.size())
      return "[JIT] tid " + std::string(pid);
  }
  std::string_view name = base_name(path);
  return std::string(name.empty() ? path : name);
}

/// Recorded paths are C strings, so none begins like this.
std::string guest_key(std::string_view path, uint32_t pid) {
  return std::string(1, '\0') + std::to_string(pid) + ' ' + std::string(path);
}

}  // namespace

DsoId DsoTable::find_or_add(std::string_view path, DsoKind kind, bool kernel_side) {
  auto [entry, added] =
      by_path_.try_emplace(std::string(path), static_cast<uint32_t>(dsos_.size()));
  if (added) {
    Dso& dso = dsos_.emplace_back();
    dso.path = path;
    dso.short_name = short_name_of(path, kind);
    dso.kind = kind;
    dso.is_kernel_side = kernel_side;
  }
  return DsoId(entry->second);
}

DsoId DsoTable::find_or_add_guest(std::string_view path, DsoKind kind, uint32_t pid,
                                  bool kernel_side) {
  auto [entry, added] =
      by_path_.try_emplace(guest_key(path, pid), static_cast<uint32_t>(dsos_.size()));
  if (added) {
    Dso& dso = dsos_.emplace_back();
    dso.path = path;
    dso.short_name = short_name_of(path, kind);
    dso.kind = kind;
    dso.is_kernel_side = kernel_side;
    dso.is_guest = true;
    dso.pid = pid;
  }
  return DsoId(entry->second);
}

DsoId DsoTable::find_guest(std::string_view path, uint32_t pid) const {
  auto found = by_path_.find(guest_key(path, pid));
  return found == by_path_.end() ? DsoId() : DsoId(found->second);
}

DsoId DsoTable::add_jit_dump(std::string_view path, uint32_t pid) {
  DsoId id(dsos_.size());
  Dso& dso = dsos_.emplace_back();
  dso.path = path;
  dso.short_name = "[JIT] tid " + std::to_string(pid);
  dso.kind = DsoKind::kJitDump;
  dso.pid = pid;
  return id;
}

DsoId DsoTable::find_or_add(std::string_view path, DsoKind kind, const FileIdentity& file) {
  DsoId id = find_or_add(path, kind, false);
  if (!file.known()) return id;
  if (!edit(id).file.known()) edit(id).file = file;
  if (edit(id).file == file) return id;
  auto [entry, is_new] =
      by_file_.try_emplace({id.value, file}, static_cast<uint32_t>(dsos_.size()));
  if (!is_new) return DsoId(entry->second);
  uint32_t added = entry->second;
  Dso& dso = dsos_.emplace_back();
  dso.path = path;
  dso.short_name = short_name_of(path, kind);
  dso.kind = kind;
  dso.file = file;
  auto [last, is_second] = last_of_path_.try_emplace(id.value, id.value);
  next_of_path_[last->second] = added;
  last.value() = added;
  return DsoId(added);
}

std::vector<DsoId> DsoTable::all_of(std::string_view path) const {
  std::vector<DsoId> all;
  for (DsoId id = find(path); id.valid();) {
    all.push_back(id);
    auto next = next_of_path_.find(id.value);
    id = next == next_of_path_.end() ? DsoId() : DsoId(next->second);
  }
  return all;
}

DsoId DsoTable::last_of(std::string_view path) const {
  DsoId first = find(path);
  if (!first.valid()) return first;
  auto last = last_of_path_.find(first.value);
  return last == last_of_path_.end() ? first : DsoId(last->second);
}

std::vector<DsoId> DsoTable::same_objects() const {
  std::map<std::pair<std::string_view, std::string_view>, DsoId> first_of;  // by path and build id
  std::vector<DsoId> same(dsos_.size());
  for (size_t i = 0; i < dsos_.size(); ++i) {
    const Dso& dso = dsos_[i];
    same[i] = DsoId(i);
    if (!dso.build_id.empty() && dso.kind == DsoKind::kFile && !dso.is_guest)
      same[i] = first_of.try_emplace({dso.path, dso.build_id}, DsoId(i)).first->second;
  }
  return same;
}

DsoId DsoTable::find(std::string_view path) const {
  auto found = by_path_.find(std::string(path));
  return found == by_path_.end() ? DsoId() : DsoId(found->second);
}

DsoKind user_mapping_kind(std::string_view path, bool executable) {
  if (path == "//anon" || path.starts_with("/dev/zero") || path.starts_with("/anon_hugepage"))
    return executable ? DsoKind::kJit : DsoKind::kNoSymbols;
  // Since .NET 7, the runtime writes its code through one view of such a file and runs it in
  // another.
  if (path.starts_with("/memfd:doublemapper") && executable) return DsoKind::kJit;
  if (path == "[heap]" || path.starts_with("[stack") || path.starts_with("/SYSV") ||
      path.starts_with("[anon"))
    return DsoKind::kNoSymbols;
  if (path == "[vdso]" || path == "[vdso32]" || path == "[vdsox32]") return DsoKind::kVdso;
  if (path == "[vsyscall]") return DsoKind::kVsyscall;
  return DsoKind::kFile;
}

}  // namespace sonde
