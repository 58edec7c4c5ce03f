#include "annotate/listing_builder.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/frame_function.h"

namespace sonde::annotate {
namespace {

view::ListingFlow flow_of(disasm::Flow flow) {
  switch (flow) {
    case disasm::Flow::kJump:
      return view::ListingFlow::kJump;
    case disasm::Flow::kCall:
      return view::ListingFlow::kCall;
    case disasm::Flow::kReturn:
      return view::ListingFlow::kReturn;
    default:
      return view::ListingFlow::kOn;
  }
}

/// An instruction, or omitted zeroes (length without text).
struct Decoded {
  uint64_t address = 0;
  disasm::Instruction instruction;
};

std::vector<Decoded> decode_all(const FunctionCode& code, const disasm::Disassembler& decoder) {
  constexpr size_t kManyZeroes = 8, kManyAtEnd = 3, kZeroUnit = 4;
  std::vector<Decoded> decoded;
  size_t at = 0;
  while (at < code.bytes.size()) {
    Decoded& one = decoded.emplace_back();
    one.address = code.address + at;
    Bytes rest = code.bytes.subspan(at);
    size_t zeroes = static_cast<size_t>(
        std::ranges::find_if(rest, [](std::byte b) { return b != std::byte{0}; }) - rest.begin());
    bool to_end = zeroes == rest.size();
    if (zeroes >= kManyZeroes || (to_end && zeroes > 0 && zeroes < kManyAtEnd)) {
      one.instruction.length = to_end ? zeroes : zeroes / kZeroUnit * kZeroUnit;
    } else {
      decoder.decode(rest, one.address, one.instruction);
    }
    at += one.instruction.length;
  }
  return decoded;
}

std::string hex_bytes(Bytes bytes) {
  std::string text;
  for (std::byte byte : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x} ", std::to_integer<unsigned>(byte));
  return text;
}

std::string_view trimmed_end(std::string_view text) {
  size_t last = text.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

class Maker {
 public:
  Maker(const Session& session, const ListingOptions& options, SourceText& source,
        const FunctionHits& function, const FunctionCode& code, view::Listing& out)
      : session_(session),
        options_(options),
        source_(source),
        function_(function),
        code_(code),
        out_(out) {}

  Result<> make() {
    auto decoder = TRY(disasm::Disassembler::make(code_.arch, {code_.is_64_bit, options_.syntax}));
    decoded_ = decode_all(code_, decoder);
    name_targets();
    prepare_lines();
    add_heading();
    if (code_.object != nullptr)
      labels_ = CodeNames::labels(*code_.object, code_.address, code_.address + code_.bytes.size(),
                                  options_.demangle);
    for (const Decoded& one : decoded_) {
      add_label(one.address);
      add_lines_of(one.address);
      add_instruction(one);
    }
    return {};
  }

 private:
  [[nodiscard]] uint64_t in_object(uint64_t address) const {
    return function_.info.start + (address - code_.address);
  }

  // Names.

  void name_targets() {
    std::vector<uint64_t> targets{code_.address};
    for (const Decoded& one : decoded_)
      if (one.instruction.target) targets.push_back(*one.instruction.target);
    if (code_.object != nullptr)
      names_.emplace(*code_.object, std::move(targets), options_.demangle);
  }
  [[nodiscard]] std::string name_of(uint64_t target) const {
    uint64_t distance = target - code_.address;
    // Its object's symbols would count from some other function.
    bool is_nameless = frame_function_start(function_.info.name) == code_.address;
    if (names_ && !(is_nameless && distance < code_.bytes.size()))
      return names_->of(target).text(target);
    if (distance < code_.bytes.size()) return with_offset(function_.info.name, distance);
    return is_of_kernel() ? name_in_kernel(target) : std::string();
  }
  static std::string with_offset(std::string_view name, uint64_t distance) {
    return distance == 0 ? std::string(name) : fmt::format("{}+{:#x}", name, distance);
  }
  [[nodiscard]] bool is_of_kernel() const {
    DsoKind kind = session_.machine().dsos()[function_.info.dso].kind;
    return kind == DsoKind::kKernel || kind == DsoKind::kModule;
  }
  /// For code read from kernel memory: uses the recording's symbols, including modules'.
  [[nodiscard]] std::string name_in_kernel(uint64_t target) const {
    Frame frame =
        session_.resolve(0, session_.counts().last_time_ns, RuntimeAddr(target), abi::kMiscKernel);
    if (!frame.symbol.valid()) return {};
    return with_offset(session_.symbolizer().name(frame.symbol),
                       frame.address - frame.symbol_start);
  }

  // Text.

  void add_text(std::string_view text) {
    view::ListingLine& line = out_.lines.emplace_back();
    line.number = number_++;
    line.text = expand_tabs(trim(text));
  }
  void add_heading() {
    add_text("");
    add_text("");
    add_text("");
    if (!code_.section.empty()) add_text(fmt::format("Disassembly of section {}:", code_.section));
    add_symbol_heading(code_.address, name_of(code_.address));
  }
  void add_symbol_heading(uint64_t address, std::string_view name) {
    add_text("");
    if (name.empty()) name = function_.info.name;
    if (code_.is_64_bit)
      add_text(fmt::format("{:016x} <{}>:", address, name));
    else
      add_text(fmt::format("{:08x} <{}>:", address, name));
  }
  void add_label(uint64_t address) {
    if (address == code_.address) return;
    while (next_label_ < labels_.size() && labels_[next_label_].address < address) ++next_label_;
    if (next_label_ < labels_.size() && labels_[next_label_].address == address)
      add_symbol_heading(address, labels_[next_label_].name);
  }

  // Lines of source.

  void prepare_lines() {
    std::vector<uint64_t> addresses;
    for (const Decoded& one : decoded_) addresses.push_back(in_object(one.address));
    session_.symbolizer().prepare_lines(function_.info.dso, addresses, LineParts::kBoth);
  }

  void add_lines_of(uint64_t address) {
    DsoId dso = function_.info.dso;
    add_function_name(session_.symbolizer().function_at(dso, in_object(address)));
    auto place = session_.symbolizer().source_place(dso, in_object(address));
    if (!place || place->line == 0) return;
    std::string path = source_.place_of(place->file);
    if (place->line != last_line_) {
      // Absolute paths only locate the next lines; others are text like these.
      if (path.starts_with('/'))
        number_ = place->line;
      else
        add_text(fmt::format("{}:{}", path, place->line));
      last_line_ = place->line;
    }
    if (options_.source) add_source(path, *place);
  }

  void add_function_name(std::string_view linkage_name) {
    if (linkage_name.empty()) return add_symbol_name();
    if (linkage_name == last_function_) return;
    last_function_ = linkage_name;
    std::string name;
    if (options_.demangle) name = demangle(last_function_, true);
    bool has_parameters = !name.empty() && !last_function_.contains("::");
    add_named(
        fmt::format("{}{}:", name.empty() ? last_function_ : name, has_parameters ? "" : "()"));
  }
  /// Without debug information, the function's own symbol is shown instead, once.
  void add_symbol_name() {
    if (!last_function_.empty()) return;
    last_function_ = function_.info.name;
    std::string name = name_of(code_.address);
    if (name.empty()) name = last_function_;
    add_named(name.ends_with(')') ? fmt::format("{}:", name) : fmt::format("{}():", name));
  }
  void add_named(std::string_view text) {
    add_text(text);
    last_line_ = UINT32_MAX;
  }

  /// Preceding lines without code are included, back to what was already shown.
  void add_source(const std::string& path, const SourcePlace& place) {
    uint32_t line = place.line;
    constexpr uint32_t kBefore = 5;
    Shown& shown = shown_[path];
    if (line == shown.last) return;
    uint32_t from = line > kBefore ? line - kBefore : 1;
    if (shown.most >= from) from = shown.most < line ? shown.most + 1 : line;
    std::span<const std::string_view> lines = source_.lines(function_.info.dso, place);
    for (uint32_t i = from; i <= line && i <= lines.size(); ++i) {
      view::ListingLine& added = out_.lines.emplace_back();
      added.kind = view::ListingKind::kSource;
      added.number = i;
      added.text = expand_tabs(trim(lines[i - 1]));
      ++number_;
    }
    if (lines.empty()) return;
    shown.most = std::max(shown.most, line);
    shown.last = line;
  }

  // Instructions.

  void add_instruction(const Decoded& one) {
    const disasm::Instruction& instruction = one.instruction;
    if (instruction.text.empty()) return add_text("...");
    std::string text = instruction.text;
    std::string name;
    if (instruction.target) {
      name = name_of(*instruction.target);
      append_target(instruction, name, text);
    }
    Bytes bytes = code_.bytes.subspan(one.address - code_.address, instruction.length);
    constexpr size_t kBytesPerLine = 7;
    size_t first = options_.raw ? std::min(kBytesPerLine, bytes.size()) : bytes.size();
    if (options_.raw) text = fmt::format("{:<21}\t{}", hex_bytes(bytes.first(first)), text);
    add_code_line(one.address, text);
    view::ListingLine& line = out_.lines.back();
    line.flow = flow_of(instruction.flow);
    line.target = instruction.target;
    line.target_name = std::move(name);
    for (size_t at = first; at < bytes.size(); at += kBytesPerLine)
      add_code_line(one.address + at,
                    hex_bytes(bytes.subspan(at, std::min(kBytesPerLine, bytes.size() - at))));
  }
  static void append_target(const disasm::Instruction& instruction, const std::string& name,
                            std::string& text) {
    if (instruction.flow == disasm::Flow::kOn || text.ends_with(')') || text.ends_with(']'))
      text += fmt::format("        # {:x}", *instruction.target);
    if (!name.empty()) text += fmt::format(" <{}>", name);
  }
  /// Columns count from the start of the address, as in objdump's own lines.
  void add_code_line(uint64_t address, std::string_view text) {
    std::string whole = expand_tabs(trimmed_end(fmt::format("{:x}:\t{}", address, text)));
    view::ListingLine& line = out_.lines.emplace_back();
    line.kind = view::ListingKind::kInstruction;
    line.number = number_++;
    line.address = address;
    line.text = whole.substr(whole.find(':') + 1);
  }

  struct Shown {
    uint32_t last = 0;  // line
    uint32_t most = 0;
  };

  const Session& session_;
  const ListingOptions& options_;
  SourceText& source_;
  const FunctionHits& function_;
  const FunctionCode& code_;
  view::Listing& out_;
  std::vector<Decoded> decoded_;
  std::optional<CodeNames> names_;
  std::vector<CodeNames::Label> labels_;
  size_t next_label_ = 0;
  uint32_t number_ = 0;
  std::string last_function_;
  uint32_t last_line_ = UINT32_MAX;
  std::map<std::string, Shown> shown_;
};

/// Each instruction gets the samples between it and the next one.
void place_hits(const FunctionHits& function, std::span<const EventId> events, uint64_t start,
                view::Listing& out) {
  out.hits.resize(out.lines.size() * events.size());
  size_t next = 0, last_line = SIZE_MAX;
  auto take_before = [&](uint64_t offset) {
    for (; next < function.addresses.size() && function.addresses[next].offset < offset; ++next) {
      if (last_line == SIZE_MAX) continue;
      for (size_t i = 0; i < events.size(); ++i) {
        const view::ListingHits& hits = function.addresses[next].by_event[events[i].index()];
        view::ListingHits& line = out.hits[last_line * events.size() + i];
        line.samples += hits.samples;
        line.period += hits.period;
      }
    }
  };
  for (size_t i = 0; i < out.lines.size(); ++i) {
    if (out.lines[i].kind != view::ListingKind::kInstruction) continue;
    take_before(out.lines[i].address - start);
    last_line = i;
  }
  take_before(UINT64_MAX);
}

class LocationTotals {
 public:
  LocationTotals(const Session& session, const ListingOptions& options, const SymbolInfo& function)
      : session_(session), options_(options), function_(function) {}

  void add(view::Listing& out) {
    for (size_t i = 0; i < out.lines.size(); ++i)
      if (out.lines[i].kind == view::ListingKind::kInstruction) add_line(out, i);
    // Ties are in perf's order: the later name first.
    for (auto& [place, percents] : std::views::reverse(sums_))
      out.places.push_back({place, percents});
    std::ranges::stable_sort(out.places, std::greater<>(), &view::ListingPlace::percents);
  }

 private:
  void add_line(view::Listing& out, size_t index) {
    constexpr double kMin = 0.5;
    view::ListingLine& line = out.lines[index];
    std::vector<double> percents;
    for (size_t event = 0; event < out.events.size(); ++event)
      percents.push_back(out.percent(out.hits_of(index)[event], event, options_.percent));
    if (std::ranges::max(percents) <= kMin) return;
    line.place = place_of(function_.start + (line.address - out.start));
    std::vector<double>& sum = sums_[line.place];
    sum.resize(percents.size());
    for (size_t event = 0; event < percents.size(); ++event) sum[event] += percents[event];
  }
  [[nodiscard]] std::string place_of(uint64_t address) const {
    auto place = session_.symbolizer().source_place(function_.dso, address);
    if (!place || place->line == 0) {
      uint64_t distance = address - function_.start;
      return fmt::format("{}+{}", function_.name, distance);
    }
    std::string_view file = place->file;
    if (!options_.full_paths) file.remove_prefix(file.rfind('/') + 1);
    return fmt::format("{}:{}", file, place->line);
  }

  const Session& session_;
  const ListingOptions& options_;
  const SymbolInfo& function_;
  std::map<std::string, std::vector<double>> sums_;
};

std::string events_name(const Session& session, std::span<const EventId> events) {
  std::vector<std::string> names;
  for (EventId event : events) names.push_back(session.events()[event].name);
  std::string joined = join(names, ", ");
  const EventDesc& leader = session.events()[events[0]];
  if (events.size() < 2 || leader.group_size < 2) return joined;
  return fmt::format("{} {{ {} }}", leader.group_name.empty() ? "anon group" : leader.group_name,
                     joined);
}

}  // namespace

Result<view::Listing> ListingBuilder::make(const FunctionHits& function, const RecordingHits& all,
                                           std::span<const EventId> events) {
  FunctionCode code = TRY(code_.find(function.info));
  const Dso& dso = session_.machine().dsos()[function.info.dso];
  view::Listing listing;
  listing.function = function.info.name;
  listing.object = options_.full_paths ? dso.path : dso.path.substr(dso.path.rfind('/') + 1);
  listing.path = dso.path;
  listing.start = code.address;
  listing.end = code.address + code.bytes.size();
  listing.events_name = events_name(session_, events);
  const abi::EventAttr& attr = session_.events()[events[0]].attr;
  if (attr.freq != 0) listing.frequency = fmt::format(", {} Hz", attr.sample_period);
  for (EventId event : events)
    listing.events.push_back(
        {session_.events()[event].name, function.totals[event.index()], all.totals[event.index()]});
  TRY(Maker(session_, options_, source_, function, code, listing).make());
  place_hits(function, events, code.address, listing);
  if (!branches_ && BranchColumns::has_any(session_))
    branches_ = std::make_unique<BranchColumns>(session_);
  if (branches_) branches_->add(function.symbol, function.info, listing);
  if (options_.places) LocationTotals(session_, options_, function.info).add(listing);
  return listing;
}

}  // namespace sonde::annotate
