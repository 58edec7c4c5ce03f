// Sink: a buffered output stream that is passed to a command. Nothing below `cmd` opens one itself.
//
//   Sink& out = env.out;
//   out.write("plain");
//   out.print("{:6.2f}%  {}\n", percent, name);
//
// If a terminal shows what is written (also through a pager), nothing from outside steers it:
// format strings and literals are ours and pass as they are; in every text that comes with them,
// what steers terminals becomes U+FFFD (base/printing/printable.h), line ends included, so that no
// name forges a row. Text that was joined before is one line (`write`), or lines of ours
// (`write_lines`). Escape sequences of ours have a type, Escape. A pipe or file gets the bytes.
//
// A vanished reader (closed pipe) or a full disk does not throw: the sink remembers the errno and
// drops further output; the command checks `failed()` at the end, or earlier to stop useless work.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace sonde {

class StringSink;

/// An escape sequence of our own.
struct Escape {
  std::string_view sequence;
  [[nodiscard]] constexpr bool empty() const { return sequence.empty(); }
  [[nodiscard]] constexpr size_t size() const { return sequence.size(); }
};

class Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// A piece of one line, with its end or without: other line ends in it are not ours.
  void write(std::string_view text) {
    if (is_shown_) [[unlikely]]
      return write_shown(text);
    write_as_is(text);
  }
  template <size_t kSize>
  void write(const char (&literal)[kSize]) {
    write_as_is({literal, kSize - 1});
  }
  template <size_t kSize>
  void write(char (&)[kSize]) = delete;  // no literal
  void write(Escape escape) { write_as_is(escape.sequence); }
  /// Lines whose ends are ours: names in them are printable, or cannot contain any.
  void write_lines(std::string_view lines);
  /// What was written to another sink; one for this terminal if this one is.
  void write(StringSink& made);
  /// Text in which everything from outside has already been made printable.
  void write_as_is(std::string_view text) {
    if (buffer_.size() + text.size() > kBufferSize) {
      flush_buffer();
      if (text.size() >= kBufferSize) return emit(text);
    }
    buffer_.append(text.data(), text.data() + text.size());
  }
  void put(char c) { write({&c, 1}); }
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    print_args(format, fmt::make_format_args(args...));
  }
  /// Whether a terminal shows this.
  [[nodiscard]] bool is_shown() const { return is_shown_; }
  /// Passes everything to the operating system.
  void flush() { flush_buffer(); }
  /// 0, or the errno of the first write that failed.
  [[nodiscard]] virtual int failed() const { return 0; }
  [[nodiscard]] virtual bool is_terminal() const { return false; }

 protected:
  explicit Sink(bool is_shown) : is_shown_(is_shown) {}
  virtual void emit(std::string_view text) = 0;
  void flush_buffer() {
    if (buffer_.size() == 0) return;
    emit({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  void write_shown(std::string_view text);
  void print_args(fmt::string_view format, fmt::format_args args);

  static constexpr size_t kBufferSize = 256 * 1024;
  fmt::basic_memory_buffer<char, 1024> buffer_;
  bool is_shown_ = false;
};

/// Writes to a file descriptor that it does not own.
class FdSink final : public Sink {
 public:
  explicit FdSink(int fd);
  ~FdSink() override { flush_buffer(); }
  [[nodiscard]] int failed() const override { return errno_; }
  [[nodiscard]] bool is_terminal() const override;

 protected:
  void emit(std::string_view text) override;

 private:
  int fd_;
  int errno_ = 0;
};

/// Collects everything in a string; for tests and for text that is assembled before it is shown.
class StringSink final : public Sink {
 public:
  StringSink() = default;
  /// For text that goes to `destination` with `write(StringSink&)`.
  explicit StringSink(const Sink& destination) : StringSink(destination.is_shown()) {}
  explicit StringSink(bool is_shown) : Sink(is_shown) {}
  [[nodiscard]] const std::string& text() {
    flush_buffer();
    return text_;
  }

 protected:
  void emit(std::string_view text) override { text_.append(text); }

 private:
  std::string text_;
};

}  // namespace sonde

template <>
struct fmt::formatter<sonde::Escape> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(sonde::Escape escape, Context& context) const {
    return fmt::formatter<std::string_view>::format(escape.sequence, context);
  }
};
