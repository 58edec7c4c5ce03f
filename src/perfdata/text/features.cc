#include "perfdata/text/features.h"

#include "base/text.h"
#include "perfdata/text/fields.h"

namespace sonde {
namespace {

/// A sequence of strings and numbers.
class Tokens {
 public:
  static Result<Tokens> parse(std::string_view text) {
    Tokens tokens;
    while (!(text = trim(text)).empty()) {
      if (text.front() == '"') {
        tokens.items_.push_back({TRY(take_quoted(text)), 0, true});
        continue;
      }
      size_t end = std::min(text.find_first_of(" \t"), text.size());
      auto number = parse_signed_number(text.substr(0, end));
      if (!number)
        return fail(ErrorCode::kCorrupt, "{}: neither a number nor a string", text.substr(0, end));
      tokens.items_.push_back({{}, *number, false});
      text.remove_prefix(end);
    }
    return tokens;
  }
  std::string text() {
    Item item = next();
    ok_ = ok_ && item.is_text;
    return item.text;
  }
  uint64_t number() {
    Item item = next();
    ok_ = ok_ && !item.is_text;
    return item.number;
  }
  uint32_t u32() { return static_cast<uint32_t>(number()); }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool more() const { return ok_ && at_ < items_.size(); }
  [[nodiscard]] bool all_used() const { return ok_ && at_ == items_.size(); }

 private:
  struct Item {
    std::string text;
    uint64_t number = 0;
    bool is_text = false;
  };
  Item next() {
    if (at_ < items_.size()) return items_[at_++];
    ok_ = false;
    return {};
  }
  std::vector<Item> items_;
  size_t at_ = 0;
  bool ok_ = true;
};

/// The member of a section that is a single string; null for other sections.
template <typename AnyFeatures>
auto single_text(uint32_t bit, AnyFeatures& f) -> decltype(&f.hostname) {
  switch (bit) {
    case abi::kFeatureHostname:
      return &f.hostname;
    case abi::kFeatureOsRelease:
      return &f.os_release;
    case abi::kFeatureVersion:
      return &f.version;
    case abi::kFeatureArch:
      return &f.arch;
    case abi::kFeatureCpuDesc:
      return &f.cpu_desc;
    case abi::kFeatureCpuId:
      return &f.cpu_id;
    default:
      return nullptr;
  }
}

/// Path, where its addresses begin after the first such address, and its functions, preceded by
/// their number: place, first line, number of lines, name.
InterpretedFile interpreted_file(Tokens& in) {
  InterpretedFile file;
  file.path = in.text();
  file.start = kInterpretedBase + in.number();
  uint64_t count = in.number();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    InterpretedFile::Function function;
    function.place = in.number();
    function.first_line = in.u32();
    function.line_count = in.u32();
    function.name = in.text();
    file.functions.push_back(std::move(function));
  }
  return file;
}

void put_interpreted_file(const InterpretedFile& file, Sink& out) {
  out.print(" {} {} {}", in_quotes(file.path), file.start - kInterpretedBase,
            file.functions.size());
  for (const InterpretedFile::Function& function : file.functions)
    out.print(" {} {} {} {}", function.place, function.first_line, function.line_count,
              in_quotes(function.name));
}

void set_lists(uint32_t bit, Tokens& in, Features& f) {
  while (in.more()) {
    switch (bit) {
      case abi::kFeatureCmdline:
        f.command_line.push_back(in.text());
        break;
      case abi::kFeatureNumaTopology: {
        NumaNode node{};
        node.node = in.u32();
        node.total_kb = in.number();
        node.free_kb = in.number();
        node.cpus = in.text();
        f.numa.push_back(std::move(node));
        break;
      }
      case abi::kFeaturePmuMappings: {
        uint32_t type = in.u32();
        f.pmu_mappings.push_back({type, in.text()});
        break;
      }
      case abi::kFeatureGroupDesc: {
        GroupDesc group;
        group.name = in.text();
        group.leader_index = in.u32();
        group.member_count = in.u32();
        f.groups.push_back(std::move(group));
        break;
      }
      case abi::kFeatureInterpretedFiles:
        f.interpreted_files.push_back(interpreted_file(in));
        break;
      default: {
        std::string name = in.text();
        f.hybrid_pmus.push_back({std::move(name), in.text()});
      }
    }
  }
}

void set_numbers(uint32_t bit, Tokens& in, Features& f) {
  switch (bit) {
    case abi::kFeatureNrCpus:
      f.cpus_available = in.u32();
      f.cpus_online = in.u32();
      break;
    case abi::kFeatureTotalMem:
      f.total_mem_kb = in.number();
      break;
    case abi::kFeatureBranchStack:
      f.branch_stack = true;
      break;
    case abi::kFeatureSampleTime: {
      uint64_t first = in.number();
      f.sample_time = {first, in.number()};
      break;
    }
    case abi::kFeatureClockId:
      f.clock_resolution_ns = in.number();
      break;
    default: {
      ClockData clock{};
      clock.version = in.u32();
      clock.clockid = in.u32();
      clock.wall_clock_ns = in.number();
      clock.clockid_ns = in.number();
      f.clock_data = clock;
    }
  }
}

bool is_list(uint32_t bit) {
  return bit == abi::kFeatureCmdline || bit == abi::kFeatureNumaTopology ||
         bit == abi::kFeaturePmuMappings || bit == abi::kFeatureGroupDesc ||
         bit == abi::kFeatureHybridTopology || bit == abi::kFeatureInterpretedFiles;
}
bool is_numbers(uint32_t bit) {
  return bit == abi::kFeatureNrCpus || bit == abi::kFeatureTotalMem ||
         bit == abi::kFeatureBranchStack || bit == abi::kFeatureSampleTime ||
         bit == abi::kFeatureClockId || bit == abi::kFeatureClockData;
}

void put_list(uint32_t bit, const Features& f, Sink& out) {
  if (bit == abi::kFeatureCmdline)
    for (const std::string& word : f.command_line) out.print(" {}", in_quotes(word));
  if (bit == abi::kFeatureNumaTopology)
    for (const NumaNode& n : f.numa)
      out.print(" {} {} {} {}", n.node, n.total_kb, n.free_kb, in_quotes(n.cpus));
  if (bit == abi::kFeaturePmuMappings)
    for (const PmuMapping& m : f.pmu_mappings) out.print(" {} {}", m.type, in_quotes(m.name));
  if (bit == abi::kFeatureGroupDesc)
    for (const GroupDesc& g : f.groups)
      out.print(" {} {} {}", in_quotes(g.name), g.leader_index, g.member_count);
  if (bit == abi::kFeatureHybridTopology)
    for (const HybridPmu& p : f.hybrid_pmus)
      out.print(" {} {}", in_quotes(p.name), in_quotes(p.cpus));
  if (bit == abi::kFeatureInterpretedFiles)
    for (const InterpretedFile& file : f.interpreted_files) put_interpreted_file(file, out);
}

bool put_numbers(uint32_t bit, const Features& f, Sink& out) {
  if (bit == abi::kFeatureNrCpus && f.cpus_available && f.cpus_online)
    out.print(" {} {}", *f.cpus_available, *f.cpus_online);
  else if (bit == abi::kFeatureTotalMem && f.total_mem_kb)
    out.print(" {}", *f.total_mem_kb);
  else if (bit == abi::kFeatureSampleTime && f.sample_time)
    out.print(" {} {}", f.sample_time->first_ns, f.sample_time->last_ns);
  else if (bit == abi::kFeatureClockId && f.clock_resolution_ns)
    out.print(" {}", *f.clock_resolution_ns);
  else if (bit == abi::kFeatureClockData && f.clock_data)
    out.print(" {} {} {} {}", f.clock_data->version, f.clock_data->clockid,
              f.clock_data->wall_clock_ns, f.clock_data->clockid_ns);
  else
    return bit == abi::kFeatureBranchStack;
  return true;
}

}  // namespace

std::optional<uint32_t> feature_named(std::string_view name) {
  for (uint32_t bit = 0; bit < abi::kFeatureBits; ++bit)
    if (abi::feature_name(bit) == name && !name.empty()) return bit;
  auto number = parse_number(name);
  if (!number || *number >= abi::kFeatureBits) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

Result<bool> set_feature(uint32_t bit, std::string_view text, Features& features) {
  std::optional<std::string>* single = single_text(bit, features);
  if (single == nullptr && !is_list(bit) && !is_numbers(bit)) return false;
  Tokens tokens = TRY(Tokens::parse(text));
  if (single != nullptr)
    *single = tokens.text();
  else if (is_list(bit))
    set_lists(bit, tokens, features);
  else
    set_numbers(bit, tokens, features);
  if (!tokens.all_used())
    return fail(ErrorCode::kCorrupt, "feature {}: wrong number or kind of values",
                abi::feature_name(bit));
  return true;
}

bool put_feature(uint32_t bit, const Features& features, Sink& out) {
  if (const std::optional<std::string>* single = single_text(bit, features)) {
    if (!*single) return false;
    out.print(" {}", in_quotes(**single));
    return true;
  }
  if (is_list(bit)) {
    StringSink items(out);
    put_list(bit, features, items);
    out.write(items);
    return !items.text().empty();
  }
  return is_numbers(bit) && put_numbers(bit, features, out);
}

bool set_from_header_line(std::string_view line, Features& f) {
  auto value_of = [&](std::string_view key) -> std::optional<std::string> {
    if (!line.starts_with(key)) return std::nullopt;
    return std::string(trim(line.substr(key.size())));
  };
  auto number_of = [&](std::string_view key) -> std::optional<uint64_t> {
    auto value = value_of(key);
    if (!value) return std::nullopt;
    return parse_number(std::string_view(*value).substr(0, value->find(' ')));
  };
  constexpr std::pair<std::string_view, uint32_t> kTexts[] = {
      {"# hostname : ", abi::kFeatureHostname},    {"# os release : ", abi::kFeatureOsRelease},
      {"# perf version : ", abi::kFeatureVersion}, {"# arch : ", abi::kFeatureArch},
      {"# cpudesc : ", abi::kFeatureCpuDesc},      {"# cpuid : ", abi::kFeatureCpuId}};
  for (const auto& [key, bit] : kTexts)
    if (auto value = value_of(key)) {
      *single_text(bit, f) = std::move(value);
      return true;
    }
  if (auto value = number_of("# nrcpus online : ")) {
    f.cpus_online = static_cast<uint32_t>(*value);
    if (!f.cpus_available) f.cpus_available = f.cpus_online;
  } else if (value = number_of("# nrcpus avail : "); value) {
    f.cpus_available = static_cast<uint32_t>(*value);
  } else if (value = number_of("# total memory : "); value) {
    f.total_mem_kb = value;
  } else {
    return false;
  }
  return true;
}

}  // namespace sonde
