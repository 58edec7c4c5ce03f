#include "probe/source/describe_code.h"

#include <algorithm>

#include "base/text.h"
#include "probe/source/debug_code.h"
#include "probe/source/line_walk.h"
#include "probe/source/place_text.h"
#include "symbol/demangle.h"

namespace sonde {
namespace {

std::string by_symbol(const CodeSymbols& symbols, uint64_t address) {
  const CodeSymbol* symbol = symbols.function_at(address);
  if (symbol == nullptr) return {};
  uint64_t into = address - symbol->address;
  return into == 0 ? std::string(symbol->name) : fmt::format("{}+{}", symbol->name, into);
}

/// The function, or inlined copy, that a line number is to be relative to, and the line.
class PlaceDescription {
 public:
  PlaceDescription(SourceUnit& unit, uint64_t address) : unit_(unit), address_(address) {}

  std::string text() {
    std::vector<uint32_t> around = unit_.code().functions_at(address_);
    if (around.empty()) return {};
    uint32_t outer = around.front();
    uint64_t start = unit_.code()[outer].start;
    if (address_ == start)
      return with_file(std::string(unit_.name(outer)), unit_.declared_in(outer));
    LineAt line = line_at(unit_, address_);
    uint32_t relative_to = outer;
    for (size_t i = 1; i < around.size(); ++i) {
      if (unit_.code()[around[i]].start == address_) {
        line = {unit_.called_in(around[i]), unit_.code()[around[i]].call_line};
        break;
      }
      relative_to = around[i];
    }
    uint32_t first = unit_.facts(relative_to).line;
    bool is_inside = line.line >= first && line.line != 0 && first != 0 &&
                     line.file == unit_.declared_in(relative_to);
    if (is_inside && line.line > first)
      return with_file(fmt::format("{}:{}", unit_.name(relative_to), line.line - first), line.file);
    return with_file(fmt::format("{}+{}", unit_.name(outer), address_ - start),
                     unit_.declared_in(outer));
  }

 private:
  static std::string with_file(std::string place, const std::string& file) {
    return file.empty() ? place : place + "@" + short_path(file);
  }

  SourceUnit& unit_;
  uint64_t address_;
};

std::string by_debug(const ProbedCode& code, uint64_t address) {
  auto debug = code.debug();
  if (!debug) return {};
  SourceUnit* unit = (*debug)->unit_at(address);
  return unit == nullptr ? std::string() : PlaceDescription(*unit, address).text();
}

}  // namespace

std::string describe_place(const ProbedCode& code, FileOffset offset) {
  auto address = code.file() != nullptr ? code.file()->segments().addr_of(offset) : std::nullopt;
  if (!address) return fmt::format("{:#x}", offset.value);
  if (std::string text = by_debug(code, address->value); !text.empty()) return text;
  std::string text = by_symbol(code.symbols(), address->value);
  return text.empty() ? fmt::format("{:#x}", offset.value) : text;
}

std::string describe_place(const ProbedCode& code, std::string_view symbol) {
  std::string_view name = symbol.substr(0, symbol.find('+'));
  name = name.substr(name.find(':') + 1);  // of a module
  size_t plus = symbol.find('+');
  uint64_t offset =
      plus == std::string_view::npos ? 0 : parse_number(symbol.substr(plus + 1)).value_or(0);
  if (uint64_t address = code.linked_symbols().address_of(name); address != 0)
    if (std::string text = by_debug(code, address + offset); !text.empty()) return text;
  if (uint64_t address = code.symbols().address_of(name); address != 0)
    if (std::string text = by_symbol(code.symbols(), address + offset); !text.empty()) return text;
  return std::string(offset == 0 ? symbol.substr(0, plus) : symbol);
}

Result<> list_functions(const ProbedCode& code, const NameFilter& filter,
                        const DemangleOptions& demangle, Sink& out) {
  NameList names = code.shown_names(demangle);
  std::vector<std::string_view> pieces = names.matching(filter);
  if (pieces.empty())
    return fail(ErrorCode::kNotFound, "{} has no symbols{}", code.description(),
                code.symbols().empty() ? "" : " that the filter lets through");
  for (std::string_view piece : pieces) out.write(piece);
  return {};
}

}  // namespace sonde
