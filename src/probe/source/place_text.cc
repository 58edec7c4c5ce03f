#include "probe/source/place_text.h"

#include <fmt/format.h>

namespace sonde {

Result<ProbePlace> place_at(const ProbedCode& code, uint64_t address) {
  if (code.in_kernel()) {
    const CodeSymbol* symbol = code.linked_symbols().function_at(address);
    if (symbol == nullptr)
      return fail(ErrorCode::kUnsupported, "no symbol of {} is at {:#x}, so it cannot be probed",
                  code.description(), address);
    return place_in(code, code.linked_symbols(), *symbol, address - symbol->address);
  }
  auto in_file = code.file()->segments().offset_of(ElfAddr(address));
  if (!in_file)
    return fail(ErrorCode::kUnsupported, "{:#x} is in no segment of {}", address, code.path());
  ProbePlace place;
  place.object = code.path();
  place.offset = *in_file;
  return place;
}

std::string short_path(std::string_view path) {
  constexpr size_t kLongest = 30;
  if (path.size() <= kLongest) return std::string(path);
  size_t from = path.size() - kLongest, slash = path.find('/', from);
  return std::string(path.substr(slash == std::string_view::npos ? from : slash + 1));
}

Result<ProbePlace> place_in(const ProbedCode& code, const CodeSymbols& symbols,
                            const CodeSymbol& symbol, uint64_t offset) {
  if (!code.in_kernel()) return place_at(code, symbol.address + offset);
  ProbePlace place;
  std::string base(symbol.name);
  uint64_t text = code.module().empty() ? symbols.address_of("_text") : 0;
  if (text != 0 && symbol.address >= text && symbols.is_ambiguous(symbol.name)) {
    base = "_text";
    offset += symbol.address - text;
  }
  if (!code.module().empty()) base = code.module() + ":" + base;
  place.symbol = fmt::format("{}+{}", base, offset);
  return place;
}

std::string raw_argument(const RequestedArgument& argument) {
  std::string text = argument.what;
  // "@user" marks each access to memory: "+0(%di)" becomes "+u0(%di)".
  if (argument.user_memory)
    for (size_t i = 0; i + 1 < text.size(); ++i)
      if ((text[i] == '+' || text[i] == '-') && text[i + 1] != 'u') text.insert(++i, "u");
  if (!argument.name.empty()) text.insert(0, argument.name + "=");
  if (!argument.type.empty()) text += ":" + argument.type;
  return text;
}

}  // namespace sonde
