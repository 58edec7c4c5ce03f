#include "daemon/start.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/text.h"
#include "daemon/lock.h"
#include "daemon/server.h"

namespace sonde {
namespace {

/// Absolute, for after a change of directory; without links if the file exists.
std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  if (::realpath(path.c_str(), buffer) != nullptr) return buffer;
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();
}

/// Streams of a process in the background: nothing, and the daemon's log.
Result<> leave_terminal(const DaemonPaths& paths) {
  std::string output = paths.output();
  Fd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd out(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                0644));
  if (!in.valid() || !out.valid())
    return fail(ErrorCode::kPermission, "cannot write {}: {}", output, std::strerror(errno));
  ::dup2(in.get(), 0);
  ::dup2(out.get(), 1);
  ::dup2(out.get(), 2);
  return {};
}

/// What the starter waits for: lines, then one byte that is its status.
class Report {
 public:
  explicit Report(Fd fd) : fd_(std::move(fd)) {}
  /// Nobody must have to wait for the daemon because it inherited their pipe or lock.
  void close_other_descriptors() const {
    constexpr unsigned kFirst = 3;
    auto own = static_cast<unsigned>(fd_.get());
    if (own > kFirst) (void)::close_range(kFirst, own - 1, 0);
    (void)::close_range(own + 1, ~0U, 0);
  }
  void finish(const std::vector<std::string>& lines, int status) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    text += static_cast<char>(status);
    if (fd_.valid()) (void)write_all(fd_.get(), "the starter", as_bytes(text));
    fd_.reset();
  }

 private:
  Fd fd_;
};

/// The daemon itself. `ready` gets a line for each session that failed at once.
Result<int> run_daemon(const DaemonOptions& options, const DaemonConfig& config,
                       const DaemonPaths& paths, Env& env,
                       const std::function<void(const std::vector<std::string>&)>& ready) {
  std::vector<std::string> files;
  files.reserve(options.config_files.size());
  for (const std::string& file : options.config_files) files.push_back(resolved(file));
  DaemonLock lock = TRY(DaemonLock::take(paths));
  if (!options.foreground) TRY(leave_terminal(paths));
  if (::chdir(paths.base.c_str()) != 0)
    return fail(ErrorCode::kPermission, "cannot enter {}: {}", paths.base, std::strerror(errno));
  DaemonServer server = TRY(DaemonServer::open({paths, files, env.tool}, env.out));
  ready(server.start_sessions(config));
  server.serve();
  return 0;
}

/// Runs in the child of a fork. The starter has shown the error by the time this process ends.
int run_in_background(const DaemonOptions& options, const DaemonConfig& config,
                      const DaemonPaths& paths, Env& env, Report report) {
  ::setsid();
  report.close_other_descriptors();
  Result<int> done =
      run_daemon(options, config, paths, env, [&](const auto& lines) { report.finish(lines, 0); });
  if (done) return *done;
  report.finish({done.error().message}, exit_status(done.error().code));
  return exit_status(done.error().code);
}

/// The starter's part: shows the report and returns its status.
Result<int> wait_for_report(const Fd& fd, const DaemonPaths& paths, Env& env) {
  constexpr size_t kMaxReport = 1 << 20;
  std::string text = TRY(read_all(fd.get(), "the daemon's report", kMaxReport));
  if (text.empty())
    return fail(ErrorCode::kFailed, "the daemon ended while it started; {} may say why",
                paths.output());
  env.err.write_lines(std::string_view(text).substr(0, text.size() - 1));
  return static_cast<unsigned char>(text.back());
}

}  // namespace

Result<DaemonPaths> daemon_paths(const DaemonOptions& options) {
  std::string base = options.base;
  if (base.empty()) base = TRY(read_daemon_config(options.config_files)).base;
  if (base.empty())
    return fail(ErrorCode::kFailed,
                "no base directory; set daemon.base in {}, or name it with --base",
                join(options.config_files, " or "));
  char buffer[PATH_MAX];
  if (::realpath(base.c_str(), buffer) == nullptr)
    return fail(ErrorCode::kNotFound, "base directory {}: {}", base, std::strerror(errno));
  return DaemonPaths{buffer};
}

Result<int> start_daemon(const DaemonOptions& options, Env& env) {
  DaemonConfig config = TRY(read_daemon_config(options.config_files));
  DaemonPaths paths = TRY(daemon_paths(options));
  if (options.verbose)
    env.err.print("configuration: {}\nbase: {}\n", join(options.config_files, ", "), paths.base);
  if (options.foreground) return run_daemon(options, config, paths, env, [](const auto&) {});
  env.out.flush();
  env.err.flush();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, "cannot make a pipe: {}", std::strerror(errno));
  Fd from_daemon(ends[0]), to_starter(ends[1]);
  pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kIo, "cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    from_daemon.reset();
    return run_in_background(options, config, paths, env, Report(std::move(to_starter)));
  }
  to_starter.reset();
  return wait_for_report(from_daemon, paths, env);
}

Result<int> ask_daemon(const DaemonOptions& options, const DaemonRequest& request, Env& env) {
  if (request.session.empty() || request.session.size() >= DaemonRequest::kMaxNameSize)
    return fail(ErrorCode::kUsage, "--session: a name has 1 to {} characters",
                DaemonRequest::kMaxNameSize - 1);
  DaemonPaths paths = TRY(daemon_paths(options));
  if (options.verbose && request.kind != DaemonRequest::Kind::kList)
    env.err.print("control socket: {}\n", paths.control());
  Fd connection = TRY(call_daemon(paths, request));
  constexpr size_t kMaxAnswer = 16 << 20;
  std::string answer = TRY(read_all(connection.get(), paths.control(), kMaxAnswer));
  env.out.write_lines(answer);
  using Kind = DaemonRequest::Kind;
  if (request.kind == Kind::kPing)
    return answer.starts_with("FAIL") || answer.find("\nFAIL") != std::string::npos ? 1 : 0;
  if (request.kind == Kind::kSignal && answer.empty() &&
      request.session != DaemonRequest::kAllSessions)
    return fail(ErrorCode::kNotFound, "there is no session '{}'; `daemon` lists them",
                request.session);
  return 0;
}

}  // namespace sonde
