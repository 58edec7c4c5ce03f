// What is at a place in the code, and what the code has, as text: for -l and -F.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/sink.h"
#include "probe/name_filter.h"
#include "probe/source/probed_code.h"

namespace sonde {

/// Where an existing probe is, as perf shows it: "malloc@malloc/malloc.c", "main:3@app.c",
/// "main+4@app.c"; "main+4" without debug information. `offset` is that of the object's file.
[[nodiscard]] std::string describe_place(const ProbedCode& code, FileOffset offset);
/// The same for a place in the kernel: "tcp_sendmsg+8", "_text+8961856".
[[nodiscard]] std::string describe_place(const ProbedCode& code, std::string_view symbol);

/// -F: names of functions and data, sorted, a line each; those of C++ and Rust as the options say.
/// kNotFound if there is none.
Result<> list_functions(const ProbedCode& code, const NameFilter& filter,
                        const DemangleOptions& demangle, Sink& out);

}  // namespace sonde
