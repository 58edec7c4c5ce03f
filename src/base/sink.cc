#include "base/sink.h"

#include <unistd.h>

#include <cerrno>

#include "base/printing/printable.h"

namespace sonde {

void Sink::write_shown(std::string_view text) {
  bool has_end = text.ends_with('\n');
  if (has_end) text.remove_suffix(1);
  if (printable_prefix(text, "\t") == text.size())
    write_as_is(text);
  else
    write_as_is(printable(text, "\t"));
  if (has_end) write_as_is("\n");
}

void Sink::write_lines(std::string_view lines) {
  if (!is_shown_ || printable_prefix(lines, "\n\t") == lines.size()) return write_as_is(lines);
  write_as_is(printable(lines, "\n\t"));
}

void Sink::write(StringSink& made) {
  if (is_shown_ && !made.is_shown()) return write_lines(made.text());
  write_as_is(made.text());
}

void Sink::print_args(fmt::string_view format, fmt::format_args args) {
  auto make_printable = [](std::string_view text, std::string& replacement) {
    if (printable_prefix(text, "\t") == text.size()) return false;
    append_printable(replacement, text, "\t");
    return true;
  };
  if (is_shown_) [[unlikely]]
    return write_as_is(format_with_rule(format, args, make_printable));
  fmt::vformat_to(fmt::appender(buffer_), format, args);
  if (buffer_.size() > kBufferSize) flush_buffer();
}

FdSink::FdSink(int fd) : Sink(::isatty(fd) == 1), fd_(fd) {}

bool FdSink::is_terminal() const {
  return ::isatty(fd_) == 1;
}

void FdSink::emit(std::string_view text) {
  while (!text.empty() && errno_ == 0) {
    ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0) {
      if (errno != EINTR) errno_ = errno;
      continue;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace sonde
