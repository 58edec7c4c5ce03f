#include "base/memory_shortage.h"

#include <unistd.h>

#include <cstdlib>

namespace sonde {
namespace {

constexpr int kFailed = 255;
constexpr std::string_view kLastWords =
    "out of memory: the command cannot go on; give it more (ulimit -v, the container's limit), or "
    "less to do\n";

/// Whether the exception that is being handled says that memory, or threads, are short.
bool is_shortage() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const std::length_error&) {
    return true;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::resource_unavailable_try_again ||
           error.code() == std::errc::not_enough_memory;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void end_or_abort() {
  if (std::current_exception() != nullptr && is_shortage()) {
    [[maybe_unused]] ssize_t told = ::write(STDERR_FILENO, kLastWords.data(), kLastWords.size());
    ::_exit(kFailed);
  }
  std::abort();
}

}  // namespace

Error memory_shortage(std::string_view what) {
  return {
      ErrorCode::kFailed,
      fmt::format("out of memory{}{}: give the command more (ulimit -v, the container's limit), "
                  "or less to do: a shorter time (--time), fewer threads, a smaller recording",
                  what.empty() ? "" : " for ", what)};
}

Error shortage_being_handled(std::string_view what) {
  if (!is_shortage()) throw;
  return memory_shortage(what);
}

void end_quietly_without_memory() {
  std::set_terminate(end_or_abort);
}

}  // namespace sonde
