#include "etm/opencsd_library.h"

#include <dlfcn.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// OpenCSD 1.3 never frees the callback that it is given: 32 bytes for each decoder.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:ocsd_dt_set_gen_elem_outfn";
}
extern "C" const char* __lsan_default_options() {
  return "print_suppressions=0";
}
#endif
#endif

namespace sonde::etm {
namespace {

constexpr const char* kLibraryFile = "libopencsd_c_api.so.1";

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

OpencsdLibrary open_library(bool& is_complete) {
  OpencsdLibrary library;
  void* handle = ::dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  is_complete = handle != nullptr;
  if (!is_complete) return library;
#define SONDE_OPENCSD_FUNCTION(name) is_complete &= find(handle, "ocsd_" #name, library.name);
#include "etm/opencsd_functions.def"
#undef SONDE_OPENCSD_FUNCTION
  return library;
}

}  // namespace

Result<const OpencsdLibrary*> OpencsdLibrary::load() {
  static bool is_complete = false;
  static const OpencsdLibrary library = open_library(is_complete);
  if (!is_complete)
    return fail(ErrorCode::kUnsupported,
                "CoreSight traces: {} was not found: install OpenCSD (Debian: libopencsd1)",
                kLibraryFile);
  return &library;
}

}  // namespace sonde::etm
