// FunctionNames: names of a unit's functions. Compilers give most functions of C++ a linkage name,
// but GCC gives none to functions that exist only as inlined copies of internal linkage; those get
// the names of the namespaces, classes and functions around their declaration.
//
//   namespace fs { namespace {                "fs::(anonymous namespace)::File::read"
//   struct File { int read(); };
//   int copy(int n) {                         "_ZN2fs4copyEi" (has a linkage name)
//     struct Buffer { int fill(); };          "_ZN2fs4copyEi::Buffer::fill"
//     auto skip = [](int n) { … };            "_ZN2fs4copyEi::{lambda}::operator()"
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_file.h"

namespace sonde {

class FunctionNames {
 public:
  /// The unit's language decides whether names are qualified: those of C++ are.
  explicit FunctionNames(const DwarfUnit& unit);

  /// The linkage name where DWARF has one, else the qualified name. A qualified name begins with
  /// the linkage name of the function that it is local to, if it is. Empty if DWARF has no name.
  /// The views live as long as this and the file.
  std::string_view of(DwarfEntry entry);

 private:
  /// A namespace, class or function that may contain functions.
  struct Scope {
    uint64_t entry;
    uint32_t around;  // index of the enclosing one
    uint16_t tag;
  };
  using Scopes = std::vector<Scope>;  // by entry

  static Scopes read_scopes(const DwarfUnit& unit);
  /// The innermost scope around an entry that is one itself; null if there is none.
  const Scope* scope_around(DwarfEntry entry);

  bool is_qualified_ = false;
  uint64_t room_ = 0;  // for what qualified names add, in bytes: bounds what a hostile unit costs
  std::deque<std::string> qualified_;
  std::map<const DwarfUnit*, Scopes> scopes_;  // of the units that needed them
};

}  // namespace sonde
