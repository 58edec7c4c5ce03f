#include "c2c/cache_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "event/pmu/pmu.h"
#include "profile/session_input.h"

namespace sonde::c2c {
namespace {

/// The share of the display's loads from which on a line is shown.
constexpr double kShownShare = 0.001;

/// What makes two accesses one line: mode of the code, whether nothing is mapped, file, process (of
/// memory without a file), and the line.
using LineKey = std::tuple<uint8_t, bool, uint32_t, uint32_t, uint64_t, uint32_t, uint64_t>;
/// Rows of a line, by offset and a number or a text per field.
using RowKey = std::pair<uint64_t, std::vector<std::pair<int64_t, std::string>>>;

struct RawLine {
  CacheLine line;
  std::map<RowKey, LineRow> rows;
};

class Collector {
 public:
  Collector(const Session& session, const Nodes& nodes, const Options& options)
      : session_(session), details_(session), nodes_(nodes), options_(options) {}

  void add(uint32_t index) {
    Sample sample;
    if (!session_.decode(index, sample)) sample = Sample();
    Frame data = details_.resolve(index, sample.addr);
    bool is_mapped = data.dso.valid() && details_.resolve_anywhere(index, sample.ip).dso.valid();
    AccessCounts counts = counts_of(sample.data_src, sample.addr, is_mapped);
    all_.add(counts);
    uint32_t memory_node = Nodes::kNone;
    if (sample.phys_addr != 0) memory_node = nodes_.of_physical(sample.phys_addr);

    auto [found, is_new] = lines_.try_emplace(key_of(index, data, sample.addr));
    RawLine& raw = found->second;
    if (is_new) raw.line.address = line_of(sample.addr);
    raw.line.counts.add(counts);
    raw.line.places.add(sample, memory_node);
    raw.line.period += session_.samples().period[index];

    auto [place, is_first] = raw.rows.try_emplace(row_key(index, sample));
    LineRow& row = place->second;
    if (is_first) {
      row.first_sample = index;
      row.offset = sample.addr - line_of(sample.addr);
      row.code = sample.ip;
    }
    row.counts.add(counts);
    row.places.add(sample, memory_node);
    row.by_node[nodes_.of_cpu(sample.id.has_cpu() ? sample.id.cpu : 0)].add(counts);
    if (session_.samples().chain_of(index).valid()) row.samples.push_back(index);
    add_latency(row, counts, sample.weight);
  }

  CacheLines take() {
    CacheLines result;
    result.all = all_;
    for (const auto& [key, raw] : lines_) {
      const AccessCounts& counts = raw.line.counts;
      if (counts.all_hitm() == 0 && counts.all_peer() == 0) continue;
      ++result.shared_lines;
      result.shared.add(counts);
    }
    for (auto& [key, raw] : lines_) {
      if (!is_shown(raw.line.counts, result.shared)) continue;
      take_rows(raw);
      result.lines.push_back(std::move(raw.line));
    }
    std::ranges::stable_sort(result.lines, std::greater(), [this](const CacheLine& line) {
      return displayed(line.counts, options_.display);
    });
    return result;
  }

 private:
  [[nodiscard]] uint64_t line_of(uint64_t address) const {
    return address & ~(options_.line_bytes - 1);
  }

  [[nodiscard]] LineKey key_of(uint32_t index, const Frame& data, uint64_t address) const {
    const SampleColumns& columns = session_.samples();
    uint8_t mode = columns.cpu_mode[index];
    if (!data.dso.valid()) return {mode, true, 0, 0, 0, 0, line_of(address)};
    const FileIdentity& file = session_.machine().dsos()[data.dso].file;
    const Mapping* mapping = details_.mapping_at(index, address);
    bool is_own = mode != abi::kMiscKernel && (mapping == nullptr || !mapping->shared) &&
                  file == FileIdentity();
    return {mode,
            false,
            file.major,
            file.minor,
            file.inode,
            is_own ? columns.pid[index] : 0,
            line_of(data.address)};
  }

  [[nodiscard]] RowKey row_key(uint32_t index, const Sample& sample) const {
    const SampleColumns& columns = session_.samples();
    RowKey key{sample.addr - line_of(sample.addr), {}};
    for (RowField field : options_.fields) {
      switch (field) {
        case RowField::kPid:  // rows that are otherwise equal: the latest process first
          key.second.emplace_back(-static_cast<int64_t>(static_cast<int32_t>(columns.pid[index])),
                                  "");
          break;
        case RowField::kTid:
          key.second.emplace_back(static_cast<int32_t>(columns.tid[index]), "");
          break;
        case RowField::kCode:  // the kernel's addresses are negative, and come first
          key.second.emplace_back(static_cast<int64_t>(sample.ip), "");
          break;
        case RowField::kObject: {
          DsoId dso = session_.frame(columns.leaf[index]).dso;
          key.second.emplace_back(
              dso.valid() ? 0 : 1,
              dso.valid() ? session_.machine().dsos()[dso].short_name : std::string());
          break;
        }
      }
    }
    return key;
  }

  static void add_latency(LineRow& row, const AccessCounts& counts, uint64_t cycles) {
    if (counts.remote_hitm != 0)
      row.remote_hitm.add(cycles);
    else if (counts.local_hitm != 0)
      row.local_hitm.add(cycles);
    else if (counts.remote_peer != 0)
      row.remote_peer.add(cycles);
    else if (counts.local_peer != 0)
      row.local_peer.add(cycles);
    else if (counts.loads != 0)
      row.other_loads.add(cycles);
  }

  [[nodiscard]] bool is_shown(const AccessCounts& counts, const AccessCounts& shared) const {
    if (options_.show_all) return true;
    uint64_t total = displayed(shared, options_.display);
    return total != 0 && static_cast<double>(displayed(counts, options_.display)) >=
                             kShownShare * static_cast<double>(total);
  }

  /// What comes first; HITMs of the other nodes decide among equals.
  [[nodiscard]] std::pair<uint64_t, uint64_t> rank_of(const AccessCounts& counts) const {
    return {displayed(counts, options_.display),
            options_.display == Display::kPeer ? 0 : counts.all_hitm()};
  }

  void take_rows(RawLine& raw) const {
    for (auto& [key, row] : raw.rows) raw.line.rows.push_back(std::move(row));
    std::ranges::stable_sort(raw.line.rows, [this](const LineRow& a, const LineRow& b) {
      if (a.offset != b.offset) return a.offset < b.offset;
      return rank_of(a.counts) > rank_of(b.counts);
    });
  }

  const Session& session_;
  SessionInput details_;
  const Nodes& nodes_;
  const Options& options_;
  AccessCounts all_;
  std::map<LineKey, RawLine> lines_;
};

}  // namespace

void IdSet::add(uint32_t id) {
  auto place = std::ranges::lower_bound(ids_, id);
  if (place == ids_.end() || *place != id) ids_.insert(place, id);
}

std::string IdSet::text() const {
  std::string text;
  for (size_t i = 0; i < ids_.size();) {
    size_t end = i + 1;
    while (end < ids_.size() && ids_[end] == ids_[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", ids_[i]);
    if (end - i > 1) text += fmt::format("-{}", ids_[end - 1]);
    i = end;
  }
  return text;
}

void Places::add(const Sample& sample, uint32_t memory_node) {
  if (sample.id.has_cpu()) cpus.add(sample.id.cpu);
  if (memory_node == Nodes::kNone) return;
  memory_nodes.add(memory_node);
  if (sample.phys_addr == last_physical) return;
  ++physical_changes;
  last_physical = sample.phys_addr;
}

Nodes::Nodes(const Features& features) {
  for (const NumaNode& node : features.numa) {
    auto number = static_cast<uint32_t>(cpus_.size());
    std::vector<uint32_t>& members = cpus_.emplace_back();
    for (int cpu : parse_cpu_list(node.cpus).value_or(std::vector<int>())) {
      auto id = static_cast<uint32_t>(cpu);
      members.push_back(id);
      if (id >= node_of_cpu_.size()) node_of_cpu_.resize(id + 1, 0);
      node_of_cpu_[id] = number;
    }
    std::ranges::sort(members);
  }
  if (cpus_.empty()) cpus_.emplace_back();
  if (!features.mem_topology) return;
  uint64_t size = features.mem_topology->block_size;
  for (const MemTopology::Node& node : features.mem_topology->nodes)
    for (uint64_t bit = 0; bit < std::min(node.block_bits, node.bitmap.size() * 64); ++bit)
      if ((node.bitmap[bit / 64] >> (bit % 64) & 1) != 0)
        blocks_.push_back({bit * size, (bit + 1) * size, static_cast<uint32_t>(node.node)});
  std::ranges::stable_sort(blocks_, {}, &Block::start);
}

uint32_t Nodes::of_cpu(uint32_t cpu) const {
  return cpu < node_of_cpu_.size() ? node_of_cpu_[cpu] : 0;
}

IdSet Nodes::cpus_of(size_t node, const IdSet& among) const {
  // Without a topology, all CPUs are in one node.
  if (node_of_cpu_.empty()) return among;
  IdSet set;
  for (uint32_t cpu : among.ids())
    if (std::ranges::binary_search(cpus_[node], cpu)) set.add(cpu);
  return set;
}

uint32_t Nodes::of_physical(uint64_t address) const {
  auto after = std::ranges::upper_bound(blocks_, address, {}, &Block::start);
  if (after == blocks_.begin()) return kNone;
  const Block& block = *std::prev(after);
  return address < block.end ? block.node : kNone;
}

uint64_t displayed(const AccessCounts& counts, Display display) {
  switch (display) {
    case Display::kAllHitm:
      return counts.all_hitm();
    case Display::kLocalHitm:
      return counts.local_hitm;
    case Display::kRemoteHitm:
      return counts.remote_hitm;
    case Display::kPeer:
      return counts.all_peer();
  }
  return 0;
}

CacheLines find_cache_lines(const Session& session, const Nodes& nodes, const Options& options) {
  Collector collector(session, nodes, options);
  for (uint32_t index : session.time_order()) collector.add(index);
  return collector.take();
}

}  // namespace sonde::c2c
