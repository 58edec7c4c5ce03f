// The scripts that are installed with perf, by name: DIR/scripts/python/NAME.py, with shell scripts
// that record what it needs (bin/NAME-record) and run it (bin/NAME-report). In comments of the
// latter are the lines of `script --list`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"

namespace sonde::python {

class ScriptCatalog {
 public:
  explicit ScriptCatalog(std::string exec_path) : exec_path_(std::move(exec_path)) {}

  struct Entry {
    std::string name;
    std::string description;  // of the comment "# description:"
    std::string arguments;    // of the comment "# args:", e.g. "[comm] <interval>"
  };
  /// Those that can be run by name, sorted by it.
  [[nodiscard]] std::vector<Entry> list() const;

  /// The file of a script that is named on the command line: a path, NAME, or either one after
  /// "python:". kUnsupported if it is in Perl.
  [[nodiscard]] Result<std::string> find(std::string_view spec) const;
  /// The shell script for "record" or "report"; empty if there is none.
  [[nodiscard]] std::string wrapper(std::string_view name, std::string_view kind) const;
  /// The error for a name that nothing has.
  [[nodiscard]] static std::unexpected<Error> unknown(std::string_view name);
  /// kUnsupported if the name is that of a script in Perl.
  [[nodiscard]] Result<> refuse_perl(std::string_view name) const;
  [[nodiscard]] const std::string& exec_path() const { return exec_path_; }

 private:
  std::string exec_path_;
};

/// The arguments that must be given, in "[comm] <interval>".
[[nodiscard]] size_t required_arguments(std::string_view arguments);
/// Reads the comments at the start of a -report script.
[[nodiscard]] ScriptCatalog::Entry described(std::string name, std::string_view shell_script);

}  // namespace sonde::python
