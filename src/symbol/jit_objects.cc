#include "symbol/jit_objects.h"

#include <elf.h>

#include <algorithm>

namespace sonde {

SymbolTable JitObject::symbols() const {
  SymbolTableBuilder builder;
  builder.reserve(dump_.codes().size());
  for (const JitDump::Code& code : dump_.codes())
    builder.add({.start = code.offset,
                 .end = code.offset + code.size,
                 .name_chars = code.name.data(),
                 .name_size = static_cast<uint32_t>(code.name.size()),
                 .module = 0,
                 .type = STT_FUNC,
                 .binding = STB_GLOBAL});
  builder.settle_last_wins();
  return std::move(builder).build();
}

const JitDump::Code* JitObject::code_at(uint64_t offset) const {
  const std::vector<JitDump::Code>& codes = dump_.codes();  // in the order of the dump
  auto above = std::ranges::upper_bound(codes, offset, {}, &JitDump::Code::offset);
  if (above == codes.begin()) return nullptr;
  const JitDump::Code& code = *std::prev(above);
  return offset - code.offset < code.size ? &code : nullptr;
}

const JitDump::Line* JitObject::nearest_line(uint64_t offset) const {
  const JitDump::Code* code = code_at(offset);
  if (code == nullptr) return nullptr;
  uint64_t address = code->address + (offset - code->offset);
  auto lines = dump_.lines_of(*code);
  auto above = std::ranges::upper_bound(lines, address, {}, &JitDump::Line::address);
  return above == lines.begin() ? nullptr : &*std::prev(above);
}

std::optional<SourceLine> JitObject::line_at(uint64_t offset) const {
  const JitDump::Line* line = nearest_line(offset);
  if (line == nullptr) return std::nullopt;
  return SourceLine{{{}, {}, line->file}, line->line};
}

void JitObject::inlined_at(uint64_t offset, std::vector<std::string_view>& names) const {
  const JitDump::Line* line = nearest_line(offset);
  if (line == nullptr || line->frame_count == 0) return;
  auto frames = dump_.frames_of(*line);
  for (const JitDump::Frame& frame : frames.first(frames.size() - 1))
    names.push_back(frame.function);
}

CfiTable JitObject::call_frame_information() const {
  std::vector<CfiSection::Source> sections;
  for (const JitDump::Code& code : dump_.codes()) {
    size_t table_size = code.unwinding.size() - static_cast<size_t>(code.unwinding_header_size);
    if (table_size == 0) continue;
    sections.push_back({.bytes = code.unwinding.first(table_size),
                        .addr = code.offset + code.unwinding_distance(),
                        .kind = CfiSection::Kind::kEhFrame,
                        .order = dump_.header().order,
                        .address_size = 8});
  }
  return CfiTable::build(sections, dump_.header().elf_machine == EM_AARCH64);
}

}  // namespace sonde
