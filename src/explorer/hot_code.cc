#include "explorer/hot_code.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "disasm/disassembler.h"
#include "script/code_bytes.h"
#include "symbol/source/source_lines.h"

namespace sonde {
namespace {

constexpr size_t kMaxFunctions = 60;
constexpr size_t kMaxInstructions = 2500;  // per function
constexpr size_t kMaxInstructionsOfAll = 25000;
constexpr uint32_t kLinesAround = 4;  // shown before and after those that have code
constexpr uint32_t kMaxLines = 1500;  // per function

/// A function of an object, and the places in it that were hit.
struct HotFunction {
  DsoId dso;
  uint64_t start = 0;
  uint64_t samples = 0;
  std::map<uint32_t, uint64_t> frames;  // the profile's, by value: samples
};

class HotCode {
 public:
  HotCode(const Session& session, const StackProfile& profile)
      : session_(session),
        profile_(profile),
        bytes_(session, arch_of(session)),
        sources_(session.symbolizer()) {}

  PageCode make() && {
    find_functions();
    for (const HotFunction* function : hottest()) {
      if (instructions_ >= kMaxInstructionsOfAll) break;
      add_listing(*function);
    }
    place_samples();
    return std::move(code_);
  }

 private:
  static abi::Arch arch_of(const Session& session) {
    return abi::arch_from_machine(session.recording().features().arch.value_or("x86_64"));
  }

  using Key = std::pair<uint32_t, uint64_t>;  // DSO, function's start

  /// Sums by place, then by function as the object knows it: inlined code belongs to the function
  /// around it.
  void find_functions() {
    const StackSamples& samples = profile_.samples;
    std::vector<uint64_t> hits(session_.frames().size());
    std::vector<StackNodeId> node_of(hits.size());  // of any sample
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples.place[i] == UINT32_MAX) continue;
      ++hits[samples.place[i]];
      node_of[samples.place[i]] = samples.node[i];
    }
    for (size_t i = 0; i < hits.size(); ++i)
      if (hits[i] > 0 && node_of[i].valid()) add_place(session_.frames()[i], hits[i], node_of[i]);
  }
  void add_place(const Frame& frame, uint64_t hits, StackNodeId node) {
    if (!frame.symbol.valid() || !frame.dso.valid()) return;
    if (session_.machine().dsos()[frame.dso].kind != DsoKind::kFile) return;
    HotFunction& function = functions_[{frame.dso.value, frame.symbol_start}];
    function.dso = frame.dso;
    function.start = frame.symbol_start;
    function.samples += hits;
    function.frames[frame_around(node).value] += hits;
  }
  /// The innermost frame of the stack that is not inlined.
  [[nodiscard]] StackFrameId frame_around(StackNodeId node) const {
    while (profile_.frame_of(node).kind == FrameKind::kInlined &&
           profile_.nodes[node.index()].parent.valid())
      node = profile_.nodes[node.index()].parent;
    return profile_.nodes[node.index()].frame;
  }
  [[nodiscard]] std::vector<const HotFunction*> hottest() const {
    std::vector<const HotFunction*> sorted;
    for (const auto& [key, function] : functions_) sorted.push_back(&function);
    std::ranges::stable_sort(sorted, std::greater<>(), &HotFunction::samples);
    if (sorted.size() > kMaxFunctions) sorted.resize(kMaxFunctions);
    return sorted;
  }

  void add_listing(const HotFunction& function) {
    SymbolId symbol = session_.symbolizer().find(function.dso, function.start);
    if (!symbol.valid()) return;
    SymbolInfo info = session_.symbolizer().info(symbol);
    Frame from{.dso = function.dso, .symbol = symbol, .address = function.start};
    constexpr uint64_t kMaxFunctionSize = kMaxInstructions * CodeBytes::kMaxLength;
    uint64_t size = info.end > function.start ? info.end - function.start : 0;
    CodeBytes::Code code = bytes_.at(from, std::min(size, kMaxFunctionSize));
    if (code.bytes.empty()) return;
    CodeListing listing;
    auto most = std::ranges::max_element(function.frames, {}, [](auto& f) { return f.second; });
    listing.frame = StackFrameId(most->first);
    listing.name = info.name;
    disassemble(code, info, listing);
    listing.is_cut |= size > code.bytes.size();
    add_lines(function, listing);
    first_[{function.dso.value, function.start}] = {code_.listings.size(), instructions_};
    instructions_ += listing.instructions.size();
    code_.listings.push_back(std::move(listing));
  }

  void disassemble(const CodeBytes::Code& code, const SymbolInfo& info, CodeListing& listing) {
    auto disassembler =
        disasm::Disassembler::make(arch_of(session_), {.is_64_bit = code.is_64_bit});
    if (!disassembler) return;  // no disassembler for this machine
    disasm::Instruction instruction;
    for (size_t at = 0; at < code.bytes.size(); at += instruction.length) {
      if (listing.instructions.size() == kMaxInstructions) {
        listing.is_cut = true;
        return;
      }
      disassembler->decode(code.bytes.subspan(at), at, instruction);
      CodeInstruction& made = listing.instructions.emplace_back();
      made.offset = static_cast<uint32_t>(at);
      made.text = text_of(instruction, code.bytes.size(), info);
    }
  }
  /// The target of a jump or call is written as an offset inside the function, as a name outside.
  [[nodiscard]] std::string text_of(const disasm::Instruction& instruction, size_t size,
                                    const SymbolInfo& info) const {
    bool goes_elsewhere =
        instruction.flow == disasm::Flow::kJump || instruction.flow == disasm::Flow::kCall;
    if (!instruction.target || !goes_elsewhere) return instruction.text;
    uint64_t target = *instruction.target;
    std::string_view words = trim(instruction.text);
    std::string_view before = trim(words.substr(0, words.rfind(' ')));
    if (target < size) return fmt::format("{} {:x}", before, target);
    SymbolId symbol = session_.symbolizer().find(info.dso, info.start + target);
    if (!symbol.valid()) return fmt::format("{} <elsewhere>", before);
    uint64_t offset = info.start + target - session_.symbolizer().start_of(symbol);
    std::string_view name = session_.symbolizer().name(symbol);
    return offset == 0 ? fmt::format("{} {}", before, name)
                       : fmt::format("{} {}+{:x}", before, name, offset);
  }

  // Source lines.

  void add_lines(const HotFunction& function, CodeListing& listing) {
    std::vector<uint64_t> addresses;
    for (const CodeInstruction& instruction : listing.instructions)
      addresses.push_back(function.start + instruction.offset);
    session_.symbolizer().prepare_lines(function.dso, addresses, LineParts::kLines);
    std::map<std::string, uint32_t> files;
    std::vector<SourcePlace> places;  // one in each file
    for (size_t i = 0; i < addresses.size(); ++i) {
      auto place = session_.symbolizer().source_place(function.dso, addresses[i]);
      if (!place || place->line == 0) continue;
      auto [entry, is_new] =
          files.try_emplace(place->file, static_cast<uint32_t>(listing.sources.size()));
      if (is_new) {
        listing.sources.push_back({.path = place->file, .first_line = 1, .lines = {}});
        places.push_back(*place);
      }
      listing.instructions[i].file = entry->second;
      listing.instructions[i].line = place->line;
    }
    for (uint32_t file = 0; file < listing.sources.size(); ++file)
      add_source(listing, file, sources_.of(function.dso, places[file]));
  }
  /// The lines that have code, and a few around them.
  static void add_source(CodeListing& listing, uint32_t file,
                         std::span<const std::string_view> lines) {
    uint32_t first = UINT32_MAX, last = 0;
    for (const CodeInstruction& instruction : listing.instructions) {
      if (instruction.file != file) continue;
      first = std::min(first, instruction.line);
      last = std::max(last, instruction.line);
    }
    SourcePart& part = listing.sources[file];
    part.first_line = first > kLinesAround ? first - kLinesAround : 1;
    uint64_t end = std::min<uint64_t>(uint64_t{last} + kLinesAround, lines.size());
    end = std::min<uint64_t>(end, uint64_t{part.first_line} + kMaxLines);
    constexpr size_t kMaxLineLength = 300;
    for (uint64_t line = part.first_line; line <= end; ++line)
      part.lines.emplace_back(lines[line - 1].substr(0, kMaxLineLength));
  }

  // Samples.

  void place_samples() {
    if (code_.listings.empty()) return;
    const StackSamples& samples = profile_.samples;
    std::vector<uint32_t> place_of_frame(session_.frames().size(), UINT32_MAX);
    code_.place.reserve(samples.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      uint32_t frame = samples.place[i];
      if (frame == UINT32_MAX) {
        code_.place.push_back(0);
        continue;
      }
      uint32_t& place = place_of_frame[frame];
      if (place == UINT32_MAX) place = place_of(session_.frames()[frame]);
      code_.place.push_back(place);
    }
  }
  /// The index plus one; 0 if in none of the listings.
  [[nodiscard]] uint32_t place_of(const Frame& frame) const {
    auto found = first_.find({frame.dso.value, frame.symbol_start});
    if (!frame.symbol.valid() || found == first_.end()) return 0;
    auto [listing, first] = found->second;
    const auto& instructions = code_.listings[listing].instructions;
    auto offset = static_cast<uint64_t>(frame.address - frame.symbol_start);
    auto after = std::ranges::upper_bound(instructions, offset, {}, &CodeInstruction::offset);
    bool is_behind = after == instructions.end() && code_.listings[listing].is_cut;
    if (after == instructions.begin() || is_behind) return 0;
    return static_cast<uint32_t>(first + static_cast<size_t>(after - instructions.begin()));
  }

  const Session& session_;
  const StackProfile& profile_;
  CodeBytes bytes_;
  SourceLines sources_;
  std::map<Key, HotFunction> functions_;
  std::map<Key, std::pair<size_t, size_t>> first_;  // listing, index of its first instruction
  size_t instructions_ = 0;
  PageCode code_;
};

}  // namespace

PageCode hot_code(const Session& session, const StackProfile& profile) {
  return HotCode(session, profile).make();
}

}  // namespace sonde
