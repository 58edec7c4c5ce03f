// Makes names of generated code readable.
//
// The Java virtual machine includes the address of the class's description in the names of lambda
// classes. It is meaningless to a reader, differs from run to run, and so separates identical
// frames in folded stacks and diffs:
//
//   int Shop$$Lambda$14/0x0000000840066840.applyAsInt(java.lang.Object)
//   int Shop$$Lambda$14.applyAsInt(java.lang.Object)
#pragma once

#include <cstddef>

namespace sonde {

/// What is kept of a name, in bytes: each sample may show it.
constexpr size_t kMaxGeneratedName = 64 << 10;

/// Removes such addresses from a name, in place; returns the new size.
size_t make_generated_name_readable(char* name, size_t size);

}  // namespace sonde
