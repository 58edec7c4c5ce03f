#include "capture/unwinding/interpreters/ruby_layout.h"

#include <elf.h>

#include <algorithm>
#include <string_view>

#include "capture/unwinding/interpreters/mapped_places.h"
#include "elf/relocations.h"

namespace sonde {
namespace {

ruby_layout layout_31() {
  ruby_layout layout{};
  layout.context_stack = 0;  // rb_execution_context_t
  layout.context_stack_words = 8;
  layout.context_frame = 16;
  layout.frame_bytes = 64;  // rb_control_frame_t
  layout.frame_instruction = 0;
  layout.frame_code = 16;
  layout.frame_environment = 32;
  layout.code_body = 16;  // rb_iseq_t
  layout.body_units = 4;  // rb_iseq_constant_body
  layout.body_code = 8;
  layout.body_path = 64;  // .location
  layout.body_name = 80;
  layout.body_first_line = 88;
  layout.body_entries = 120;  // .insns_info
  layout.body_entry_count = 136;
  layout.body_entry_index = 144;
  return layout;
}

struct RubySymbols {
  uint64_t version = 0, machine = 0;
  std::optional<ElfSymbol> context, run;
};

RubySymbols ruby_symbols(const ElfFile& file) {
  RubySymbols found;
  file.for_each_symbol(SymbolSection::kDynsym, [&](const ElfSymbol& symbol) {
    if (symbol.section == SHN_UNDEF) return;
    std::string_view name = symbol.name;
    if (name == "ruby_version") found.version = symbol.value;
    if (name == "ruby_current_vm_ptr") found.machine = symbol.value;
    if (name == "ruby_current_ec" && symbol.type == STT_TLS) found.context = symbol;
    if (name == "rb_vm_exec") found.run = symbol;
  });
  return found;
}

/// Where the dynamic linker puts the number of the module that a thread-local symbol is in.
std::optional<uint64_t> module_number_place(const ElfFile& file, const ElfSymbol& symbol) {
  const ElfSection* section = file.section(".rela.dyn");
  std::optional<uint64_t> place;
  if (section == nullptr) return place;
  for_each_relocation(file, *section, 0, [&](const ElfRelocation& relocation) {
    if (relocation.type == R_X86_64_DTPMOD64 && relocation.symbol == symbol.index)
      place = relocation.offset;
  });
  return place;
}

/// Whether the code begins with "mov OFFSET(reg), %r15": of a context, the innermost frame.
bool loads_frame(Bytes code, uint32_t offset) {
  constexpr size_t kBegin = 96, kInstruction = 4;
  code = code.first(std::min(code.size(), kBegin));
  for (size_t i = 0; i + kInstruction <= code.size(); ++i) {
    auto at = [&](size_t byte) { return static_cast<uint32_t>(code[i + byte]); };
    // REX.W and REX.R, and REX.B of any value; the opcode; ModRM: a base, a byte of displacement.
    bool is_load = (at(0) & 0xfe) == 0x4c && at(1) == 0x8b && (at(2) & 0xf8) == 0x78;
    if (is_load && at(3) == offset) return true;
  }
  return false;
}

/// Return addresses of the calls of the loop in the function that starts it.
std::vector<uint64_t> loop_returns(const ElfFile& file, const ElfSymbol& run, uint32_t offset) {
  constexpr std::byte kCall{0xe8};
  constexpr size_t kCallBytes = 5, kMostBytes = 1 << 16, kLoopBytes = 4096;
  std::vector<uint64_t> found;
  if (run.size > kMostBytes) return found;
  Bytes code = file_bytes_at(file, run.value, run.size);
  for (size_t i = 0; i + kCallBytes <= code.size(); ++i) {
    if (code[i] != kCall) continue;
    uint64_t back = run.value + i + kCallBytes;
    uint64_t target = back + static_cast<uint64_t>(int64_t{load<int32_t>(&code[i + 1])});
    if (loads_frame(file_bytes_at(file, target, kLoopBytes), offset)) found.push_back(back);
  }
  return found;
}

std::optional<ruby_layout> layout_of_build(const ElfFile& file, const RubySymbols& symbols,
                                           std::string_view version) {
  if (!version.starts_with("3.1.") || file.type() != ET_DYN || file.machine() != EM_X86_64 ||
      !symbols.context || !symbols.run)
    return std::nullopt;
  ruby_layout layout = layout_31();
  std::optional<uint64_t> module = module_number_place(file, *symbols.context);
  std::vector<uint64_t> returns = loop_returns(file, *symbols.run, layout.context_frame);
  if (!module || returns.empty() || returns.size() > RUBY_LOOP_CALLS) return std::nullopt;
  std::optional<uint64_t> place = mapped_distance(file.segments(), *module);
  if (!place) return std::nullopt;
  layout.thread_module = *place;
  layout.thread_offset = symbols.context->value;
  for (size_t i = 0; i < returns.size(); ++i)
    layout.loop_returns[i] = mapped_distance(file.segments(), returns[i]).value_or(0);
  return layout;
}

}  // namespace

std::optional<RubyInterpreter> ruby_interpreter_of(const ElfFile& file) {
  if (!file.has_symbols(SymbolSection::kDynsym) ||
      !file.may_name(SymbolSection::kDynsym, "ruby_current_vm"))
    return std::nullopt;
  RubySymbols symbols = ruby_symbols(file);
  if (symbols.version == 0 || symbols.machine == 0) return std::nullopt;
  constexpr size_t kVersionBytes = 16;
  std::string_view text = as_text(file_bytes_up_to(file, symbols.version, kVersionBytes));
  RubyInterpreter ruby{.version = std::string(text.substr(0, text.find('\0'))), .layout = {}};
  ruby.layout = layout_of_build(file, symbols, ruby.version);
  return ruby;
}

}  // namespace sonde
