// A filter for --dlfilter: a shared object with some of the functions that perf-dlfilter(1) names.
//
//   FilterLibrary library = TRY(FilterLibrary::load("cycles.so", exec_path));
//   if (library.filter_event != nullptr) …
//
// Its code runs in this process: calls go through foreign_call.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "script/dlfilters/perf_dlfilter.h"

namespace sonde {

class FilterLibrary {
 public:
  /// Finds and loads a filter. A name without a slash is looked for in the current directory, then
  /// in `exec_path`/dlfilters, then where the dynamic linker looks (perf-dlfilter(1)). Fails if it
  /// cannot be loaded, or has none of the functions that make it a filter.
  static Result<FilterLibrary> load(std::string_view name, const std::string& exec_path);
  FilterLibrary(FilterLibrary&& other) noexcept;
  FilterLibrary& operator=(FilterLibrary&&) = delete;
  ~FilterLibrary();

  /// The file, as it was found.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Its functions; null: it has none.
  int (*start)(void** data, void* context) = nullptr;
  int (*stop)(void* data, void* context) = nullptr;
  int (*filter_event)(void* data, const perf_dlfilter_sample* sample, void* context) = nullptr;
  int (*filter_event_early)(void* data, const perf_dlfilter_sample* sample,
                            void* context) = nullptr;
  /// Its table of functions that it may call, for us to fill in.
  perf_dlfilter_fns* functions = nullptr;

 private:
  FilterLibrary(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  void* handle_;  // of dlopen
};

/// A filter in a list.
struct FilterDescription {
  std::string file;  // without its directory
  std::string line;
  std::string details;  // may have several lines; empty: none
};
/// The filters with a description in the current directory and in `exec_path`/dlfilters, each
/// sorted by name. Loads every one that nobody but root and this user can have written, and names
/// the others: constructors run as soon as an object is loaded.
std::vector<FilterDescription> list_filters(const std::string& exec_path);

}  // namespace sonde
