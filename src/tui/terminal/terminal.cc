#include "tui/terminal/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>

#include "tui/terminal/terminal_state.h"

namespace sonde::tui {
namespace {

/// How long the rest of a sequence may take after its ESC. Slow lines need some time.
constexpr int kEscapeWait_ms = 40;

}  // namespace

bool can_show(int out_fd, const Variables& variable) {
  auto term = variable("TERM");
  return ::isatty(out_fd) != 0 && term && *term != "dumb" && *term != "unknown";
}

Terminal::Terminal(Sink& out, int in_fd, int out_fd, const Variables& variable)
    : out_(out),
      in_fd_(in_fd),
      out_fd_(out_fd),
      colors_(color_depth(variable)),
      writer_(colors_, speaks_utf8(variable)) {}

Result<std::unique_ptr<Terminal>> Terminal::open(Sink& out, int in_fd, int out_fd,
                                                 const Variables& variable) {
  out.flush();
  TRY(take_terminal(in_fd, out_fd));
  return std::unique_ptr<Terminal>(new Terminal(out, in_fd, out_fd, variable));
}

Terminal::~Terminal() {
  out_.flush();
  give_terminal_back();
}

Terminal::Size Terminal::size() const {
  winsize size{};
  if (::ioctl(out_fd_, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
    return {size.ws_row, size.ws_col};
  return {24, 80};
}

int Terminal::signal_fd() const {
  return signal_pipe();
}

void Terminal::show(Grid grid) {
  out_.write_as_is(writer_.update(std::move(grid)));
  out_.flush();
}

void Terminal::suspend() {
  out_.flush();
  leave_for_stop();
  struct sigaction action{}, ours{};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGTSTP, &action, &ours);
  ::kill(0, SIGTSTP);  // the whole job, as the terminal would
  ::sigaction(SIGTSTP, &ours, nullptr);
  come_back();
  writer_.forget();
}

void Terminal::take_signals(Events& events) {
  char numbers[64];
  ssize_t count = ::read(signal_pipe(), numbers, sizeof numbers);
  for (ssize_t i = 0; i < count; ++i) {
    if (numbers[i] == SIGTSTP) suspend();
    if (numbers[i] == SIGTSTP || numbers[i] == SIGWINCH)
      events.must_redraw = true;
    else
      events.ended = true;
  }
}

void Terminal::take_keys(Events& events) {
  char bytes[4096];
  ssize_t count = ::read(in_fd_, bytes, sizeof bytes);
  if (count <= 0) {
    events.ended = true;  // on a live terminal, poll reports only what can be read
    return;
  }
  events.keys = decoder_.take({bytes, static_cast<size_t>(count)});
  while (decoder_.waits()) {
    pollfd more{in_fd_, POLLIN, 0};
    if (::poll(&more, 1, kEscapeWait_ms) <= 0) {
      for (const Key& key : decoder_.finalize()) events.keys.push_back(key);
      break;
    }
    count = ::read(in_fd_, bytes, sizeof bytes);
    if (count <= 0) break;
    for (const Key& key : decoder_.take({bytes, static_cast<size_t>(count)}))
      events.keys.push_back(key);
  }
  std::erase_if(events.keys, [&](const Key& key) {
    if (!key.is_control('z')) return false;
    suspend();
    events.must_redraw = true;
    return true;
  });
}

Terminal::Events Terminal::wait(int timeout_ms, int other_fd) {
  Events events;
  pollfd sources[] = {{in_fd_, POLLIN, 0}, {signal_pipe(), POLLIN, 0}, {other_fd, POLLIN, 0}};
  int ready = ::poll(sources, 3, timeout_ms);
  events.other = ready > 0 && sources[2].revents != 0;
  if (ready > 0 && sources[1].revents != 0) take_signals(events);
  if (ready > 0 && sources[0].revents != 0) take_keys(events);
  if (out_.failed() != 0) events.ended = true;
  return events;
}

}  // namespace sonde::tui
