#include "symbol/interpreted/interpreted_code.h"

#include <elf.h>

#include <algorithm>

namespace sonde {

SymbolTable InterpretedObject::symbols() const {
  SymbolTableBuilder builder;
  for (const InterpretedFile& file : files_) {
    uint64_t base = file.start - kInterpretedBase;
    for (const InterpretedFile::Function& function : file.functions)
      builder.add({.start = base + function.place,
                   .end = base + function.place + 1 + function.line_count,
                   .name_chars = function.name.data(),
                   .name_size = static_cast<uint32_t>(function.name.size()),
                   .module = 0,
                   .type = STT_FUNC,
                   .binding = STB_GLOBAL});
  }
  builder.settle_last_wins();
  return std::move(builder).build();
}

std::optional<SourceLine> InterpretedObject::line_at(uint64_t address) const {
  auto start_of = [](const InterpretedFile& file) { return file.start - kInterpretedBase; };
  auto above = std::ranges::upper_bound(files_, address, {}, start_of);
  if (above == files_.begin()) return std::nullopt;
  const InterpretedFile& file = *std::prev(above);
  uint64_t place = address - start_of(file);
  auto next =
      std::ranges::upper_bound(file.functions, place, {}, &InterpretedFile::Function::place);
  if (next == file.functions.begin()) return std::nullopt;
  const InterpretedFile::Function& function = *std::prev(next);
  uint64_t line = place - function.place;
  if (line == 0 || line > function.line_count) return std::nullopt;
  return SourceLine{{{}, {}, file.path}, function.first_line + static_cast<uint32_t>(line) - 1};
}

void InterpretedCode::add(const std::vector<InterpretedFile>& files, const DsoTable& dsos) {
  for (const InterpretedFile& file : files)
    for (DsoId dso : dsos.all_of(file.path)) objects_[dso].add(file);
}

}  // namespace sonde
