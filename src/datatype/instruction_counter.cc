#include "datatype/instruction_counter.h"

#include <algorithm>
#include <array>

namespace sonde::datatype {
namespace {

bool is_prefix(std::string_view word) {
  constexpr auto kPrefixes = std::to_array<std::string_view>(
      {"lock", "rep", "repz", "repnz", "repe", "repne", "bnd", "notrack", "data16", "addr32",
       "xacquire", "xrelease", "cs", "ds", "es", "fs", "gs", "ss"});
  return std::ranges::find(kPrefixes, word) != kPrefixes.end();
}

}  // namespace

std::string_view mnemonic_of(std::string_view text) {
  size_t end = 0;
  for (;;) {
    size_t begin = end;
    while (begin < text.size() && text[begin] == ' ') ++begin;
    size_t stop = std::min(text.find_first_of(" \t", begin), text.size());
    bool goes_on = is_prefix(text.substr(begin, stop - begin)) && stop < text.size();
    end = stop;
    if (!goes_on) return text.substr(0, end);
  }
}

std::string InstructionCounter::name_of(const PlacedCode& code) {
  uint64_t distance = code.address - code.function_address;
  if (distance >= code.function.size()) return {};
  auto [decoder, is_new] = decoders_.try_emplace({code.arch, code.is_64_bit});
  if (is_new)
    if (auto made = disasm::Disassembler::make(code.arch, {.is_64_bit = code.is_64_bit}))
      decoder->second = std::move(*made);
  if (!decoder->second) return {};
  disasm::Instruction instruction;
  decoder->second->decode(code.function.subspan(distance), code.address, instruction);
  return std::string(mnemonic_of(instruction.text));
}

void InstructionCounter::add(const PlacedCode& code, std::string_view reason, uint64_t samples) {
  std::string name = name_of(code);
  if (name.empty()) return;
  view::InstructionCounts& counts = names_[name];
  if (reason.empty()) {
    counts.known += samples;
    return;
  }
  counts.unknown += samples;
  auto found = std::ranges::find(counts.reasons, reason, &view::DataTypeCounts::Reason::name);
  if (found == counts.reasons.end())
    counts.reasons.push_back({std::string(reason), samples});
  else
    found->samples += samples;
}

std::vector<view::InstructionCounts> InstructionCounter::counts() && {
  std::vector<view::InstructionCounts> all;
  for (auto& [name, counts] : names_) {
    counts.name = name;
    std::ranges::stable_sort(counts.reasons, std::greater<>(),
                             &view::DataTypeCounts::Reason::samples);
    all.push_back(std::move(counts));
  }
  std::ranges::stable_sort(all, std::greater<>(),
                           [](const auto& one) { return one.known + one.unknown; });
  return all;
}

}  // namespace sonde::datatype
