#include "doctor/program_findings.h"

#include <elf.h>
#include <fmt/format.h>

#include <array>

#include "base/bytes.h"
#include "base/text.h"
#include "dwarf/cfi_sections.h"
#include "elf/elf_file.h"
#include "symbol/debug_package.h"
#include "symbol/object_finder.h"

namespace sonde::doctor {
namespace {

using enum Finding::State;

/// "push %rbp; mov %rsp,%rbp" near its start: compilers put an early way out, or endbr64, in front.
bool sets_up_frame_x86(Bytes code) {
  constexpr size_t kNear = 48;
  constexpr std::array kSetup = {std::byte{0x55}, std::byte{0x48}, std::byte{0x89},
                                 std::byte{0xe5}};
  return !std::ranges::search(code.first(std::min(code.size(), kNear)), kSetup).empty();
}

/// "stp x29, x30, [sp, #-N]!" among the first instructions (paciasp may come first).
bool sets_up_frame_arm64(Bytes code) {
  constexpr size_t kLooked = 4, kInstruction = 4;
  constexpr uint32_t kStoreMask = 0xffc07fff, kStore = 0xa9807bfd;
  for (size_t i = 0; i < kLooked && (i + 1) * kInstruction <= code.size(); ++i)
    if ((load<uint32_t>(code.data() + i * kInstruction, ByteOrder::kLittle) & kStoreMask) == kStore)
      return true;
  return false;
}

/// The code at an address, to the end of its section.
Bytes code_at(const ElfFile& file, uint64_t address) {
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0 || address < section.addr) continue;
    Bytes content = file.content(section);
    if (address - section.addr < content.size()) return content.subspan(address - section.addr);
  }
  return {};
}

std::string percent(size_t part, size_t whole) {
  return fmt::format("{} %", (part * 100 + whole / 2) / whole);
}

std::string install_or(const std::string& path, std::string_view otherwise) {
  std::string command = debug_install_command({path});
  return command.empty() ? std::string(otherwise) : command;
}

Finding symbols_of(const ElfFile& file, const FoundObject& found, const std::string& path) {
  if (found.symbols)
    return {"symbols", kGood,
            fmt::format("{} names, {}", found.symbols->symbol_count(SymbolSection::kSymtab),
                        found.symbols_path == path ? "its own" : "by " + found.symbols_path)};
  bool has_mini = file.section(".gnu_debugdata") != nullptr;
  if (has_mini) return {"symbols", kGood, "its own, packed (MiniDebugInfo)"};
  return {"symbols", kPart,
          file.has_symbols(SymbolSection::kDynsym)
              ? "stripped: only exported functions have names; others are named by address"
              : "stripped: functions are named by address",
          install_or(path, "build without -s and strip, or use --debuginfod")};
}

Finding lines_of(const ObjectFinder& finder, const ObjectQuery& query, const std::string& path) {
  std::string debug = finder.find_debug_info(query);
  if (!debug.empty())
    return {"lines and variables", kGood, debug == path ? "its own" : "by " + debug};
  return {"lines and variables", kPart, "no debug information: no lines, no inlined functions",
          install_or(path, "build with -g, or use --debuginfod")};
}

/// `command`: how one would record it.
void add_call_chains(const FrameSetups& setups, bool has_cfi, const std::string& command,
                     std::vector<Finding>& findings) {
  constexpr size_t kMany = 40, kFew = 10;
  if (setups.functions > 0) {
    size_t share = setups.with_frame * 100 / setups.functions;
    std::string what = percent(setups.with_frame, setups.functions) + " of its functions have one";
    if (share >= kMany)
      findings.push_back({"frame pointers", kGood, what});
    else
      findings.push_back({"frame pointers", share < kFew ? kMissing : kPart,
                          what + ": `record -g` loses callers",
                          has_cfi ? command : "build with -fno-omit-frame-pointer"});
  }
  if (has_cfi)
    findings.push_back({"call frame information", kGood, "--call-graph dwarf finds all callers"});
  else
    findings.push_back({"call frame information", kMissing, "--call-graph dwarf finds no callers",
                        "build with -fasynchronous-unwind-tables"});
}

}  // namespace

Result<FrameSetups> count_frame_setups(const std::string& path) {
  ElfFile file = TRY(ElfFile::open(path));
  FrameSetups setups;
  bool is_x86 = file.machine() == EM_X86_64;
  if (!is_x86 && file.machine() != EM_AARCH64) return setups;
  // Short functions call nobody, and have no use for a frame.
  constexpr uint64_t kLeast = 64;
  for (const FunctionRange& function : CfiSections(file, nullptr).functions()) {
    if (function.end - function.start < kLeast) continue;
    Bytes code = code_at(file, function.start);
    if (code.empty()) continue;
    ++setups.functions;
    setups.with_frame += is_x86 ? sets_up_frame_x86(code) : sets_up_frame_arm64(code);
  }
  return setups;
}

Result<std::vector<Finding>> examine_program(const std::string& path) {
  ElfFile file = TRY(ElfFile::open(path));
  std::vector<Finding> findings;
  ObjectQuery query{.path = path, .build_id = std::string(file.build_id())};
  ObjectFinder finder({});
  if (file.build_id().empty())
    findings.push_back({"build id", kPart, "none: recordings cannot tell one build from another",
                        "link with -Wl,--build-id"});
  else
    findings.push_back({"build id", kGood, to_hex(file.build_id())});
  findings.push_back(symbols_of(file, finder.find(query), path));
  findings.push_back(lines_of(finder, query, path));
  FrameSetups setups = TRY(count_frame_setups(path));
  bool has_cfi = !CfiSections(file, nullptr).functions().empty();
  bool is_program = file.section(".interp") != nullptr || file.type() == ET_EXEC;
  add_call_chains(setups, has_cfi,
                  "record --call-graph dwarf" + (is_program ? " -- " + path : std::string()),
                  findings);
  return findings;
}

}  // namespace sonde::doctor
