#include "stepping/address_filter.h"

#include <elf.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/process/program.h"
#include "base/text.h"
#include "elf/elf_file.h"

namespace sonde {
namespace {

/// Empty if there is no such file.
std::string resolved(const std::string& path) {
  char full[PATH_MAX];
  return ::realpath(path.c_str(), full) != nullptr ? full : "";
}

Result<> find_function(AddressFilter& filter, std::string_view name) {
  ElfFile file = TRY(ElfFile::open(filter.object));
  auto which =
      file.has_symbols(SymbolSection::kSymtab) ? SymbolSection::kSymtab : SymbolSection::kDynsym;
  const ElfSymbol* found = nullptr;
  std::vector<ElfSymbol> symbols = file.symbols(which);
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.type != STT_FUNC || symbol.size == 0 || symbol.name != name) continue;
    if (found != nullptr && found->value != symbol.value)
      return fail(ErrorCode::kNotFound, "--filter: {} has several functions {}", filter.object,
                  name);
    found = &symbol;
  }
  std::optional<FileOffset> offset;
  if (found != nullptr) offset = file.segments().offset_of(ElfAddr(found->value));
  if (!offset)
    return fail(ErrorCode::kNotFound, "--filter: {} has no function {} in its symbol table",
                filter.object, name);
  filter.offset = offset->value;
  filter.size = found->size;
  return {};
}

Result<AddressFilter> parse_one(std::string_view text, const std::string& program,
                                std::string_view path) {
  std::string_view whole = trim(text);
  size_t blank = whole.find(' ');
  std::string_view action = whole.substr(0, blank);
  std::string_view rest = blank == std::string_view::npos ? "" : whole.substr(blank + 1);
  size_t at = rest.find('@');
  std::string_view function = trim(rest.substr(0, at));
  AddressFilter filter;
  if (action == "start")
    filter.kind = AddressFilter::Kind::kStart;
  else if (action == "stop")
    filter.kind = AddressFilter::Kind::kStop;
  else if (action != "filter")
    function = {};
  if (function.empty() || function.find_first_of(" #/") != std::string_view::npos ||
      (function.front() >= '0' && function.front() <= '9'))
    return fail(ErrorCode::kUsage,
                "--filter: '{}' is not filter, start or stop and a function, like 'filter main' or "
                "'start malloc @ /lib/libc.so.6'",
                whole);
  std::string object(at == std::string_view::npos ? program : trim(rest.substr(at + 1)));
  filter.object = resolved(object.contains('/') ? object : find_program(object, path));
  if (filter.object.empty())
    return fail(ErrorCode::kNotFound, "--filter: there is no file {}", object);
  TRY(find_function(filter, function));
  return filter;
}

}  // namespace

Result<std::vector<AddressFilter>> parse_address_filters(std::string_view text,
                                                         const std::string& program,
                                                         std::string_view path) {
  std::vector<AddressFilter> filters;
  if (trim(text).empty()) return filters;
  for (std::string_view one : split(text, ','))
    filters.push_back(TRY(parse_one(one, program, path)));
  if (filters.size() > kMostAddressFilters)
    return fail(ErrorCode::kUsage, "--filter: more than {} functions", kMostAddressFilters);
  bool begins = false;
  for (const AddressFilter& filter : filters) begins |= filter.kind != AddressFilter::Kind::kStop;
  if (!begins)
    return fail(ErrorCode::kUsage, "--filter: 'stop' needs a 'start': nothing would be traced");
  return filters;
}

}  // namespace sonde
