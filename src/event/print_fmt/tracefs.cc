#include "event/print_fmt/tracefs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr long kTracefsMagic = 0x74726163;
constexpr size_t kMaxFormat = 4 << 20;

bool is_tracefs(const std::string& path) {
  struct statfs info{};
  return statfs(path.c_str(), &info) == 0 && info.f_type == kTracefsMagic;
}

bool is_directory(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The first mount of this type in /proc/mounts, with `below` appended.
std::string mounted_at(std::string_view type, std::string_view below) {
  Result<std::string> mounts = read_file("/proc/mounts", 4 << 20);
  if (!mounts) return {};
  for (std::string_view line : split(*mounts, '\n')) {
    std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() < 3 || fields[2] != type) continue;
    std::string path = fmt::format("{}{}", fields[1], below);
    if (below.empty() || is_directory(path)) return path;
  }
  return {};
}

std::string find_mount(const std::string& debugfs) {
  if (!debugfs.empty()) {
    std::string tracing = debugfs + "/tracing";
    if (is_directory(tracing + "/events")) return tracing;
    if (is_directory(debugfs + "/events")) return debugfs;
  }
  for (const char* usual :
       {"/sys/kernel/tracing", "/sys/kernel/debug/tracing", "/tracing", "/trace"})
    if (is_tracefs(usual)) return usual;
  std::string path = mounted_at("tracefs", "");
  return path.empty() ? mounted_at("debugfs", "/tracing") : path;
}

/// Names of the subdirectories, in directory order; or an errno.
std::expected<std::vector<std::string>, int> subdirectories(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return std::unexpected(errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    bool wanted = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) wanted = is_directory(path + '/' + entry->d_name);
    if (wanted) names.emplace_back(entry->d_name);
  }
  closedir(directory);
  return names;
}

/// Reads a whole small file; or an errno.
std::expected<std::string, int> read_small_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::unexpected(errno);
  std::string text;
  char buffer[8192];
  while (true) {
    ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(errno);
    if (got == 0) return text;
    if (text.size() > kMaxFormat) return std::unexpected(EFBIG);
    text.append(buffer, static_cast<size_t>(got));
  }
}

/// Names come from the command line and become part of a path.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

Tracefs Tracefs::at(std::string directory) {
  Tracefs tracefs;
  tracefs.path_ = std::move(directory);
  return tracefs;
}

const std::string& Tracefs::path() {
  if (!path_) path_ = find_mount(debugfs_);
  return *path_;
}

bool Tracefs::has(std::string_view system, std::string_view event) {
  return ::access(fmt::format("{}/events/{}/{}", path(), system, event).c_str(), F_OK) == 0;
}

std::unexpected<Error> Tracefs::unreadable(int error_number, std::string_view system,
                                           std::string_view event) {
  bool refused = error_number == EACCES || error_number == EPERM;
  return std::unexpected(Error{refused ? ErrorCode::kPermission : ErrorCode::kBadEvent,
                               explain(error_number, system, event)});
}

Result<std::vector<std::string>> Tracefs::systems() {
  if (!systems_) {
    if (path().empty()) return unreadable(ENOENT, "", "");
    auto names = subdirectories(path() + "/events");
    if (!names) return unreadable(names.error(), "*", "*");
    systems_ = std::move(*names);
  }
  return *systems_;
}

Result<std::vector<std::string>> Tracefs::events(const std::string& system) {
  auto known = events_.find(system);
  if (known == events_.end()) {
    if (path().empty()) return unreadable(ENOENT, system, "*");
    std::expected<std::vector<std::string>, int> names = std::unexpected(ENOENT);
    if (is_file_name(system)) names = subdirectories(path() + "/events/" + system);
    if (!names) return unreadable(names.error(), system, "*");
    known = events_.emplace(system, std::move(*names)).first;
  }
  return known->second;
}

Result<std::vector<TracepointName>> Tracefs::match(const std::string& system,
                                                   const std::string& event) {
  std::vector<std::string> wanted{system};
  bool any_system = has_glob(system);
  if (any_system) {
    Result<std::vector<std::string>> all = systems();
    if (!all && all.error().code == ErrorCode::kPermission)
      return unreadable(EACCES, system, event);
    wanted = TRY(std::move(all));
    std::erase_if(wanted, [&](const std::string& name) { return !glob_match(system, name); });
  }
  std::vector<TracepointName> found;
  for (const std::string& name : wanted) {
    Result<std::vector<std::string>> all = events(name);
    if (!all) {
      if (any_system) continue;
      return std::unexpected(std::move(all).error());
    }
    for (const std::string& candidate : *all)
      if (glob_match(event, candidate)) found.push_back({name, candidate});
  }
  return found;
}

Result<std::string> Tracefs::event_file(const TracepointName& tracepoint, std::string_view name) {
  int error = ENOENT;
  if (!path().empty() && is_file_name(tracepoint.system) && is_file_name(tracepoint.name)) {
    std::string file =
        fmt::format("{}/events/{}/{}/{}", path(), tracepoint.system, tracepoint.name, name);
    std::expected<std::string, int> text = read_small_file(file);
    if (text) return std::move(*text);
    error = text.error();
  }
  return unreadable(error, tracepoint.system, tracepoint.name);
}

Result<uint64_t> Tracefs::id(const TracepointName& tracepoint) {
  std::string text = TRY(event_file(tracepoint, "id"));
  std::optional<uint64_t> number = parse_number(trim(text));
  if (!number)
    return fail(ErrorCode::kBadEvent, "Error:\tFile {}/events/{}/{}/id does not hold a number.",
                path(), tracepoint.system, tracepoint.name);
  return *number;
}

Result<std::string> Tracefs::format(const TracepointName& tracepoint) {
  return event_file(tracepoint, "format");
}

Result<std::string> Tracefs::file(std::string_view relative) {
  if (path().empty()) return std::unexpected(Error{ErrorCode::kNotFound, explain(ENOENT, "", "")});
  std::string name = fmt::format("{}/{}", path(), relative);
  std::expected<std::string, int> text = read_small_file(name);
  if (!text)
    return fail(ErrorCode::kIo, "failed to read {}: {}", name, std::strerror(text.error()));
  return std::move(*text);
}

std::string Tracefs::explain(int error_number, std::string_view system, std::string_view event) {
  const std::string& mount = path();
  std::string file = fmt::format("{}/events/{}/{}", mount, system, event);
  switch (error_number) {
    case ENOENT:
      if (mount.empty())
        return "tracefs, which describes tracepoints, is not mounted: mount -t tracefs nodev "
               "/sys/kernel/tracing";
      if (system.starts_with("sdt_"))
        return fmt::format(
            "Error:\tFile {} not found.\n"
            "Hint:\tSDT event cannot be directly recorded on.\n"
            "\tPlease first use 'perf probe {}:{}' before recording it.",
            file, system, event);
      return fmt::format(
          "Error:\tFile {} not found.\n"
          "Hint:\tPerhaps this kernel misses some CONFIG_ setting to enable this feature?.",
          file);
    case EPERM:
    case EACCES: {
      std::string text = fmt::format(
          "Error:\tNo permissions to read {}\n"
          "Hint:\tTry 'sudo mount -o remount,mode=755 {}/'",
          file, mount);
      // If the directories are already accessible, it is the files: newer kernels only apply the
      // mount's group to them.
      if (::access((mount + "/events").c_str(), R_OK | X_OK) == 0)
        text += fmt::format(
            "\nHint:\tThe files belong to root's group: make it yours with"
            " 'sudo mount -o remount,mode=755,gid={} {}/'",
            getegid(), mount);
      return text;
    }
    default:
      return fmt::format("Error:\tFailed to read {}: {}", file, std::strerror(error_number));
  }
}

}  // namespace sonde
