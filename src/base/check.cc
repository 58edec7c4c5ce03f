#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sonde {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "sonde: internal error: %s is false (%s:%d). This is a bug of ours.\n",
               condition, file, line);
  std::abort();
}

}  // namespace sonde
