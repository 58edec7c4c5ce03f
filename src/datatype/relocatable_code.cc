#include "datatype/relocatable_code.h"

#include <elf.h>

#include <algorithm>

#include "elf/relocatable.h"

namespace sonde::datatype {

RelocatableCode::RelocatableCode(const ElfFile& image) : is_64bit_(image.is_64bit()) {
  RelocatableFile file(image);
  size_t left = image.bytes().size();  // bounds the copying of overlapping sections
  for (const ElfSection& section : image.sections()) {
    Bytes content = image.content(section);
    if ((section.flags & SHF_EXECINSTR) == 0 || content.empty() || content.size() > left) continue;
    left -= content.size();
    std::vector<std::byte>& bytes = sections_[section.index];
    bytes.assign(content.begin(), content.end());
    file.apply(section, bytes);
  }
  image.for_each_symbol(SymbolSection::kSymtab, [&](const ElfSymbol& symbol) {
    auto section = sections_.find(symbol.section);
    if (symbol.type != STT_FUNC || section == sections_.end()) return;
    Bytes all = section->second;
    if (symbol.value >= all.size()) return;
    Bytes code = all.subspan(symbol.value, std::min(symbol.size, all.size() - symbol.value));
    functions_[symbol.name].push_back({code, file.address_of(symbol)});
  });
}

std::optional<RelocatableCode::Function> RelocatableCode::find(std::string_view name) const {
  auto found = functions_.find(name);
  if (found == functions_.end()) return std::nullopt;
  const std::vector<Function>& all = found->second;
  bool is_one = std::ranges::all_of(
      all, [&](const Function& one) { return one.address == all.front().address; });
  return is_one ? std::optional(all.front()) : std::nullopt;
}

}  // namespace sonde::datatype
