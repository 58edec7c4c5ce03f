#include "symbol/demangle.h"

// Otherwise libiberty.h would redeclare basename(), in conflict with <cstring>.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "base/text.h"

namespace sonde {
namespace {

/// A few hundred bytes of hostile name can expand to gigabytes; nobody reads a name longer than
/// this.
constexpr size_t kMaxShown = size_t{64} << 10;

struct Unfolding {
  std::string text;
  std::jmp_buf too_long;
};

void collect(const char* piece, size_t size, void* opaque) {
  auto* unfolding = static_cast<Unfolding*>(opaque);
  // libiberty's printer offers no other way to abort. It is C without cleanups, so a longjmp is
  // safe.
  if (unfolding->text.size() + size > kMaxShown) std::longjmp(unfolding->too_long, 1);
  unfolding->text.append(piece, size);
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

/// Must not have objects with destructors, which longjmp would skip.
bool run_bounded(Demangler demangler, const char* name, int options, Unfolding* into) {
  if (setjmp(into->too_long) != 0) return false;
  return demangler(name, options, collect, into) != 0;
}

std::string run(Demangler demangler, const std::string& name, int options) {
  Unfolding unfolding;
  if (!run_bounded(demangler, name.c_str(), options, &unfolding)) return {};
  return std::move(unfolding.text);
}

/// libiberty's demangler for D recurses for every character, and neither stops at a length nor
/// tells us of its output before it has all of it.
constexpr size_t kMaxMangledD = 2048;
constexpr uint64_t kMaxUnfoldedD = uint64_t{1} << 20;

/// How many characters of a D name are read at most where every back reference ("Q", a number in
/// base 26 whose last digit is a small letter) is read as what it refers to: some characters back,
/// up to itself. References to what has two references double it each time.
uint64_t unfolded_d(std::string_view name) {
  constexpr uint64_t kBase = 26;
  std::vector<uint64_t> before = {0};  // by position: characters read before it
  for (size_t i = 0; i < name.size(); ++i) {
    uint64_t read = 1;
    if (name[i] == 'Q') {
      uint64_t distance = 0;
      for (size_t at = i + 1; at < name.size() && distance <= i; ++at) {
        bool is_last = name[at] >= 'a' && name[at] <= 'z';
        if (!is_last && !is_ascii_upper(name[at])) break;
        distance = distance * kBase + static_cast<uint64_t>(name[at] - (is_last ? 'a' : 'A'));
        if (is_last) break;
      }
      if (distance <= i) read += before[i] - before[i - distance];
    }
    before.push_back(std::min(before.back() + read, 2 * kMaxUnfoldedD));
  }
  return before.back();
}

std::string demangle_d(const std::string& name) {
  if (name.size() > kMaxMangledD || unfolded_d(name) > kMaxUnfoldedD) return {};
  char* text = dlang_demangle(name.c_str(), DMGL_PARAMS);
  std::string shown = text == nullptr || std::strlen(text) > kMaxShown ? "" : text;
  std::free(text);
  return shown;
}

bool is_ocaml(std::string_view name) {
  return name.starts_with("caml") && name.size() > 4 && is_ascii_upper(name[4]);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_letter(char c) {
  return is_ascii_upper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// OCaml: "caml", then module and function names separated by "__", with "$xx" for other
/// characters.
std::string demangle_ocaml(std::string_view name) {
  name.remove_prefix(4);
  std::string shown;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i, 2) == "__") {
      shown += '.';
      ++i;
    } else if (name[i] == '$' && i + 2 < name.size() && hex_digit(name[i + 1]) >= 0 &&
               hex_digit(name[i + 2]) >= 0) {
      shown += static_cast<char>(hex_digit(name[i + 1]) * 16 + hex_digit(name[i + 2]));
      i += 2;
    } else {
      shown += name[i];
    }
  }
  return shown;
}

}  // namespace

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("__Z") ||
         name.starts_with("_D") || name.starts_with("_GLOBAL_") || is_ocaml(name);
}

std::string demangle(std::string_view name, bool parameters) {
  if (!is_mangled(name)) return {};
  if (size_t local = name.find("::"); local != name.npos) {
    std::string shown = demangle(name.substr(0, local), true);
    return shown.empty() ? shown : shown.append(name.substr(local));
  }
  if (is_ocaml(name)) return demangle_ocaml(name);
  std::string mangled(name);
  int options = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
  // Legacy Rust names are also C++ names; Rust is tried first and accepts only those with its hash,
  // a component of 17 characters.
  std::string shown;
  if (name.starts_with("_R") || name.contains("17h"))
    shown = run(rust_demangle_callback, mangled, options);
  if (shown.empty()) shown = run(cplus_demangle_v3_callback, mangled, options);
  if (shown.empty() && name.starts_with("_D")) shown = demangle_d(mangled);
  return shown;
}

std::string_view identifier_within(std::string_view shown) {
  // Their constructors have no name in the mangled form (Itanium C++ ABI, 5.1.10).
  constexpr std::string_view kAbbreviated[] = {"string",        "basic_string",  "allocator",
                                               "istream",       "ostream",       "iostream",
                                               "basic_istream", "basic_ostream", "basic_iostream"};
  if (shown.contains("operator") || shown.contains("->") || shown.contains(" for ")) return {};
  size_t start = 0, end = shown.npos;
  int depth = 0;
  for (size_t i = 0; i < shown.size(); ++i) {
    char c = shown[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      if (depth++ == 0) end = std::min(end, i);
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (--depth < 0) return {};
    } else if (depth == 0 && (c == ' ' || shown.substr(i, 2) == "::")) {
      if (c == ' ' && end != shown.npos) return {};  // "const" after the parameters
      i += c == ' ' ? 0 : 1;
      start = i + 1;
      end = shown.npos;
    }
  }
  if (depth != 0 || start >= shown.size()) return {};
  std::string_view last = shown.substr(start, end == shown.npos ? end : end - start);
  return is_identifier(last) && std::ranges::find(kAbbreviated, last) == std::end(kAbbreviated)
             ? last
             : std::string_view();
}

std::string shown_name(std::string_view name, bool is_kernel, const DemangleOptions& options) {
  bool wanted = is_kernel ? options.kernel : options.enabled;
  if (!wanted || !is_mangled(name)) return std::string(name);
  std::string_view suffix = name.ends_with("@plt") ? "@plt" : "";
  std::string shown = demangle(name.substr(0, name.size() - suffix.size()), options.parameters);
  if (shown.empty()) return std::string(name);
  return shown.append(suffix);
}

}  // namespace sonde
