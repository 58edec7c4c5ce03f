#include "probe/source/debug_code.h"

#include <dwarf.h>

#include <algorithm>

#include "base/parallel.h"
#include "base/text.h"
#include "dwarf/supplement.h"
#include "probe/source/function_path.h"
#include "symbol/demangle.h"

namespace sonde {

bool has_tail(std::string_view path, std::string_view tail) {
  if (!path.ends_with(tail) || tail.empty()) return false;
  return path.size() == tail.size() || tail.front() == '/' ||
         path[path.size() - tail.size() - 1] == '/';
}

const DwarfUnit* SourceUnit::whole() {
  if (!whole_) {
    bool is_split = unit_.dwo_id && !unit_.dwo_name.empty();
    whole_ = is_split ? debug_.split_.find(unit_) : &unit_;
  }
  return *whole_;
}

const UnitCode& SourceUnit::code() {
  if (!code_) code_ = whole() != nullptr ? UnitCode::read(*whole()) : UnitCode();
  return *code_;
}

const StatementRows& SourceUnit::rows() {
  if (!rows_) rows_.emplace(unit_);
  return *rows_;
}

const LineProgram& SourceUnit::header() {
  if (!header_) header_.emplace(unit_);
  return *header_;
}

std::vector<std::string> SourceUnit::files() {
  std::vector<std::string> paths;
  for (uint64_t i = 0; i < header().file_count(); ++i) paths.push_back(header().file(i).path());
  return paths;
}

const EntryFacts& SourceUnit::facts(uint32_t node) {
  // All copies of a function share what is said of it.
  const CodeNode& asked = code()[node];
  DwarfEntry entry{&code().unit(), asked.origin != 0 ? asked.origin : asked.entry};
  auto [found, is_new] = facts_.try_emplace(entry.offset);
  if (is_new) found->second = EntryFacts::of(entry);
  return found->second;
}

std::string SourceUnit::qualified_name(uint32_t node) {
  if (!names_) names_.emplace(code().unit());
  std::string_view linked = names_->of(code().entry(node));
  std::string shown = is_mangled(linked) ? demangle(linked, false) : std::string();
  return shown.empty() ? std::string(linked) : shown;
}

std::string SourceUnit::declared_in(uint32_t node) {
  const EntryFacts& known = facts(node);
  return known.file_unit == nullptr ? std::string()
                                    : debug_.file_path(*known.file_unit, known.file);
}

std::string SourceUnit::called_in(uint32_t node) {
  const CodeNode& copy = code()[node];
  return copy.call_line == 0 ? std::string() : debug_.file_path(unit_, copy.call_file);
}

bool SourceUnit::is_named(uint32_t node, std::string_view wanted) {
  const EntryFacts& known = facts(node);
  std::string plain;
  std::string_view pattern = wanted;
  // Rust: "<app::Shape>::area", "generic::<i32>"
  if (wanted.starts_with('<') || wanted.contains("::<"))
    pattern = plain = plain_function_path(wanted);
  if (known.name.empty()) return false;
  if (has_glob(pattern) && !known.name.starts_with("operator"))
    return glob_match(pattern, known.name) ||
           (pattern.contains("::") && glob_match(pattern, qualified_name(node)));
  if (known.name == pattern || (!known.linkage_name.empty() && known.linkage_name == pattern))
    return true;
  size_t arguments = known.name.find('<');
  bool is_template = arguments != std::string_view::npos && !known.name.starts_with("operator");
  if (is_template && known.name.substr(0, arguments) == pattern) return true;
  std::string_view last = last_of_path(pattern);
  if (last.size() == pattern.size()) return false;
  if (known.name != last && (!is_template || known.name.substr(0, arguments) != last)) return false;
  std::string full = plain_function_path(qualified_name(node));
  if (is_template) {
    // "ns::twice" or, in Rust, without the hash, "ns::twice<int>".
    size_t end = full.rfind(known.name.substr(0, arguments));
    if (end != std::string::npos) full.resize(end + arguments);
    if (last.contains('<')) full += known.name.substr(arguments);
  }
  if (!full.ends_with(pattern)) return false;
  return full.size() == pattern.size() ||
         full.substr(0, full.size() - pattern.size()).ends_with("::");
}

std::vector<uint32_t> SourceUnit::functions_named(std::string_view pattern) {
  std::vector<uint32_t> named;
  std::span<const CodeNode> nodes = code().nodes();
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    CodeNode::Kind kind = nodes[i].kind;
    bool is_function = kind == CodeNode::Kind::kFunction || kind == CodeNode::Kind::kInlined;
    if (is_function && nodes[i].start != 0 && is_named(i, pattern)) named.push_back(i);
  }
  return named;
}

Result<std::unique_ptr<DebugCode>> DebugCode::open(const std::string& path,
                                                   const DwarfLocations& places,
                                                   const std::string& object_cache) {
  ElfFile elf = TRY(ElfFile::open(path));
  std::unique_ptr<DwarfFile> supplement = find_supplement(elf, places);
  DebugIndex index(elf, object_cache);
  auto file = TRY(DwarfFile::open(std::move(elf), DwarfFile::Kind::kWhole, std::move(supplement),
                                  index.units()));
  return std::unique_ptr<DebugCode>(
      new DebugCode(std::move(file), std::move(index), path, places.root));
}

DebugCode::DebugCode(std::unique_ptr<DwarfFile> file, DebugIndex index, std::string program,
                     std::string root)
    : index_(std::move(index)),
      file_(std::move(file)),
      split_(std::move(program), std::move(root)) {
  for (const DwarfUnit& unit : file_->units())
    if (unit.abbrevs != nullptr && unit.tag != DW_TAG_partial_unit && !unit.signature)
      units_.push_back(std::make_unique<SourceUnit>(*this, unit));
}

/// Nullopt for a glob: the name may be anything.
std::optional<NameSearch> DebugCode::search_for(std::string_view function) {
  if (has_glob(function)) return std::nullopt;
  std::string path = plain_function_path(function);
  return std::optional<NameSearch>(std::in_place, *file_, last_of_path(path),
                                   index_.functions(*file_));
}

void DebugCode::visit_units_naming(std::string_view function,
                                   const std::function<bool(SourceUnit&)>& visit) {
  auto search = search_for(function);
  for (const auto& unit : units_) {
    bool is_candidate = !search || search->may_name(unit->unit());
    if (is_candidate && visit(*unit)) return;
  }
}

std::vector<NamedFunctions> DebugCode::functions_named(std::string_view name) {
  auto search = search_for(name);
  if (search) search->search_all();
  std::vector<NamedFunctions> found;
  for (const auto& unit : units_)
    if (!search || search->may_name(unit->unit())) found.push_back({unit.get(), {}});
  parallel_jobs(found.size(),
                [&](size_t i) { found[i].nodes = found[i].unit->functions_named(name); });
  return found;
}

std::vector<SourceUnit*> DebugCode::units_with_file(std::string_view path) {
  std::vector<char> has(units_.size());
  // The file's own name decides for most units, without building paths.
  std::string_view last = path.substr(path.rfind('/') + 1);
  parallel_for(units_.size(), [&](size_t i) {
    LineProgram program(units_[i]->unit());
    for (uint64_t n = 0; n < program.file_count() && has[i] == 0; ++n) {
      SourceFile file = program.file(n);
      if (file.last() == last && has_tail(file.path(), path)) has[i] = 1;
    }
  });
  std::vector<SourceUnit*> found;
  for (size_t i = 0; i < units_.size(); ++i)
    if (has[i] != 0) found.push_back(units_[i].get());
  return found;
}

SourceUnit* DebugCode::unit_at(uint64_t address) {
  constexpr size_t kMaxRanges = 1 << 20;
  std::vector<CodeRange> ranges;
  for (const auto& unit : units_) {
    ranges.clear();
    read_unit_code(unit->unit(), kMaxRanges, ranges);
    for (const CodeRange& range : ranges)
      if (address >= range.low && address < range.high) return unit.get();
  }
  return nullptr;
}

std::string DebugCode::file_path(const DwarfUnit& unit, uint64_t number) {
  const DwarfUnit& holder = unit.skeleton != nullptr ? *unit.skeleton : unit;
  auto& program = programs_[&holder];
  if (!program) program = std::make_unique<LineProgram>(holder);
  return program->file(number).path();
}

}  // namespace sonde
