#include "symbol/kallsyms.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/files/regular_file.h"
#include "base/text.h"
#include "symbol/kallsyms_lines.h"

namespace sonde {
namespace {

constexpr const char* kKernel = "[kernel.kallsyms]";
constexpr size_t kMaxModules = UINT16_MAX;

uint8_t binding_of(char type) {
  if (type == 'W' || type == 'w') return STB_WEAK;
  return is_ascii_upper(type) ? STB_GLOBAL : STB_LOCAL;
}

uint8_t type_of(char type) {
  return type == 'T' || type == 't' || type == 'W' || type == 'w' ? STT_FUNC : STT_OBJECT;
}

Symbol symbol_of(const KallsymsLine& line, uint16_t module) {
  std::string_view name = line.name();
  return {.start = line.address,
          .end = line.address,
          .name_chars = name.data(),
          .name_size = static_cast<uint32_t>(name.size()),
          .module = module,
          .type = type_of(line.type),
          .binding = binding_of(line.type)};
}

/// Maps module names to small numbers. Lines of one module are adjacent, so the last answer is
/// nearly always right.
class ModuleIds {
 public:
  explicit ModuleIds(std::vector<std::string>& names) : names_(names) {
    names_.emplace_back(kKernel);
  }
  uint16_t id(std::string_view module) {
    if (module.empty()) return 0;
    if (names_[last_] == module) return last_;
    auto found = ids_.find(std::string(module));
    if (found == ids_.end()) {
      if (names_.size() >= kMaxModules) return 0;
      found = ids_.emplace(module, static_cast<uint16_t>(names_.size())).first;
      names_.emplace_back(module);
    }
    return last_ = found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint16_t> ids_;
  uint16_t last_ = 0;
};

/// Keeps those lines that decide which symbols contain the requested addresses.
///
/// The sorted addresses divide the address space into gaps. The symbol at an address is the last
/// one of the nearest non-empty gap below it, and it ends where the first one of the nearest
/// non-empty gap above begins: so each gap keeps the lines with its lowest and its highest address.
class LinesAround {
 public:
  explicit LinesAround(std::span<const uint64_t> addresses)
      : addresses_(addresses.begin(), addresses.end()) {
    std::ranges::sort(addresses_);
    auto rest = std::ranges::unique(addresses_);
    addresses_.erase(rest.begin(), rest.end());
    gaps_.resize(addresses_.size() + 1);
  }

  void add(const KallsymsLine& line) {
    Gap& gap = gap_of(line.address);
    if (line.address >= gap.highest_address || gap.highest.empty()) {
      if (line.address != gap.highest_address) gap.highest.clear();
      gap.highest_address = line.address;
      gap.highest.push_back(line);
    }
    if (line.address <= gap.lowest_address) {
      if (line.address != gap.lowest_address) gap.lowest.clear();
      gap.lowest_address = line.address;
      gap.lowest.push_back(line);
    }
  }

  /// In text order.
  [[nodiscard]] std::vector<KallsymsLine> lines() const {
    std::vector<KallsymsLine> kept;
    for (const Gap& gap : gaps_) {
      kept.insert(kept.end(), gap.lowest.begin(), gap.lowest.end());
      kept.insert(kept.end(), gap.highest.begin(), gap.highest.end());
    }
    auto place = [](const KallsymsLine& line) { return line.rest.data(); };
    std::ranges::sort(kept, {}, place);
    auto rest = std::ranges::unique(kept, {}, place);
    kept.erase(rest.begin(), rest.end());
    return kept;
  }

 private:
  struct Gap {
    uint64_t lowest_address = UINT64_MAX, highest_address = 0;
    std::vector<KallsymsLine> lowest, highest;
  };
  /// Lines are mostly in order, so the gap of the last one is nearly always right.
  Gap& gap_of(uint64_t address) {
    bool same = (last_ == 0 || addresses_[last_ - 1] < address) &&
                (last_ == addresses_.size() || address <= addresses_[last_]);
    if (!same)
      last_ =
          static_cast<size_t>(std::ranges::lower_bound(addresses_, address) - addresses_.begin());
    return gaps_[last_];
  }

  std::vector<uint64_t> addresses_;
  std::vector<Gap> gaps_;  // gap i: above address i - 1, up to address i
  size_t last_ = 0;
};

/// Calls `take` with each line. Returns the number of malformed lines, and whether the kernel hides
/// all addresses.
template <typename Take>
std::pair<uint64_t, bool> walk_lines(std::string_view text, Take&& take) {
  uint64_t all_bits = 0;
  bool any = false;
  KallsymsLines lines(text);
  for (KallsymsLine line; lines.next(line);) {
    any = true;
    all_bits |= line.address;
    take(line);
  }
  return {lines.bad_lines(), any && all_bits == 0};
}

}  // namespace

Result<Kallsyms> Kallsyms::read(const std::string& path) {
  Kallsyms kallsyms = TRY(open(path));
  kallsyms.parse_all();
  return kallsyms;
}

Kallsyms Kallsyms::parse(std::string text) {
  Kallsyms kallsyms = of_text(std::move(text));
  kallsyms.parse_all();
  return kallsyms;
}

/// perf's copies are files and can be mapped; the kernel's own list has no size and must be read.
Result<Kallsyms> Kallsyms::open(const std::string& path) {
  auto status = status_of_regular(path);
  if (!status || status->st_size == 0) return of_text(TRY(read_file(path)));
  Kallsyms kallsyms;
  auto storage = std::make_unique<NameStorageOf<MappedFile>>(TRY(MappedFile::open(path)));
  kallsyms.text_ = as_text(storage->value().bytes());
  kallsyms.storage_ = std::move(storage);
  return kallsyms;
}

Result<Kallsyms> Kallsyms::open_named(const std::string& path) {
  if (status_of_regular(path)) return open(path);
  return of_text(TRY(read_stream(path)));
}

Kallsyms Kallsyms::of_text(std::string text) {
  Kallsyms kallsyms;
  auto storage = std::make_unique<NameStorageOf<std::string>>(std::move(text));
  kallsyms.text_ = storage->value();
  kallsyms.storage_ = std::move(storage);
  return kallsyms;
}

void Kallsyms::parse_all() {
  constexpr size_t kUsualLine = 40;
  SymbolTableBuilder builder;
  builder.reserve(text_.size() / kUsualLine);
  modules_.clear();
  ModuleIds modules(modules_);
  std::tie(bad_lines_, restricted_) = walk_lines(text_, [&](const KallsymsLine& line) {
    uint16_t module = modules.id(line.module());
    if (line.is_wanted()) builder.add(symbol_of(line, module));
  });
  finish(std::move(builder));
}

void Kallsyms::parse_around(std::span<const uint64_t> addresses) {
  LinesAround around(addresses);
  std::tie(bad_lines_, restricted_) = walk_lines(text_, [&](const KallsymsLine& line) {
    if (line.is_wanted()) around.add(line);
  });
  SymbolTableBuilder builder;
  modules_.clear();
  ModuleIds modules(modules_);
  for (const KallsymsLine& line : around.lines())
    builder.add(symbol_of(line, modules.id(line.module())));
  finish(std::move(builder));
  // The others were only needed to find the ends of these.
  std::vector<const Symbol*> found;
  for (uint64_t address : addresses)
    if (const Symbol* symbol = table_.find(address)) found.push_back(symbol);
  std::ranges::sort(found);
  auto rest = std::ranges::unique(found);
  found.erase(rest.begin(), rest.end());
  SymbolTableBuilder only_found;
  for (const Symbol* symbol : found) only_found.add(*symbol);
  table_ = std::move(only_found).build();
}

bool Kallsyms::may_name(std::string_view part) const {
  if (part.contains(' ')) return false;  // names are separated by blanks
  // On megabytes of text this is three times faster than memmem.
  std::boyer_moore_horspool_searcher searcher(part.begin(), part.end());
  return std::search(text_.begin(), text_.end(), searcher) != text_.end();
}

void Kallsyms::finish(SymbolTableBuilder builder) {
  if (restricted_) return;
  builder.finalize(FixupEnd::kKallsyms);
  table_ = std::move(builder).build();
}

std::optional<uint64_t> Kallsyms::address_of(std::string_view name) const {
  if (name.empty() || restricted_) return std::nullopt;
  std::string pattern = " " + std::string(name);
  for (std::string_view rest = text_; !rest.empty();) {
    const void* found = ::memmem(rest.data(), rest.size(), pattern.data(), pattern.size());
    if (found == nullptr) return std::nullopt;
    auto at = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
    size_t start = text_.rfind('\n', at) + 1;  // npos + 1: the first line
    KallsymsLine line;
    if (KallsymsLines(text_.substr(start, text_.find('\n', at) - start)).next(line) &&
        line.name() == name)
      return line.address;
    rest = text_.substr(at + 1);
  }
  return std::nullopt;
}

}  // namespace sonde
