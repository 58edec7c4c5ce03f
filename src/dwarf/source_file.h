// SourceFile: the name of a source file in three parts, as line programs have it.
//
//   /build/src   lib   list.h      the unit's directory, the file's directory, its name
#pragma once

#include <string>
#include <string_view>

namespace sonde {

struct SourceFile {
  std::string_view base, directory, name;

  /// The path that the compiler used, made absolute with the unit's directory.
  [[nodiscard]] std::string path() const;
  /// The last component.
  [[nodiscard]] std::string_view last() const { return name.substr(name.rfind('/') + 1); }
  [[nodiscard]] bool empty() const { return name.empty(); }
  bool operator==(const SourceFile&) const = default;
};

}  // namespace sonde
