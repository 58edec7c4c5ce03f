// The path of a function, in the form in which definitions name functions.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Rust's paths of methods and of generic functions as C++ would write them (The Rust Reference,
/// "Paths"); others are unchanged.
///
///   "<app::Shape>::area"              "app::Shape::area"
///   "<app::Shape as app::Named>::id"  "app::Shape::id"
///   "app::generic::<i32>"             "app::generic<i32>"
[[nodiscard]] std::string plain_function_path(std::string_view path);

/// What follows the last "::" of a plain path that is not between brackets: "f<a::B>" of
/// "ns::f<a::B>"; the path itself if there is none.
[[nodiscard]] std::string_view last_of_path(std::string_view path);

}  // namespace sonde
