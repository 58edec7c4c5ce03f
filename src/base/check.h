// CHECK: a condition that only a bug of ours can break. It prints the condition and aborts, in
// every build.
#pragma once

namespace sonde {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace sonde

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      ::sonde::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
