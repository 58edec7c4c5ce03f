// -L: the source of a function or a file, with the numbers of those lines that can be probed.
//
//   <main@/src/app.c:0>
//         0  int main(void)
//            {
//         2    return run();
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/sink.h"
#include "probe/source/probed_code.h"

namespace sonde {

/// `range` is perf-probe(1)'s "LINE SYNTAX": "FUNC[@SRC][:START[+COUNT|-END]]" or
/// "SRC[:START[+COUNT|-END]]". Lines that cannot be probed are blue if `colour`. Errors: kUsage for
/// the syntax; kNotFound for functions, files and lines that the debug information does not have,
/// and for source files that cannot be read.
Result<> write_source_lines(const ProbedCode& code, std::string_view range, bool colour, Sink& out);

}  // namespace sonde
