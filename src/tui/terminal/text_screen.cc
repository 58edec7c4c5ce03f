#include "tui/terminal/text_screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"

namespace sonde::tui {
namespace {

constexpr size_t kHeadingLines = 3, kFooterLines = 1;
constexpr size_t kRowsInPipe = 20;
constexpr Escape kHome{"\033[H"}, kToEndOfLine{"\033[K"}, kToEndOfScreen{"\033[J"};

}  // namespace

std::string cut_line(std::string_view line, size_t width) {
  std::string kept;
  size_t shown = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {  // a colour, up to its m: takes no space
      size_t end = line.find('m', i);
      if (end == std::string_view::npos) break;
      kept += line.substr(i, end + 1 - i);
      i = end;
      continue;
    }
    bool continues_character = (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
    if (!continues_character && shown++ >= width) continue;
    if (shown <= width) kept += line[i];
  }
  return kept;
}

KeyInput::KeyInput(int fd) : fd_(fd) {
  termios settings{};
  if (::isatty(fd) == 0 || ::tcgetattr(fd, &settings) != 0) return;
  before_ = settings;
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  if (::tcsetattr(fd, TCSANOW, &settings) != 0) before_.reset();
}

KeyInput::~KeyInput() {
  if (before_) (void)::tcsetattr(fd_, TCSANOW, &*before_);
}

std::string KeyInput::read() {
  char keys[64];
  ssize_t count = ::read(fd_, keys, sizeof keys);
  return count > 0 ? std::string(keys, static_cast<size_t>(count)) : std::string();
}

TextScreen::TextScreen(Sink& out, int out_fd)
    : out_(out), out_fd_(out_fd), is_terminal_(out.is_terminal()) {
  if (is_terminal_) out_.print("{}{}", kHome, kToEndOfScreen);
}

std::pair<size_t, size_t> TextScreen::size() const {
  winsize size{};
  if (::ioctl(out_fd_, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
    return {size.ws_row, size.ws_col};
  return {24, 80};
}

size_t TextScreen::room() const {
  if (!is_terminal_) return kRowsInPipe;
  size_t lines = size().first;
  return lines > kHeadingLines + kFooterLines ? lines - kHeadingLines - kFooterLines : 1;
}

void TextScreen::show(StringSink& screen, std::string_view footer) {
  if (!is_terminal_) {
    out_.write(screen);
    out_.put('\n');
    out_.flush();
    return;
  }
  auto [lines, columns] = size();
  out_.write(kHome);
  size_t room = lines - (footer.empty() ? 0 : kFooterLines);
  CHECK(screen.is_shown());
  std::vector<std::string_view> all = split(screen.text(), '\n');
  if (!all.empty() && all.back().empty()) all.pop_back();
  for (size_t i = 0; i < std::min(all.size(), room); ++i) {
    if (i > 0) out_.put('\n');
    out_.write_as_is(cut_line(all[i], columns));
    out_.write(kToEndOfLine);
  }
  out_.write(kToEndOfScreen);
  show_footer(footer);
}

void TextScreen::show_footer(std::string_view footer) {
  auto [lines, columns] = size();
  if (is_terminal_ && !footer.empty())
    out_.print("\033[{};1H{}{}", lines, cut_line(footer, columns - 1), kToEndOfLine);
  out_.flush();
}

void TextScreen::leave() {
  if (!is_terminal_) return;
  out_.print("\033[{};1H\n", size().first);
  out_.flush();
}

}  // namespace sonde::tui
