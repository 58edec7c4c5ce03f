// Errors: what the user must know, and what stops the work.
//
// Three things can go wrong and they are never mixed. An *Error* stops the work and is reported in
// one sentence (object, cause, remedy); it travels as std::expected. A *Loss* (loss.h) is imperfect
// input: the work goes on, it is counted, and every command reports its losses at the end. A
// *CHECK* (check.h) is our own bug.
//
// A message quotes names from outside; their line ends become U+FFFD, so that none looks like a
// line of ours. An Error among the arguments stands for its message, with the lines that it has.
//
//   Result<Header> read_header(const Path& p) {
//     MappedFile file = TRY(MappedFile::open(p));
//     if (file.size() < 8)
//       return fail(ErrorCode::kCorrupt, "{}: too short for a perf.data header", p);
//     ...
//   }
#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace sonde {

/// What the caller can do about an error; it also decides the exit status (see `exit_status`).
enum class ErrorCode {
  kUsage,        // the command line is wrong: usage is shown, exit 129
  kBadEvent,     // an event that cannot be parsed or does not exist, exit 129
  kNotFound,     // a file, process or object does not exist
  kPermission,   // a privilege is missing; the message names the sysctl or capability
  kUnsupported,  // the kernel, the hardware or the input's version cannot do it
  kCorrupt,      // the bytes are not what they claim to be
  kIo,           // a system call failed for reasons beyond our control (disk full, broken pipe …)
  kFailed,       // anything else that stops the work
};

struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string message;  // no trailing newline; may have several lines if perf's has
};

template <typename T = void>
using Result = std::expected<T, Error>;

/// A text from outside as messages quote it: each of its line ends is U+FFFD.
[[nodiscard]] std::string one_line(std::string_view text);

namespace detail {
[[nodiscard]] std::string message_text(fmt::string_view format, fmt::format_args args);
}  // namespace detail

/// The text of a message, or a part of it: texts among the arguments are one line.
template <typename... Args>
[[nodiscard]] std::string error_message(fmt::format_string<Args...> format, Args&&... args) {
  return detail::message_text(format, fmt::make_format_args(args...));
}

template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format,
                                          Args&&... args) {
  return std::unexpected(Error{code, error_message(format, std::forward<Args>(args)...)});
}

/// perf's conventions: 129 for usage and bad events, 255 for every other failure.
[[nodiscard]] constexpr int exit_status(ErrorCode code) {
  return code == ErrorCode::kUsage || code == ErrorCode::kBadEvent ? 129 : 255;
}

namespace detail {
template <typename T>
T take(std::expected<T, Error>& result) {
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace detail

}  // namespace sonde

template <>
struct fmt::formatter<sonde::Error> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const sonde::Error& error, Context& context) const {
    return fmt::formatter<std::string_view>::format(error.message, context);
  }
};

/// Evaluates a Result; yields its value, or returns its error from the enclosing function.
#define TRY(expression)                                       \
  ({                                                          \
    auto try_result_ = (expression);                          \
    if (!try_result_) [[unlikely]]                            \
      return std::unexpected(std::move(try_result_).error()); \
    ::sonde::detail::take(try_result_);                       \
  })
