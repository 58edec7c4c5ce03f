#include "ftrace/ftrace_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde {

Result<FtraceSession> FtraceSession::open(const std::string& tracefs,
                                          const TraceSettings& settings) {
  TraceDirectory directory = TRY(TraceDirectory::open(tracefs, settings.tracer));
  TraceChanges changes = TRY(TraceChanges::make(directory, trace_writes(settings)));
  FtraceSession session(std::move(directory), std::move(changes));
  std::string pipe = session.directory_.path("trace_pipe");
  // Writing to `trace` discards the previous content of the buffers.
  (void)write_trace_file(session.directory_.path("trace"), {});
  session.pipe_ = Fd(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (session.pipe_.valid()) return session;
  return fail(
      errno == EBUSY ? ErrorCode::kFailed : ErrorCode::kPermission, "{}: {}: {}", pipe,
      std::strerror(errno),
      errno == EBUSY ? "another process is reading it" : "tracefs must be readable: try sudo");
}

Result<> FtraceSession::set_enabled(bool enabled) {
  std::string path = directory_.path("tracing_on");
  int error = write_trace_file(path, {enabled ? "1" : "0"});
  if (error == 0) return {};
  return fail(ErrorCode::kIo, "{}: cannot be written to: {}", path, std::strerror(error));
}

std::string FtraceSession::heading() const {
  constexpr size_t kMaxLength = 1 << 20;
  return read_file(directory_.path("trace"), kMaxLength).value_or("");
}

std::string_view FtraceSession::read() {
  ssize_t got;
  do {
    got = ::read(pipe_.get(), buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  return got > 0 ? std::string_view(buffer_).substr(0, static_cast<size_t>(got))
                 : std::string_view();
}

std::string FtraceSession::interrupted() const {
  if (!directory_.is_shared()) return {};
  for (const TraceChanges::Change& change : changes_.changes())
    if (change.path.ends_with("/current_tracer"))
      return change.before.empty() || change.before[0] == "nop" ? std::string() : change.before[0];
  return {};
}

}  // namespace sonde
