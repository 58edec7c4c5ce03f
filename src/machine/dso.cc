#include "machine/dso.h"

#include <charconv>

namespace sonde {
namespace {

std::string_view base_name(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// "[ext4]" of "/lib/modules/…/ext4.ko.xz": dashes become underscores, as the kernel names modules.
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

}  // namespace

DsoId DsoTable::find_or_add(std::string_view path, DsoKind kind, bool kernel_side, bool guest) {
  auto [entry, added] =
      by_path_.try_emplace(std::string(path), static_cast<uint32_t>(dsos_.size()));
  if (added) {
    Dso& dso = dsos_.emplace_back();
    dso.path = path;
    dso.short_name = short_name_of(path, kind);
    dso.kind = kind;
    dso.is_kernel_side = kernel_side;
    dso.is_guest = guest;
  }
  return DsoId(entry->second);
}

DsoId DsoTable::find(std::string_view path) const {
  auto found = by_path_.find(std::string(path));
  return found == by_path_.end() ? DsoId() : DsoId(found->second);
}

DsoKind user_mapping_kind(std::string_view path, bool executable) {
  if (path == "//anon" || path.starts_with("/dev/zero") || path.starts_with("/anon_hugepage"))
    return executable ? DsoKind::kJit : DsoKind::kNoSymbols;
  if (path == "[heap]" || path.starts_with("[stack") || path.starts_with("/SYSV") ||
      path.starts_with("[anon"))
    return DsoKind::kNoSymbols;
  if (path == "[vdso]" || path == "[vdso32]" || path == "[vdsox32]") return DsoKind::kVdso;
  if (path == "[vsyscall]") return DsoKind::kVsyscall;
  return DsoKind::kFile;
}

}  // namespace sonde
