// Demangling: what people call a function, from what the linker calls it. C++ (Itanium), Rust
// (legacy and v0), D and OCaml. It costs a microsecond or more a name, so it is done for the
// symbols that are shown, once each, and the caller keeps the result (symbol names are interned by
// the symboliser).
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

/// Whether a name looks like one that `demangle` knows: a cheap look at its first letters.
bool is_mangled(std::string_view name);

/// Empty where the name is not mangled, or unfolds to more than 64 KB.
std::string demangle(std::string_view name, bool parameters);

/// A piece of a shown name that stands in the symbol's own name as well, whatever the language: the
/// last identifier, without arguments. Empty where that is not certain ("operator new", lambdas,
/// what the mangled form abbreviates).
std::string_view identifier_within(std::string_view shown);

/// A symbol's name as it is shown: demangled where the options and the name say so; "NAME@plt"
/// keeps its suffix.
std::string shown_name(std::string_view name, bool is_kernel, const DemangleOptions& options);
inline std::string shown_name(const Symbol& symbol, bool is_kernel,
                              const DemangleOptions& options) {
  return shown_name(symbol.name(), is_kernel, options);
}

}  // namespace sonde
