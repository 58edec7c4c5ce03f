// Parameters at the end of a function's name, as other tools write names: C++ and .NET with the
// types of parameters, Rust and Go without.
#pragma once

#include <string_view>

namespace sonde {

/// The name without its parameter list and what follows that:
///
///   std::vector<int>::push_back(int&&)          std::vector<int>::push_back
///   run(int) const [clone .isra.0]              run
///   main::{lambda(int)#1}::operator()(int)      main::{lambda(int)#1}::operator()
///
/// A parameter list is a balanced `(…)` within no other bracket, behind which there are only
/// qualifiers (`const`, `&&`, `noexcept`) and marks (`[clone .cold]`). Where there is none, the
/// whole name: operator(), "(anonymous namespace)", Go's receivers, "<fn() as Call>::call", and
/// whatever has brackets that don't match. Different functions may get the same name only if they
/// differ in their parameters.
[[nodiscard]] std::string_view without_parameters(std::string_view name);

}  // namespace sonde
