// Demangling: from the linker's name of a function to the one people use. C++ (Itanium), Rust
// (legacy and v0), D and OCaml. It costs a microsecond or more per name, so it is done once for
// each symbol that is shown, and the caller keeps the result (the symboliser interns symbol names).
#pragma once

#include <string>
#include <string_view>

#include "symbol/symbol_table.h"

namespace sonde {

struct DemangleOptions {
  bool enabled = true;      // --no-demangle
  bool kernel = false;      // --demangle-kernel: kernel symbols too
  bool parameters = false;  // with the parameter types of C++ functions
};

/// Whether a name looks like one that `demangle` knows: a cheap check of its first letters.
bool is_mangled(std::string_view name);

/// Empty if the name is not mangled, or expands to more than 64 KB. Of a name that is qualified by
/// a mangled function ("_ZN2fs4copyEi::Buffer::fill", see dwarf/names/function_names.h), that
/// function is demangled, always with its parameters: they are part of the scope.
std::string demangle(std::string_view name, bool parameters);

/// A part of a shown name that also occurs in the symbol's own name, in any language: the last
/// identifier, without arguments. Empty if that is not certain ("operator new", lambdas, what the
/// mangled form abbreviates).
std::string_view identifier_within(std::string_view shown);

/// A symbol's name as shown: demangled if the options and the name say so; "NAME@plt" keeps its
/// suffix.
std::string shown_name(std::string_view name, bool is_kernel, const DemangleOptions& options);
inline std::string shown_name(const Symbol& symbol, bool is_kernel,
                              const DemangleOptions& options) {
  return shown_name(symbol.name(), is_kernel, options);
}

}  // namespace sonde
