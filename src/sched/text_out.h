// TextOut: lines assembled from fixed columns, for tables of millions of lines. A number costs a
// few nanoseconds, since no format is interpreted; whole buffers go to the sink. Of texts, only
// literals may have line ends of ours inside, as in sinks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/sink.h"

namespace sonde {

class TextOut {
 public:
  explicit TextOut(Sink& sink) : sink_(sink), buffer_(std::make_unique<char[]>(kSize)) {}
  ~TextOut() { flush(); }
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;

  void put(char c) { *room(1) = c; }
  template <size_t kSize>
  void put(const char (&literal)[kSize]) {
    append({literal, kSize - 1});
  }
  void put(Escape escape) { append(escape.sequence); }
  void put(std::string_view text) {
    if (sink_.is_shown()) [[unlikely]]
      return put_shown(text);
    append(text);
  }
  void blanks(size_t count) {
    for (; count > kMaxLength; count -= kMaxLength) std::memset(room(kMaxLength), ' ', kMaxLength);
    std::memset(room(count), ' ', count);
  }
  /// Padded with blanks to `width`, after or before the text.
  void left(std::string_view text, size_t width) {
    put(text);
    if (text.size() < width) blanks(width - text.size());
  }
  void right(std::string_view text, size_t width) {
    if (text.size() < width) blanks(width - text.size());
    put(text);
  }
  /// "   123", or "00123" with '0'.
  void number(uint64_t value, size_t width = 0, char fill = ' ') {
    Digits digits(value);
    for (size_t i = digits.size(); i < width; ++i) put(fill);
    put(digits.view());
  }
  /// A thread id as the kernel's pid_t: -1 is a thread that has already lost its own.
  void tid(uint32_t id) {
    if (auto number = static_cast<int32_t>(id); number < 0) {
      put('-');
      this->number(static_cast<uint64_t>(-int64_t{number}));
    } else {
      this->number(id);
    }
  }
  /// A number with a fractional part: "123.456" for 123, 456 and 3 places. `width` is that of the
  /// whole number before the point.
  void fixed(uint64_t whole, uint32_t part, uint32_t places, size_t width) {
    number(whole, width);
    char* at = room(places + 1);
    *at = '.';
    for (uint32_t i = places; i > 0; --i) {
      at[i] = static_cast<char>('0' + part % 10);
      part /= 10;
    }
  }
  /// Seconds with microseconds, from nanoseconds: "13345.911369".
  void seconds(uint64_t time_ns, size_t width) {
    constexpr uint64_t kSecond = 1'000'000'000;
    constexpr size_t kPlaces = 6;
    uint64_t whole = time_ns / kSecond;
    fixed(whole, static_cast<uint32_t>(time_ns % kSecond / 1000), kPlaces, width - kPlaces - 1);
  }
  /// Milliseconds with microseconds and a blank: "12.345 ".
  void milliseconds(uint64_t time_ns, size_t width) {
    constexpr uint64_t kMillisecond = 1'000'000;
    fixed(time_ns / kMillisecond, static_cast<uint32_t>(time_ns % kMillisecond / 1000), 3, width);
    put(' ');
  }
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    flush();
    sink_.print(format, std::forward<Args>(args)...);
  }
  void flush() {
    sink_.write_as_is({buffer_.get(), used_});
    used_ = 0;
  }
  /// Whether the sink has failed, so that further output is pointless.
  [[nodiscard]] bool failed() const { return sink_.failed() != 0; }

 private:
  static constexpr size_t kSize = 64 * 1024, kMaxLength = 4096;

  class Digits {
   public:
    explicit Digits(uint64_t value) {
      do {
        text_[--at_] = static_cast<char>('0' + value % 10);
        value /= 10;
      } while (value != 0);
    }
    [[nodiscard]] size_t size() const { return text_.size() - at_; }
    [[nodiscard]] std::string_view view() const { return {text_.data() + at_, size()}; }

   private:
    std::array<char, 20> text_;  // for 2^64
    size_t at_ = text_.size();
  };

  void append(std::string_view text) {
    if (text.size() > kMaxLength) [[unlikely]]
      return put_long(text);
    std::ranges::copy(text,
                      room(text.size()));  // memcpy takes no null pointer, not even for size 0
  }
  /// Not inlined: g++ 12 would report overreads of short strings that are never long.
  [[gnu::noinline]] void put_long(std::string_view text) {
    flush();
    sink_.write_as_is(text);
  }
  void put_shown(std::string_view text) {
    flush();
    sink_.write(text);
  }
  char* room(size_t size) {
    if (used_ + size > kSize) [[unlikely]]
      flush();
    char* at = buffer_.get() + used_;
    used_ += size;
    return at;
  }

  Sink& sink_;
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;
};

}  // namespace sonde
