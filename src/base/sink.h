// Sink: a buffered output stream that is passed to a command. Nothing below `cmd` opens one itself.
//
//   Sink& out = env.out;
//   out.write("plain");
//   out.print("{:6.2f}%  {}\n", percent, name);
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

class Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view text) {
    if (buffer_.size() + text.size() > kBufferSize) {
      flush_buffer();
      if (text.size() >= kBufferSize) return emit(text);
    }
    buffer_.append(text.data(), text.data() + text.size());
  }
  void put(char c) { write({&c, 1}); }
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(fmt::appender(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > kBufferSize) flush_buffer();
  }
  /// Passes everything to the operating system.
  void flush() { flush_buffer(); }
  /// 0, or the errno of the first write that failed.
  [[nodiscard]] virtual int failed() const { return 0; }
  [[nodiscard]] virtual bool is_terminal() const { return false; }

 protected:
  virtual void emit(std::string_view text) = 0;
  void flush_buffer() {
    if (buffer_.size() == 0) return;
    emit({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  static constexpr size_t kBufferSize = 256 * 1024;
  fmt::basic_memory_buffer<char, 1024> buffer_;
};

/// Writes to a file descriptor that it does not own.
class FdSink final : public Sink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
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
