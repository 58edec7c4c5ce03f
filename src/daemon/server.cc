#include "daemon/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "daemon/answers.h"

namespace sonde {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPingPatience{2000};
constexpr milliseconds kStartPatience{2000};
/// How long sessions may take to end before they are told again, more firmly.
constexpr milliseconds kEndPatience{10000};

milliseconds left_until(steady_clock::time_point deadline) {
  auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  return std::max(left, milliseconds{0});
}

Result<Fd> take_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  Fd fd(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.valid()) return fail(ErrorCode::kIo, "cannot wait for signals: {}", std::strerror(errno));
  return fd;
}

}  // namespace

Result<DaemonServer> DaemonServer::open(Options options, Sink& log) {
  Fd signals = TRY(take_signals());
  ControlSocket socket = TRY(ControlSocket::listen(options.paths));
  ConfigWatch watch = TRY(ConfigWatch::start(options.config_files));
  DaemonServer server(std::move(options), log, std::move(socket), std::move(watch),
                      std::move(signals));
  server.log("daemon started (pid {})", ::getpid());
  return server;
}

std::vector<std::string> DaemonServer::start_sessions(const DaemonConfig& config) {
  for (const DaemonSession& session : config.sessions) start(session);
  auto deadline = steady_clock::now() + kStartPatience;
  auto records = [&](const RecordSession& session) { return session.ping(left_until(deadline)); };
  while (!std::ranges::all_of(sessions_, records) && steady_clock::now() < deadline && !ending_)
    wait_for_signals(std::min(left_until(deadline), milliseconds{20}));
  wait_for_signals(milliseconds{0});
  return std::exchange(ended_, {});
}

void DaemonServer::serve() {
  while (!ending_) {
    pollfd ready[] = {{.fd = socket_.fd(), .events = POLLIN, .revents = 0},
                      {.fd = watch_.fd(), .events = POLLIN, .revents = 0},
                      {.fd = signals_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(ready, std::size(ready), -1) < 0 && errno != EINTR) break;
    if (ready[2].revents != 0) wait_for_signals(milliseconds{0});
    if (ready[1].revents != 0 && !ending_ && watch_.changed()) reconfigure();
    if (ready[0].revents != 0 && !ending_)
      if (std::optional<ControlSocket::Call> call = socket_.accept()) answer(std::move(*call));
  }
  end(std::exchange(sessions_, {}));
  log("daemon exited");
  // Who asked for this waits until the connection closes: with the process, after the lock.
  (void)stopper_.release();
}

void DaemonServer::log_line(const std::string& text) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  char date[32];
  size_t length = std::strftime(date, sizeof date, "%F %T", &local);
  log_.print("[{}.{:06}] {}\n", std::string_view(date, length), now.tv_nsec / 1000, text);
  log_.flush();
}

void DaemonServer::start(const DaemonSession& wanted) {
  Result<RecordSession> session = RecordSession::start(wanted, options_.paths, options_.tool);
  if (!session) {
    ended_.push_back(session.error().message);
    return log("session '{}' not started: {}", wanted.name, session.error().message);
  }
  log("reconfig: running session [{}:{}]: {}", wanted.name, session->pid(), wanted.run);
  sessions_.push_back(std::move(*session));
}

void DaemonServer::reconfigure() {
  Result<DaemonConfig> config = read_daemon_config(options_.config_files);
  // Half a configuration is no reason to end recordings: the next write may complete it.
  if (!config) return log("reconfig: {}; the sessions stay as they are", config.error().message);
  auto is_wanted = [&](const RecordSession& session) {
    return std::ranges::find(config->sessions, session.wanted()) != config->sessions.end();
  };
  std::list<RecordSession> unwanted;
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    auto next = std::next(at);
    if (!is_wanted(*at)) unwanted.splice(unwanted.end(), sessions_, at);
    at = next;
  }
  end(std::move(unwanted));
  auto runs = [&](const DaemonSession& wanted) {
    return std::ranges::find(sessions_, wanted.name, [](const RecordSession& session) {
             return session.wanted().name;
           }) != sessions_.end();
  };
  for (const DaemonSession& wanted : config->sessions)
    if (!runs(wanted) && !ending_) start(wanted);
}

void DaemonServer::answer(ControlSocket::Call call) {
  switch (call.request.kind) {
    case DaemonRequest::Kind::kList:
      return send_answer(call.connection, listing(call.request));
    case DaemonRequest::Kind::kSignal:
      return send_answer(call.connection, signalled(call.request));
    case DaemonRequest::Kind::kPing:
      return send_answer(call.connection, pinged(call.request));
    case DaemonRequest::Kind::kStop:
      stopper_ = std::move(call.connection);
      ending_ = true;
  }
}

std::string DaemonServer::listing(const DaemonRequest& request) const {
  auto up = steady_clock::now() - started_;
  ListedDaemon daemon{
      .pid = ::getpid(),
      .paths = options_.paths,
      .minutes_up = std::chrono::duration_cast<std::chrono::minutes>(up).count(),
      .tool = options_.tool,
  };
  std::vector<ListedSession> listed;
  for (const RecordSession& session : sessions_)
    listed.push_back({.pid = session.pid(),
                      .name = session.wanted().name,
                      .run = session.wanted().run,
                      .paths = session.paths(),
                      .minutes_up = session.minutes_up()});
  return list_answer(daemon, listed, request);
}

std::string DaemonServer::pinged(const DaemonRequest& request) const {
  std::string text;
  for (const RecordSession& session : sessions_)
    if (request.concerns(session.wanted().name))
      text += fmt::format("{:4} {}\n", session.ping(kPingPatience) ? "OK" : "FAIL",
                          session.wanted().name);
  if (text.empty() && request.session != DaemonRequest::kAllSessions)
    text = fmt::format("FAIL {} (not found)\n", request.session);
  return text;
}

std::string DaemonServer::signalled(const DaemonRequest& request) const {
  std::string text;
  for (const RecordSession& session : sessions_) {
    if (!request.concerns(session.wanted().name)) continue;
    session.signal(request.signal);
    text += fmt::format("signal {} sent to session '{} [{}]'\n", request.signal,
                        session.wanted().name, session.pid());
  }
  return text;
}

/// For a signal to come, and deals with all that have.
void DaemonServer::wait_for_signals(milliseconds patience) {
  pollfd ready{.fd = signals_.get(), .events = POLLIN, .revents = 0};
  ::poll(&ready, 1, static_cast<int>(patience.count()));
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) ending_ = true;
  reap(sessions_);
}

void DaemonServer::reap(std::list<RecordSession>& sessions) {
  std::erase_if(sessions, [&](RecordSession& session) {
    std::optional<int> status = session.reap();
    if (!status) return false;
    session.clean_up();
    std::string text = fmt::format("session '{}' {}", session.wanted().name, how_it_ended(*status));
    if (WIFEXITED(*status) && *status != 0 && !ending_)
      text += fmt::format(": {} (all of its output is in {})", session.first_line(),
                          session.paths().output());
    ended_.push_back(text);
    log_line(text);
    return true;
  });
}

/// Waits for their end: politely at first, then by SIGTERM, at last by SIGKILL.
void DaemonServer::end(std::list<RecordSession> sessions) {
  std::vector<std::string> names;
  for (const RecordSession& session : sessions) names.push_back(session.wanted().name);
  for (int number : {0, SIGTERM, SIGKILL}) {
    for (const RecordSession& session : sessions)
      number == 0 ? session.ask_to_end() : session.signal(number);
    auto deadline = steady_clock::now() + kEndPatience;
    reap(sessions);
    while (!sessions.empty() && steady_clock::now() < deadline) {
      wait_for_signals(left_until(deadline));
      reap(sessions);
    }
  }
  if (ending_) return;
  for (const std::string& name : names) log("reconfig: session '{}' ended", name);
}

}  // namespace sonde
