// What Sonde, and the libraries that are linked into it, use of the C library beyond glibc 2.31,
// for the program of ./dev tarball. Linked in instead of libc's; nothing here is visible to other
// objects of the process.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define SONDE_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

// libstdc++ uses plain instructions for reference counts while this is set (2.32).
SONDE_HIDDEN extern char __libc_single_threaded;
char __libc_single_threaded = 0;

// 2.34; close_range(2).
SONDE_HIDDEN int close_range(unsigned first, unsigned last, int flags) noexcept {
  return static_cast<int>(::syscall(SYS_close_range, first, last, flags));
}

// 2.32: "ENOENT"; a null pointer for other numbers.
SONDE_HIDDEN const char* strerrorname_np(int number) noexcept {
  switch (number) {
    case 0:
      return "0";
#define ERRNO_NAME(name) \
  case name:             \
    return #name;
#include "errno_names.def"
#undef ERRNO_NAME
    default:
      return nullptr;
  }
}

// 2.32: strerror(3)'s text, untranslated; a null pointer for other numbers.
SONDE_HIDDEN const char* strerrordesc_np(int number) noexcept {
  static const locale_t c_locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return strerrorname_np(number) == nullptr ? nullptr : ::strerror_l(number, c_locale);
}

// 2.36; std::random_device calls it. The kernel is as old as the distribution, but has had
// getrandom(2) since 3.17.
SONDE_HIDDEN uint32_t arc4random() noexcept {
  uint32_t value = 0;
  while (::syscall(SYS_getrandom, &value, sizeof value, 0) != static_cast<long>(sizeof value)) {
    if (errno != EINTR) __builtin_trap();
  }
  return value;
}

}  // extern "C"
