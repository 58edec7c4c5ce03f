#include "event/pmu/pmu.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr size_t kMaxSysfsFile = 64 * 1024;

/// A sysfs file without its newline; nothing if it cannot be read.
std::optional<std::string> read_line(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxSysfsFile);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

/// Names in a directory, sorted; empty if it does not exist.
std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(directory);
  std::ranges::sort(names);
  return names;
}

/// A number from a scale file: "2.3283064365386962890625e-10".
double parse_scale(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? 1.0 : value;
}

std::optional<PmuFormat::Range> parse_range(std::string_view text) {
  size_t dash = text.find('-');
  std::optional<uint64_t> low = parse_number(text.substr(0, dash));
  std::optional<uint64_t> high =
      dash == std::string_view::npos ? low : parse_number(text.substr(dash + 1));
  if (!low || !high || *low > *high || *high > 63) return std::nullopt;
  return PmuFormat::Range{static_cast<unsigned>(*low), static_cast<unsigned>(*high)};
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether `pmu` is one unit of the uncore PMU that a user calls `name`.
bool is_unit_of(std::string_view pmu, std::string_view name) {
  constexpr std::string_view kUncore = "uncore_";
  if (pmu.starts_with(kUncore) && !name.starts_with(kUncore)) pmu.remove_prefix(kUncore.size());
  if (pmu == name) return true;
  return pmu.size() > name.size() + 1 && pmu.starts_with(name) && pmu[name.size()] == '_' &&
         all_digits(pmu.substr(name.size() + 1));
}

}  // namespace

uint64_t PmuFormat::max_value() const {
  unsigned width = 0;
  for (const Range& range : bits) width += range.high - range.low + 1;
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

uint64_t PmuFormat::spread(uint64_t value) const {
  uint64_t placed = 0;
  for (const Range& range : bits) {
    unsigned width = range.high - range.low + 1;
    uint64_t part = width >= 64 ? value : value & ((uint64_t{1} << width) - 1);
    placed |= part << range.low;
    value = width >= 64 ? 0 : value >> width;
  }
  return placed;
}

std::optional<PmuFormat> PmuFormat::parse(std::string_view name, std::string_view text) {
  text = trim(text);
  constexpr std::string_view kConfig = "config";
  if (!text.starts_with(kConfig)) return std::nullopt;
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view number = text.substr(kConfig.size(), colon - kConfig.size());
  std::optional<uint64_t> word = number.empty() ? 0 : parse_number(number);
  if (!word || *word > 3) return std::nullopt;
  PmuFormat format{.name = std::string(name), .word = static_cast<unsigned>(*word), .bits = {}};
  for (std::string_view field : split(text.substr(colon + 1), ',')) {
    std::optional<Range> range = parse_range(trim(field));
    if (!range || format.bits.size() == 64) return std::nullopt;
    format.bits.push_back(*range);
  }
  return format;
}

void Pmu::read_cpus() const {
  cpus_.emplace();
  std::optional<std::string> text = read_line(directory_ + "/cpumask");
  uncore_ = text.has_value();
  if (!text) text = read_line(directory_ + "/cpus");
  if (!text) return;
  if (std::optional<std::vector<int>> cpus = parse_cpu_list(*text)) *cpus_ = std::move(*cpus);
}

const std::vector<int>& Pmu::cpus() const {
  if (!cpus_) read_cpus();
  return *cpus_;
}

bool Pmu::is_uncore() const {
  if (!cpus_) read_cpus();
  return uncore_;
}

bool Pmu::filters_addresses() const {
  if (type_ == kSteppingPmuType) return true;
  std::optional<std::string> slots = read_line(directory_ + "/nr_addr_filters");
  return slots && parse_number(*slots).value_or(0) > 0;
}

const std::vector<PmuFormat>& Pmu::formats() const {
  if (formats_) return *formats_;
  formats_.emplace();
  for (const std::string& file : list_directory(directory_ + "/format")) {
    std::optional<std::string> text = read_line(directory_ + "/format/" + file);
    if (!text) continue;
    if (std::optional<PmuFormat> format = PmuFormat::parse(file, *text))
      formats_->push_back(std::move(*format));
  }
  return *formats_;
}

const std::vector<PmuAlias>& Pmu::aliases() const {
  if (aliases_) return *aliases_;
  aliases_.emplace();
  std::string events = directory_ + "/events/";
  std::vector<std::string> files = list_directory(events);
  auto has = [&](const std::string& file) { return std::ranges::binary_search(files, file); };
  for (const std::string& file : files) {
    if (file.ends_with(".unit") || file.ends_with(".scale") || file.ends_with(".per-pkg") ||
        file.ends_with(".snapshot"))
      continue;
    std::optional<std::string> terms = read_line(events + file);
    if (!terms) continue;
    PmuAlias alias{.name = file, .terms = std::move(*terms), .unit = {}};
    if (has(file + ".unit")) alias.unit = read_line(events + file + ".unit").value_or("");
    if (has(file + ".scale"))
      alias.scale = parse_scale(read_line(events + file + ".scale").value_or(""));
    alias.per_package = has(file + ".per-pkg");
    alias.snapshot = has(file + ".snapshot");
    aliases_->push_back(std::move(alias));
  }
  return *aliases_;
}

const PmuFormat* Pmu::format(std::string_view name) const {
  auto found = std::ranges::find(formats(), name, &PmuFormat::name);
  return found == formats().end() ? nullptr : &*found;
}

const PmuAlias* Pmu::alias(std::string_view name) const {
  auto found = std::ranges::find(aliases(), name, &PmuAlias::name);
  return found == aliases().end() ? nullptr : &*found;
}

std::optional<std::string> Pmu::cap(std::string_view name) const {
  return read_line(fmt::format("{}/caps/{}", directory_, name));
}

std::vector<std::pair<std::string, std::string>> Pmu::caps() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& file : list_directory(directory_ + "/caps"))
    if (std::optional<std::string> text = cap(file)) all.emplace_back(file, std::move(*text));
  return all;
}

const Pmu* PmuCatalog::find(std::string_view name) {
  if (auto known = known_.find(name); known != known_.end()) return known->second.get();
  bool is_file_name = !name.empty() && name.front() != '.' &&
                      name.find('/') == std::string_view::npos &&
                      name.find('\0') == std::string_view::npos && !has_glob(name);
  if (!is_file_name) return nullptr;
  std::string directory = fmt::format("{}/{}", devices_, name);
  std::unique_ptr<Pmu> pmu;
  if (name == kSteppingPmu)
    pmu.reset(new Pmu(std::string(name), "/dev/null/none", kSteppingPmuType));
  else if (std::optional<std::string> type = read_line(directory + "/type"))
    if (std::optional<uint64_t> number = parse_number(*type); number && *number <= 0xffffffff)
      pmu.reset(new Pmu(std::string(name), directory, static_cast<uint32_t>(*number)));
  return known_.emplace(name, std::move(pmu)).first->second.get();
}

const std::vector<const Pmu*>& PmuCatalog::all() {
  if (all_) return *all_;
  all_.emplace();
  for (const std::string& name : list_directory(devices_))
    if (const Pmu* pmu = find(name)) all_->push_back(pmu);
  return *all_;
}

std::vector<const Pmu*> PmuCatalog::matching(std::string_view name) {
  if (const Pmu* pmu = find(name)) return {pmu};
  if (name.empty()) return {};
  std::vector<const Pmu*> found;
  for (const Pmu* pmu : all())
    if (is_unit_of(pmu->name(), name) || (has_glob(name) && glob_match(name, pmu->name())))
      found.push_back(pmu);
  return found;
}

const Pmu* PmuCatalog::by_type(uint32_t type) {
  for (const Pmu* pmu : all())
    if (pmu->type() == type) return pmu;
  return nullptr;
}

std::vector<const Pmu*> PmuCatalog::core() {
  if (const Pmu* pmu = find("cpu")) return {pmu};
  std::vector<const Pmu*> found;
  for (const Pmu* pmu : all())
    if (!pmu->is_uncore() && !pmu->cpus().empty()) found.push_back(pmu);
  return found;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text, int limit) {
  std::vector<int> cpus;
  text = trim(text);
  if (text.empty()) return cpus;
  auto maximum = static_cast<uint64_t>(limit);
  for (std::string_view field : split(text, ',')) {
    field = trim(field);
    size_t dash = field.find('-');
    std::optional<uint64_t> first = parse_number(field.substr(0, dash));
    std::optional<uint64_t> last =
        dash == std::string_view::npos ? first : parse_number(field.substr(dash + 1));
    if (!first || !last || *first > *last || *last > maximum) return std::nullopt;
    for (uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    // Overlapping ranges must not accumulate without bound.
    if (cpus.size() > 2 * maximum) return std::nullopt;
  }
  std::ranges::sort(cpus);
  auto repeated = std::ranges::unique(cpus);
  cpus.erase(repeated.begin(), repeated.end());
  return cpus;
}

}  // namespace sonde
