// How the frames of HotSpot's compiled code look, on x86-64. JVMTI does not tell; but the code has
// one way to make its frame and one to leave it, and a fixed size in between:
//
//   push %rbp                                or   sub $N,%rsp
//   [mov %rsp,%rbp]                               mov %rbp,N-8(%rsp)
//   sub $N,%rsp                                   [lea N-8(%rsp),%rbp]
//   …
//   add $N,%rsp ; pop %rbp ; [poll] ; ret
//
// Where a method's beginning is not of this kind nothing is said of its frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde_jvmti {

/// .eh_frame for code of these bytes, with pointers as if it stood behind the code at the next
/// multiple of eight; empty where nothing is known.
std::string make_eh_frame(std::string_view code);

/// The same for what the machine makes for itself, by the name that it gives it. The interpreter's
/// frames hang together by %rbp, and the caller's stack pointer stands at -8(%rbp): between a
/// compiled method and the interpreter there are arguments that neither's frame counts.
std::string make_stub_eh_frame(std::string_view name, std::string_view code);

}  // namespace sonde_jvmti
