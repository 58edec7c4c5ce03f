#include "ftrace/trace_directory.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>

#include "base/file.h"
#include "base/text.h"
#include "ftrace/until_not_busy.h"

namespace sonde {
namespace {

constexpr std::string_view kPrefix = "sonde_";

bool lists(std::string_view text, std::string_view word) {
  for (std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    if (std::ranges::find(words, word) != words.end()) return true;
  }
  return false;
}

bool has_tracer(const std::string& directory, std::string_view tracer) {
  auto text = read_file(directory + "/available_tracers");
  return text && lists(*text, tracer);
}

void remove_orphans(const std::string& instances) {
  DIR* directory = ::opendir(instances.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) continue;
    pid_t maker = 0;
    auto end = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), maker);
    if (end.ec != std::errc() || *end.ptr != 0 || maker <= 0) continue;
    if (::kill(maker, 0) != 0 && errno == ESRCH)
      ::rmdir(fmt::format("{}/{}", instances, name).c_str());
  }
  ::closedir(directory);
}

Result<> check_tracer(const std::string& tracefs, const std::string& tracer) {
  std::string list = tracefs + "/available_tracers";
  if (::access(list.c_str(), F_OK) == 0 && ::access(list.c_str(), R_OK) != 0)
    return fail(ErrorCode::kPermission, "{}: cannot be read: try sudo", list);
  auto text = read_file(list);
  if (!text && text.error().code == ErrorCode::kPermission)
    return fail(ErrorCode::kPermission, "{}: cannot be read: try sudo", list);
  if (!text)
    return fail(ErrorCode::kUnsupported,
                "{}: does not exist: this kernel is built without tracers (CONFIG_FTRACE)", list);
  if (lists(*text, tracer)) return {};
  std::string_view remedy = tracer == "function_graph" ? "; it needs CONFIG_FUNCTION_GRAPH_TRACER"
                            : tracer == "function"     ? "; it needs CONFIG_FUNCTION_TRACER"
                                                       : "";
  return fail(ErrorCode::kUnsupported, "ftrace: this kernel has no tracer '{}', only: {}{}", tracer,
              trim(*text), remedy);
}

}  // namespace

Result<TraceDirectory> TraceDirectory::open(const std::string& tracefs, const std::string& tracer) {
  if (tracefs.empty())
    return fail(ErrorCode::kNotFound,
                "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing");
  TRY(check_tracer(tracefs, tracer));
  TraceDirectory directory(tracefs);
  std::string instances = tracefs + "/instances";
  remove_orphans(instances);
  constexpr mode_t kMode = 0750;
  std::string instance = fmt::format("{}/{}{}", instances, kPrefix, ::getpid());
  // Before there is anything to remove: the process may be killed at any time.
  directory.guard_ = TRY(EndGuard::start("sonde-ftrace", [instance] {
    until_not_busy([&] { return ::rmdir(instance.c_str()) == 0 ? 0 : errno; });
  }));
  if (::mkdir(instance.c_str(), kMode) == 0) directory.instance_ = std::move(instance);
  if (directory.is_shared() || !has_tracer(directory.instance_, tracer)) directory.remove();
  return directory;
}

TraceDirectory::TraceDirectory(TraceDirectory&& other) noexcept
    : tracefs_(std::move(other.tracefs_)),
      instance_(std::exchange(other.instance_, {})),
      guard_(std::move(other.guard_)) {}

TraceDirectory::~TraceDirectory() {
  remove();
}

void TraceDirectory::remove() {
  if (!instance_.empty()) ::rmdir(instance_.c_str());
  instance_.clear();
  guard_.dismiss();
}

std::string TraceDirectory::path(std::string_view file) const {
  if (!instance_.empty()) {
    std::string own = fmt::format("{}/{}", instance_, file);
    if (::access(own.c_str(), F_OK) == 0) return own;
  }
  return fmt::format("{}/{}", tracefs_, file);
}

}  // namespace sonde
