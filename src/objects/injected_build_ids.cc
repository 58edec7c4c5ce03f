#include "objects/injected_build_ids.h"

#include "base/files/regular_file.h"
#include "base/text.h"
#include "capture/recorders/record_scan.h"
#include "capture/synthesis/object_build_id.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "objects/build_id_text.h"
#include "replay/passes/recorded_host.h"
#include "symbol/guest_kernel.h"

namespace sonde {
namespace {

std::string_view module_name(const Dso& dso) {
  std::string_view name = dso.short_name;
  return name.starts_with('[') && name.ends_with(']') ? name.substr(1, name.size() - 2) : name;
}

/// What the guest's own kernel and files say; `mount` has a directory for each.
std::string build_id_in_guest(const Dso& dso, const std::string& mount) {
  if (!dso.build_id.empty() || mount.empty()) return dso.build_id;
  std::string root = fmt::format("{}/{}", mount, dso.pid);
  if (dso.kind == DsoKind::kFile) {
    Result<std::string> content = read_guest_file(root, dso.path);
    if (!content) return {};
    Result<ElfFile> file = ElfFile::view(as_bytes(*content), dso.path);
    return file ? std::string(file->build_id()) : std::string();
  }
  bool is_kernel = dso.kind == DsoKind::kKernel;
  if (!is_kernel && dso.kind != DsoKind::kModule) return {};
  std::string notes = is_kernel
                          ? std::string("sys/kernel/notes")
                          : fmt::format("sys/module/{}/notes/.note.gnu.build-id", module_name(dso));
  Result<std::string> content = read_guest_file(root, notes);
  return content ? std::string(build_id_in_notes(as_bytes(*content))) : std::string();
}

/// The recorded one, else what this machine knows, which is nothing of a recording that is not
/// known to be of this boot. Empty if there is none.
std::string build_id_of(const Dso& dso, bool is_ours) {
  if (!dso.build_id.empty() || !is_ours) return dso.build_id;
  switch (dso.kind) {
    case DsoKind::kFile:
    case DsoKind::kVdso:
      return object_build_id({.path = dso.path,
                              .pid = static_cast<pid_t>(dso.pid),
                              .file = dso.file,
                              .pids = dso.pids})
          .value_or("");
    case DsoKind::kKernel:
      return kernel_build_id().value_or("");
    case DsoKind::kModule:
      return module_build_id(std::string(module_name(dso))).value_or("");
    default:
      return {};
  }
}

}  // namespace

Result<KnownBuildIds> parse_known_build_ids(std::string_view text) {
  constexpr std::string_view kFile = "file://";
  std::string content(text);
  char separator = ',';
  if (text.starts_with(kFile)) {
    content = TRY(read_stream(std::string(text.substr(kFile.size()))));
    separator = '\n';
  }
  KnownBuildIds known;
  for (std::string_view pair : split(content, separator)) {
    if (pair.empty()) continue;
    size_t blank = pair.find(' ');
    std::string_view id = pair.substr(0, blank);
    std::string_view path = blank == std::string_view::npos ? "" : pair.substr(blank + 1);
    auto bytes = build_id_of_digits(id);
    if (!bytes || path.empty())
      return fail(ErrorCode::kUsage, "'{}' is not a build id and a path", pair);
    known.insert_or_assign(std::string(path), std::move(*bytes));
  }
  return known;
}

std::vector<BuildIdEntry> build_ids_to_inject(const Session& session, bool of_all,
                                              const KnownBuildIds& known,
                                              const std::string& guest_mount) {
  const DsoTable& dsos = session.machine().dsos();
  std::vector<char> wanted(dsos.size(), of_all ? 1 : 0);
  for (const Frame& frame : session.frames())
    if (frame.dso.valid()) wanted[frame.dso.index()] = 1;
  bool is_ours = is_this_boot(host_of(session.recording().features()), session.machine());
  std::vector<BuildIdEntry> entries;
  for (size_t i = 0; i < dsos.size(); ++i) {
    if (wanted[i] == 0) continue;
    const Dso& dso = dsos[DsoId(i)];
    auto given = known.find(dso.path);
    std::string id = given != known.end() ? given->second
                     : dso.is_guest       ? build_id_in_guest(dso, guest_mount)
                                          : build_id_of(dso, is_ours);
    if (id.empty()) continue;
    uint16_t misc = dso.is_kernel_side ? dso.is_guest ? abi::kMiscGuestKernel : abi::kMiscKernel
                    : dso.is_guest     ? abi::kMiscGuestUser
                                       : abi::kMiscUser;
    int32_t pid = dso.is_guest ? static_cast<int32_t>(dso.pid) : -1;
    entries.push_back({misc, pid, std::move(id), dso.path});
  }
  return entries;
}

}  // namespace sonde
