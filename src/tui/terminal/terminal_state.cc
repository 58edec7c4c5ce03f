#include "tui/terminal/terminal_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace sonde::tui {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?1000h\033[?1006h";
constexpr std::string_view kLeave = "\033[0m\033[?1006l\033[?1000l\033[?25h\033[?1049l";

constexpr auto kTold = std::to_array({SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP});
constexpr auto kDeadly = std::to_array({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT});

struct State {
  bool taken = false;
  int in_fd = -1, out_fd = -1;
  int pipe[2] = {-1, -1};
  termios before{}, during{};
  struct sigaction old_told[kTold.size()];
  struct sigaction old_deadly[kDeadly.size()];
};
State state;

void write_all(std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::write(state.out_fd, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

void tell(int number) {
  int saved = errno;
  auto byte = static_cast<char>(number);
  (void)!::write(state.pipe[1], &byte, 1);
  errno = saved;
}

/// Only async-signal-safe calls (signal-safety(7)).
void die(int number) {
  write_all(kLeave);
  (void)::tcsetattr(state.in_fd, TCSANOW, &state.before);
  (void)::signal(number, SIG_DFL);
  (void)::raise(number);
}

void install() {
  struct sigaction action{};
  sigemptyset(&action.sa_mask);
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kTold.size(); ++i) ::sigaction(kTold[i], &action, &state.old_told[i]);
  action.sa_handler = die;
  action.sa_flags = SA_NODEFER | static_cast<int>(SA_RESETHAND);
  for (size_t i = 0; i < kDeadly.size(); ++i)
    ::sigaction(kDeadly[i], &action, &state.old_deadly[i]);
}

void uninstall() {
  for (size_t i = 0; i < kTold.size(); ++i) ::sigaction(kTold[i], &state.old_told[i], nullptr);
  for (size_t i = 0; i < kDeadly.size(); ++i)
    ::sigaction(kDeadly[i], &state.old_deadly[i], nullptr);
}

termios raw_settings(termios settings) {
  settings.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  return settings;
}

}  // namespace

Result<> take_terminal(int in_fd, int out_fd) {
  state.in_fd = in_fd;
  state.out_fd = out_fd;
  if (::tcgetattr(in_fd, &state.before) != 0)
    return fail(ErrorCode::kIo, "cannot read keys: standard input is not a terminal; use --stdio");
  if (::pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(ErrorCode::kIo, "cannot make a pipe: {}", std::strerror(errno));
  state.during = raw_settings(state.before);
  install();
  state.taken = true;
  come_back();
  return {};
}

void give_terminal_back() {
  if (!state.taken) return;
  leave_for_stop();
  uninstall();
  state.taken = false;
  ::close(state.pipe[0]);
  ::close(state.pipe[1]);
}

void leave_for_stop() {
  write_all(kLeave);
  (void)::tcsetattr(state.in_fd, TCSADRAIN, &state.before);
}

void come_back() {
  (void)::tcsetattr(state.in_fd, TCSADRAIN, &state.during);
  write_all(kEnter);
}

int signal_pipe() {
  return state.pipe[0];
}

}  // namespace sonde::tui
