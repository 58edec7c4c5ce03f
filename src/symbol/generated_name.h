// Names of generated code, made readable.
//
// The Java virtual machine gives the classes of lambdas the address of their description for a part
// of their names. It says nothing to a reader, differs from run to run, and so keeps apart in
// folded stacks and differences what is the same:
//
//   int Shop$$Lambda$14/0x0000000840066840.applyAsInt(java.lang.Object)
//   int Shop$$Lambda$14.applyAsInt(java.lang.Object)
#pragma once

#include <cstddef>

namespace sonde {

/// Takes such addresses out of a name, in place; gives the name's size then.
size_t make_generated_name_readable(char* name, size_t size);

}  // namespace sonde
