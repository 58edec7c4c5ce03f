// The frame layout of HotSpot's compiled code, on x86-64. JVMTI does not report it; but the code
// has one way to set up its frame and one to tear it down, and a fixed size in between:
//
//   push %rbp                                or   sub $N,%rsp
//   [mov %rsp,%rbp]                               mov %rbp,N-8(%rsp)
//   sub $N,%rsp                                   [lea N-8(%rsp),%rbp]
//   …
//   add $N,%rsp ; pop %rbp ; [poll] ; ret
//
// For methods that begin in any other way nothing is said about their frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde_jvmti {

/// .eh_frame for these bytes of code, with pointers as if it followed the code at the next multiple
/// of eight; empty if the layout is unknown.
std::string make_eh_frame(std::string_view code);

/// The same for the JVM's own stubs, by name. The interpreter's frames are linked by %rbp, and the
/// caller's stack pointer is at -8(%rbp): between a compiled method and the interpreter there are
/// arguments that belong to neither's frame.
std::string make_stub_eh_frame(std::string_view name, std::string_view code);

}  // namespace sonde_jvmti
