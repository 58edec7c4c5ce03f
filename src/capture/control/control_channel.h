// ControlChannel: --control. Another process writes commands, one per line, to a descriptor or
// FIFO; "ack\n" is sent back when a command is done.
//
//   enable [NAME] · disable [NAME] · evlist [-v|-g|-F] · snapshot · ping · stop
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// "fd:N[,N]" or "fifo:PATH[,PATH]". Error: kUsage.
Result<ControlOptions> parse_control(std::string_view text);

class ControlChannel {
 public:
  struct Command {
    enum class Kind : uint8_t { kEnable, kDisable, kEventList, kSnapshot, kPing, kStop, kUnknown };
    Kind kind = Kind::kUnknown;
    std::string argument;
    std::string text;  // the line itself
  };

  static Result<ControlChannel> open(const ControlOptions& options);

  [[nodiscard]] int fd() const { return fd_; }
  /// The next complete command that has arrived.
  std::optional<Command> next();
  void acknowledge();
  /// Whether the other side has closed for good.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  ControlChannel() = default;
  /// perf's daemon writes a command at once and without a newline.
  std::optional<Command> take_unended();

  Fd own_, own_ack_;  // if we opened FIFOs
  int fd_ = -1;
  int ack_fd_ = -1;
  std::string pending_;
  bool ended_ = false;
};

ControlChannel::Command parse_control_command(std::string_view line);

}  // namespace sonde
