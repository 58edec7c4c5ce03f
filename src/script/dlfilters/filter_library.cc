#include "script/dlfilters/filter_library.h"

#include <dlfcn.h>
#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/files/regular_file.h"
#include "base/foreign/found_code.h"
#include "script/dlfilters/foreign_call.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

std::string found_file(std::string_view name, const std::string& exec_path) {
  std::string given(name);
  if (name.find('/') != std::string_view::npos) return given;
  std::error_code ignored;
  for (const std::string& path : {"./" + given, exec_path + "/dlfilters/" + given})
    if (fs::exists(path, ignored)) return path;
  return given;
}

/// Loading runs the object's constructors.
void* open_library(const std::string& path, int flags, const std::string& shown) {
  ForeignCall call(shown, "its initialization");
  return ::dlopen(path.c_str(), flags);
}

template <typename Function>
void look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

/// dlopen's message begins with the name of the object.
std::string why_not_loaded(const std::string& path) {
  const char* error = ::dlerror();
  std::string text = error == nullptr ? "unknown error" : error;
  return text.starts_with(path) ? text : fmt::format("{}: {}", path, text);
}

/// `opened`: stays open as long as its objects are loaded, because the dynamic linker knows them by
/// the numbers of their descriptors.
void list_directory(const std::string& directory, std::vector<Fd>& opened,
                    std::vector<FilterDescription>& filters) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored))
    if (entry.path().extension() == ".so") files.push_back(entry.path().filename());
  std::ranges::sort(files);
  for (const std::string& file : files) {
    std::string path = directory;
    path.append("/").append(file);
    // Nobody asked for this one by its name.
    Result<Fd> found = open_regular(path);
    if (!found) {
      filters.push_back({file, "(not loaded: no regular file that can be read)", ""});
      continue;
    }
    if (!is_only_ours(found->get())) {
      filters.push_back({file, "(not loaded: others can have written it)", ""});
      continue;
    }
    std::string checked = fmt::format("/proc/self/fd/{}", found->get());
    opened.push_back(*std::move(found));
    void* library = open_library(checked, RTLD_LAZY | RTLD_LOCAL, path);
    if (library == nullptr) continue;
    const char* (*describe)(const char**) = nullptr;
    look_up(library, "filter_description", describe);
    if (describe != nullptr) {
      const char* details = nullptr;
      ForeignCall call(path, "filter_description");
      const char* line = describe(&details);
      if (line != nullptr) filters.push_back({file, line, details == nullptr ? "" : details});
    }
    ::dlclose(library);
  }
}

}  // namespace

Result<FilterLibrary> FilterLibrary::load(std::string_view name, const std::string& exec_path) {
  std::string path = found_file(name, exec_path);
  void* handle = open_library(path, RTLD_NOW | RTLD_LOCAL, path);
  if (handle == nullptr)
    return fail(ErrorCode::kNotFound,
                "{}: --dlfilter needs a shared object (gcc -shared -fPIC -o NAME.so NAME.c); "
                "--list-dlfilters lists those that there are",
                why_not_loaded(path));
  FilterLibrary filter(std::move(path), handle);
  look_up(handle, "start", filter.start);
  look_up(handle, "stop", filter.stop);
  look_up(handle, "filter_event", filter.filter_event);
  look_up(handle, "filter_event_early", filter.filter_event_early);
  filter.functions = static_cast<perf_dlfilter_fns*>(::dlsym(handle, "perf_dlfilter_fns"));
  if (filter.filter_event == nullptr && filter.filter_event_early == nullptr)
    return fail(ErrorCode::kFailed,
                "{}: is not a filter: it has neither filter_event nor filter_event_early; in C++ "
                "declare them extern \"C\"",
                filter.path());
  return filter;
}

FilterLibrary::FilterLibrary(FilterLibrary&& other) noexcept
    : start(other.start),
      stop(other.stop),
      filter_event(other.filter_event),
      filter_event_early(other.filter_event_early),
      functions(other.functions),
      path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, nullptr)) {}

FilterLibrary::~FilterLibrary() {
  if (handle_ == nullptr) return;
  ForeignCall call(path_, "its termination");
  ::dlclose(handle_);
}

std::vector<FilterDescription> list_filters(const std::string& exec_path) {
  std::vector<FilterDescription> filters;
  std::vector<Fd> opened;
  list_directory(".", opened, filters);
  list_directory(exec_path + "/dlfilters", opened, filters);
  return filters;
}

}  // namespace sonde
