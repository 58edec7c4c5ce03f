#include "tui/terminal/browser_terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace sonde {
namespace {

tui::Variables variables_of(const Env& env) {
  return [&env](std::string_view name) { return env.variable(name); };
}

}  // namespace

bool can_browse(const Env& env) {
  return env.out_fd >= 0 && env.out.is_terminal() && tui::can_show(env.out_fd, variables_of(env));
}

Result<BrowserTerminal> BrowserTerminal::open(Env& env) {
  Fd keys(::isatty(env.in_fd) != 0 ? ::dup(env.in_fd) : ::open("/dev/tty", O_RDONLY | O_CLOEXEC));
  auto terminal = TRY(tui::Terminal::open(env.out, keys.get(), env.out_fd, variables_of(env)));
  return BrowserTerminal(std::move(keys), std::move(terminal));
}

}  // namespace sonde
