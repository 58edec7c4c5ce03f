#include "symbol/interpreted/interpreted_code.h"

#include <elf.h>

#include <algorithm>

namespace sonde {

namespace {

uint64_t address_in(const InterpretedFile& file, const InterpretedFile::Function& function) {
  return file.start - kInterpretedBase + function.place;
}

}  // namespace

void InterpretedObject::add(const InterpretedFile& file) {
  if (file.functions.empty()) return;
  parts_.push_back(file);
  by_address_[address_in(file, file.functions.front())] = &parts_.back();
}

SymbolTable InterpretedObject::symbols(size_t first_part) const {
  SymbolTableBuilder builder;
  for (size_t part = first_part; part < parts_.size(); ++part)
    for (const InterpretedFile::Function& function : parts_[part].functions) {
      uint64_t start = address_in(parts_[part], function);
      builder.add({.start = start,
                   .end = start + 1 + function.line_count,
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
  auto above = by_address_.upper_bound(address);
  if (above == by_address_.begin()) return std::nullopt;
  const InterpretedFile& file = *std::prev(above)->second;
  auto start_of = [&](const InterpretedFile::Function& function) {
    return address_in(file, function);
  };
  auto next = std::ranges::upper_bound(file.functions, address, {}, start_of);
  if (next == file.functions.begin()) return std::nullopt;
  const InterpretedFile::Function& function = *std::prev(next);
  uint64_t line = address - start_of(function);
  if (line == 0 || line > function.line_count) return std::nullopt;
  return SourceLine{{{}, {}, file.path}, function.first_line + static_cast<uint32_t>(line) - 1};
}

void InterpretedCode::add(std::span<const InterpretedFile> files) {
  for (const InterpretedFile& file : files) objects_[file.path].add(file);
}

void InterpretedCode::find_in(const DsoTable& dsos) {
  for (const auto& [path, object] : objects_)
    for (DsoId dso : dsos.all_of(path)) by_dso_[dso] = &object;
}

}  // namespace sonde
