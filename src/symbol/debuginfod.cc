#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace sonde {
namespace {

constexpr const char* kLibrary = "libdebuginfod.so.1";

/// As debuginfod_find_debuginfo(3) declares them.
struct Library {
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
  using Find = int (*)(void* client, const unsigned char* build_id, int build_id_size, char** path);
  Find find_debug_info = nullptr, find_executable = nullptr;

  [[nodiscard]] bool complete() const {
    return begin != nullptr && end != nullptr && find_debug_info != nullptr &&
           find_executable != nullptr;
  }
};

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

/// Loading it again costs only a lookup in the linker's list.
Library load() {
  Library library;
  void* handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return library;
  find(handle, "debuginfod_begin", library.begin);
  find(handle, "debuginfod_end", library.end);
  find(handle, "debuginfod_find_debuginfo", library.find_debug_info);
  find(handle, "debuginfod_find_executable", library.find_executable);
  return library;
}

}  // namespace

bool debuginfod_is_installed() {
  return load().complete();
}

Result<> start_debuginfod(const std::string& urls) {
  if (!urls.empty() && urls != "system") ::setenv("DEBUGINFOD_URLS", urls.c_str(), 1);
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0')
    return fail(ErrorCode::kUsage,
                "--debuginfod: no servers: give their URLs, or set DEBUGINFOD_URLS");
  if (!load().complete())
    return fail(ErrorCode::kUnsupported, "--debuginfod: {} was not found: install it", kLibrary);
  return {};
}

std::string fetch_from_debuginfod(std::string_view build_id, DebuginfodFile what) {
  Library library = load();
  if (!library.complete()) return {};
  void* client = library.begin();
  if (client == nullptr) return {};
  Library::Find find =
      what == DebuginfodFile::kDebugInfo ? library.find_debug_info : library.find_executable;
  char* found = nullptr;
  Fd fd(find(client, reinterpret_cast<const unsigned char*>(build_id.data()),
             static_cast<int>(build_id.size()), &found));
  library.end(client);
  std::string path = found == nullptr ? std::string() : std::string(found);
  std::free(found);
  return fd.valid() ? path : std::string();
}

}  // namespace sonde
