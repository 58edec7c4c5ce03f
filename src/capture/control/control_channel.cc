#include "capture/control/control_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace sonde {
namespace {

std::optional<int> parse_fd(std::string_view text) {
  std::optional<uint64_t> number = parse_number(text);
  if (!number || *number > INT32_MAX) return std::nullopt;
  return static_cast<int>(*number);
}

Result<Fd> open_fifo(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid())
    return fail(ErrorCode::kFailed, "Failed to open '{}': {}", path, std::strerror(errno));
  return fd;
}

}  // namespace

Result<ControlOptions> parse_control(std::string_view text) {
  auto wrong = [&] {
    return fail(ErrorCode::kUsage,
                "Invalid --control '{}': expected fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]",
                text);
  };
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong();
  std::vector<std::string_view> parts = split(text.substr(colon + 1), ',');
  if (parts.empty() || parts.size() > 2 || parts[0].empty()) return wrong();
  ControlOptions options;
  if (text.starts_with("fifo:")) {
    options.fifo = parts[0];
    if (parts.size() == 2) options.ack_fifo = parts[1];
    return options;
  }
  if (!text.starts_with("fd:")) return wrong();
  std::optional<int> fd = parse_fd(parts[0]);
  std::optional<int> ack = parts.size() == 2 ? parse_fd(parts[1]) : std::optional<int>(-1);
  if (!fd || !ack) return wrong();
  options.fd = *fd;
  options.ack_fd = *ack;
  return options;
}

Result<ControlChannel> ControlChannel::open(const ControlOptions& options) {
  ControlChannel channel;
  channel.fd_ = options.fd;
  channel.ack_fd_ = options.ack_fd;
  if (!options.fifo.empty()) {
    channel.own_ = TRY(open_fifo(options.fifo));
    channel.fd_ = channel.own_.get();
  }
  if (!options.ack_fifo.empty()) {
    channel.own_ack_ = TRY(open_fifo(options.ack_fifo));
    channel.ack_fd_ = channel.own_ack_.get();
  }
  if (::fcntl(channel.fd_, F_GETFD) < 0)
    return fail(ErrorCode::kFailed, "--control: {} is not an open descriptor", channel.fd_);
  return channel;
}

std::optional<ControlChannel::Command> ControlChannel::next() {
  while (true) {
    if (size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return parse_control_command(line);
    }
    // The descriptor is the user's and may block, so it is read only if there is data.
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0) return take_unended();
    char buffer[512];
    ssize_t got = ::read(fd_, buffer, sizeof buffer);
    if (got <= 0) {
      ended_ = got == 0 || (errno != EINTR && errno != EAGAIN);
      return std::nullopt;
    }
    pending_.append(buffer, static_cast<size_t>(got));
    constexpr size_t kMaxLineLength = 64 * 1024;
    if (pending_.size() > kMaxLineLength) pending_.clear();
  }
}

std::optional<ControlChannel::Command> ControlChannel::take_unended() {
  if (pending_.empty()) return std::nullopt;
  Command command = parse_control_command(pending_);
  if (command.kind == Command::Kind::kUnknown) return std::nullopt;
  pending_.clear();
  return command;
}

void ControlChannel::acknowledge() {
  if (ack_fd_ < 0) return;
  constexpr std::string_view kAck = "ack\n";
  [[maybe_unused]] ssize_t told = ::write(ack_fd_, kAck.data(), kAck.size());
}

ControlChannel::Command parse_control_command(std::string_view line) {
  using Kind = ControlChannel::Command::Kind;
  line = trim(line);
  size_t blank = line.find(' ');
  std::string_view verb = line.substr(0, blank);
  std::string argument(blank == std::string_view::npos ? "" : trim(line.substr(blank + 1)));
  Kind kind = verb == "enable"     ? Kind::kEnable
              : verb == "disable"  ? Kind::kDisable
              : verb == "evlist"   ? Kind::kEventList
              : verb == "snapshot" ? Kind::kSnapshot
              : verb == "ping"     ? Kind::kPing
              : verb == "stop"     ? Kind::kStop
                                   : Kind::kUnknown;
  return {kind, std::move(argument), std::string(line)};
}

}  // namespace sonde
