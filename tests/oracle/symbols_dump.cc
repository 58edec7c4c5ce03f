// Sonde's view of an object, as lines of text for symbols_oracle.py to compare with binutils.
//
//   symbols_dump symbols FILE     START END TYPE NAME of every symbol, from this file alone
//   symbols_dump found FILE       the same with separate debug files
//   symbols_dump plt FILE         START NAME@plt
//   symbols_dump functions FILE   START END of every function with call frame information
//   symbols_dump buildid FILE
//   symbols_dump lines FILE       for each hexadecimal address on standard input: FUNCTION
//                                 FILE:LINE, innermost first, with " | " between them
//   symbols_dump demangle         each line of standard input demangled
//   symbols_dump time FILE...     CPU milliseconds to load each table
#include <fmt/format.h>

#include <ctime>
#include <iostream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "dwarf/cfi_sections.h"
#include "dwarf/line_index.h"
#include "elf/elf_file.h"
#include "elf/plt.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"
#include "symbol/kallsyms.h"
#include "symbol/object_finder.h"

namespace sonde {
namespace {

void print(const SymbolTable& table) {
  for (const Symbol& s : table.symbols())
    fmt::print("{:x} {:x} {} {}\n", s.start, s.end, s.type, s.name());
}

std::string path_of(const SourceLine& at) {
  return at.file.path();
}

Result<> print_lines(const std::string& path) {
  ObjectFinder finder(FinderOptions{});
  std::string debug = finder.find_debug_info({.path = path, .build_id = {}});
  LineIndex index = TRY(LineIndex::open(debug, {}));
  for (std::string line; std::getline(std::cin, line);) {
    ElfAddr address(parse_hex(line).value_or(0));
    std::string text;
    for (const InlineFrame& frame : index.inline_frames(address))
      text += fmt::format("{}{} {}:{}", text.empty() ? "" : " | ", frame.function,
                          path_of(frame.at), frame.at.line);
    if (text.empty()) {
      auto at = index.find(address);
      text = at ? fmt::format("?? {}:{}", path_of(*at), at->line) : "?? ??:0";
    }
    fmt::print("{}\n", text);
  }
  return {};
}

double milliseconds_to_load(const std::string& path) {
  std::clock_t start = std::clock();
  if (path.ends_with("kallsyms")) {
    auto kallsyms = Kallsyms::read(path);
    if (kallsyms) fmt::print("{} symbols ", kallsyms->table().size());
  } else {
    ObjectFinder finder(FinderOptions{});
    FoundObject found = finder.find({.path = path, .build_id = {}});
    if (found.usable()) fmt::print("{} symbols ", found.load_symbols().size());
  }
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Result<> run(const std::string& verb, const std::string& path) {
  if (verb == "symbols") {
    print(load_elf_symbols(TRY(ElfFile::open(path)), std::nullopt));
  } else if (verb == "found") {
    ObjectFinder finder(FinderOptions{});
    FoundObject found = finder.find({.path = path, .build_id = {}});
    fmt::print(stderr, "{}", found.explain());
    if (found.usable()) print(found.load_symbols());
  } else if (verb == "plt") {
    ElfFile file = TRY(ElfFile::open(path));
    for (const PltEntry& entry : plt_entries(file))
      fmt::print("{:x} {}@plt\n", entry.start.value, entry.name);
  } else if (verb == "functions") {
    ElfFile file = TRY(ElfFile::open(path));
    for (const FunctionRange& function : CfiSections(file, nullptr).functions())
      fmt::print("{:x} {:x}\n", function.start, function.end);
  } else if (verb == "buildid") {
    fmt::print("{}\n", to_hex(TRY(ElfFile::open(path)).build_id()));
  } else if (verb == "lines") {
    TRY(print_lines(path));
  } else if (verb == "time") {
    double took = milliseconds_to_load(path);
    fmt::print("{:.2f} ms {}\n", took, path);
  } else if (verb == "demangle") {
    for (std::string line; std::getline(std::cin, line);) {
      DemangleOptions options;
      options.parameters = true;
      fmt::print("{}\n", shown_name(line, false, options));
    }
  } else {
    return fail(ErrorCode::kUsage, "unknown verb {}", verb);
  }
  return {};
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (int i = 2; i < std::max(argc, 3); ++i) {
    auto done = sonde::run(argv[1], i < argc ? argv[i] : "");
    if (done) continue;
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
