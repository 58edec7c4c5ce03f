#include "profile/path_uses.h"

#include "abi/perf_event.h"
#include "base/check.h"

namespace sonde {
namespace {

/// The uses of samples whose path does not matter, by group and place key. A table per group,
/// without hashing, as long as there are few groups.
class UsesOfPlaces {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// kNone if not known (yet): the caller sets it.
  uint32_t& at(uint32_t group, uint32_t place_key) {
    if (group >= kMaxGroups) return forgotten_ = kNone;
    if (tables_.size() <= group) tables_.resize(group + 1);
    std::vector<uint32_t>& table = tables_[group];
    if (table.size() <= place_key)
      table.resize(std::max<size_t>(place_key + 1, table.size() * 2), kNone);
    return table[place_key];
  }

 private:
  static constexpr size_t kMaxGroups = 64;
  std::vector<std::vector<uint32_t>> tables_;
  uint32_t forgotten_ = kNone;
};

bool is_of(const PathUse& use, uint32_t group, uint32_t own) {
  return use.group == group && use.own == own;
}

std::span<const FrameId> steps_of(const PathUse& use) {
  return {use.steps, use.length};
}

}  // namespace

UseCollector::UseCollector(const ProfileInput& input, KeySet& keys, PathFrames& frames,
                           const ProfileOptions& options)
    : input_(input),
      keys_(keys),
      frames_(frames),
      options_(options),
      reader_(input),
      kept_(input.chains, options),
      addressed_(input, frames, kept_),
      want_paths_(options.children || options.call_graph) {
  if (want_paths_) use_of_chain_.assign(input.chains.size(), kNone);
  use_of_leaf_.assign(input.frames.size(), kNone);
  // Reserves only address space, so that growing does not copy.
  result_.uses.reserve(input.samples.size());
  result_.samples.reserve(input.samples.size());
}

PathUses UseCollector::collect(std::span<const uint32_t> samples) {
  if (options_.by_branch)
    for (uint32_t sample : samples) add_branches(sample);
  else if (options_.children || (want_paths_ && options_.min_path_share == 0))
    add_samples(samples);
  else
    add_by_row(samples);
  return std::move(result_);
}

void UseCollector::add_samples(std::span<const uint32_t> samples) {
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i + 2 * kAhead < samples.size()) prefetch_tables(samples[i + 2 * kAhead]);
    if (i + kAhead < samples.size()) prefetch_use(samples[i + kAhead]);
    add_sample(samples[i]);
  }
}

void UseCollector::prefetch_tables(uint32_t sample) const {
  frames_.prefetch_own(input_.samples.leaf[sample]);
  if (ChainId chain = chain_of(sample); chain.valid())
    __builtin_prefetch(&use_of_chain_[chain.index()]);
}

/// Reads what prefetch_tables() has fetched.
void UseCollector::prefetch_use(uint32_t sample) const {
  ChainId chain = chain_of(sample);
  uint32_t known = chain.valid() ? use_of_chain_[chain.index()] : kNone;
  if (known == kNone) return;
  __builtin_prefetch(&result_.uses[known]);
  __builtin_prefetch(&result_.samples[known]);
}

void UseCollector::add_sample(uint32_t sample) {
  reader_.move_to(sample);
  FrameId leaf = own_frame(sample);
  uint32_t group = keys_.group_of(reader_);
  uint32_t own = frames_.own_place_key(leaf);
  ChainId chain = chain_of(sample);
  uint32_t use =
      chain.valid() ? use_of_path(group, own, chain) : use_without_path(group, own, leaf);
  uint64_t weight = weight_of(sample);
  add_to_totals(sample, weight);
  add_to(use, sample, weight);
}

// A row that is lighter than the minimum for a tree node needs no paths. Most samples are in such
// rows (four fifths in a large recording), so samples are first summed by row, and chains are only
// looked at for rows that turn out to be heavy.

void UseCollector::add_by_row(std::span<const uint32_t> samples) {
  LargeVector<uint32_t> row_of_sample;
  if (want_paths_) row_of_sample.reserve(samples.size());
  UsesOfPlaces known;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i + kAhead < samples.size()) frames_.prefetch_own(input_.samples.leaf[samples[i + kAhead]]);
    uint32_t sample = samples[i];
    reader_.move_to(sample);
    uint32_t group = keys_.group_of(reader_);
    uint32_t own = frames_.own_place_key(own_frame(sample));
    uint32_t& row = known.at(group, own);
    if (row == kNone) row = use_of_row(group, own);
    uint64_t weight = weight_of(sample);
    add_to_totals(sample, weight);
    add_to(row, sample, weight);
    if (want_paths_) row_of_sample.push_back(row);
  }
  if (want_paths_) take_heavy_rows_apart(samples, row_of_sample);
}

void UseCollector::take_heavy_rows_apart(std::span<const uint32_t> samples,
                                         std::span<const uint32_t> row_of_sample) {
  uint64_t least = least_path_weight(options_, result_.totals.period);
  std::vector<char> is_heavy(result_.uses.size());
  for (size_t row = 0; row < is_heavy.size(); ++row) {
    if (result_.uses[row].period < least) continue;
    is_heavy[row] = 1;
    clear(static_cast<uint32_t>(row));
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    uint32_t row = row_of_sample[i];
    if (is_heavy[row] == 0) continue;
    uint32_t sample = samples[i];
    reader_.move_to(sample);
    ChainId chain = chain_of(sample);
    uint32_t use =
        chain.valid() ? use_of_path(result_.uses[row].group, result_.uses[row].own, chain) : row;
    add_to(use, sample, weight_of(sample));
  }
}

/// Empty uses have no effect: those of a heavy row whose samples all have paths stay empty.
void UseCollector::clear(uint32_t use) {
  result_.uses[use].period = 0;
  result_.samples[use] = {};
  if (options_.by_mode) result_.modes[use] = {};
  if (options_.by_source) result_.sources[use] = {};
}

void UseCollector::add_branches(uint32_t sample) {
  reader_.move_to(sample);
  size_t count = reader_.details().branch_count();
  FrameId leaf = input_.samples.leaf[sample];
  for (uint32_t i = 0; i < count; ++i) {
    reader_.move_to(sample, i);
    uint32_t group = keys_.group_of(reader_);
    uint32_t own = frames_.own_place_key(leaf);
    add_to_totals(sample, 1);
    add_to(use_without_path(group, own, leaf), sample, 1);
  }
  // The branches of a sample follow each other: together they are one observation of that weight.
  auto branches = static_cast<double>(count);
  result_.totals.period_squares += branches * branches - branches;
}

uint32_t UseCollector::use_without_path(uint32_t group, uint32_t own, FrameId leaf) {
  uint32_t& known = use_of_leaf_[leaf.index()];
  if (known != kNone && is_of(result_.uses[known], group, own)) return known;
  return known = use_of_row(group, own);
}

/// The use for the samples of a row whose paths do not matter.
uint32_t UseCollector::use_of_row(uint32_t group, uint32_t own) {
  uint32_t id = plain_ids_.intern({group, own});
  if (id == plain_uses_.size()) plain_uses_.push_back(add_use(group, own, {}));
  return plain_uses_[id];
}

/// Usually the last use of this chain is the right one. If it is not, there will be a second use of
/// the same path, which the trie merges with the first.
uint32_t UseCollector::use_of_path(uint32_t group, uint32_t own, ChainId chain) {
  uint32_t& known = use_of_chain_[chain.index()];
  if (known == kNone) {
    std::span<const FrameId> path = kept_.frames(chain);
    if (frames_.learn(path)) return known = add_use(group, own, path);
  }
  if (known == kNone || result_.uses[known].owner != PathUse::kNoAddresses) {
    uint32_t owner = addressed_.owner_of(reader_.sample());
    bool is_same =
        known != kNone && result_.uses[known].owner == owner && owner != AddressedPaths::kNobody;
    if (!is_same) {
      std::span<const FrameId> path = addressed_.steps(reader_, chain, owner);
      is_same = known != kNone && std::ranges::equal(path, steps_of(result_.uses[known]));
      if (!is_same) {
        known = add_use(group, own, addressed_.keep(path));
        result_.uses[known].owner = owner;
        return known;
      }
      result_.uses[known].owner = owner;
    }
  }
  if (is_of(result_.uses[known], group, own)) return known;
  return known = add_use_like(result_.uses[known], group, own);
}

uint32_t UseCollector::add_use(uint32_t group, uint32_t own, std::span<const FrameId> steps) {
  CHECK(result_.uses.size() < kNone);
  auto length = static_cast<uint32_t>(steps.size());
  result_.uses.push_back({.steps = steps.data(), .length = length, .group = group, .own = own});
  result_.samples.push_back({});
  return static_cast<uint32_t>(result_.uses.size() - 1);
}

uint32_t UseCollector::add_use_like(const PathUse& known, uint32_t group, uint32_t own) {
  uint32_t owner = known.owner;
  uint32_t use = add_use(group, own, steps_of(known));
  result_.uses[use].owner = owner;
  return use;
}

void UseCollector::add_to(uint32_t id, uint32_t sample, uint64_t period) {
  result_.uses[id].period += period;
  UseSamples& known = result_.samples[id];
  uint64_t time = input_.samples.time[sample];
  if (known.count == 0 || std::pair(time, sample) < std::pair(known.first_time, known.first)) {
    known.first_time = time;
    known.first = sample;
  }
  ++known.count;
  if (options_.keeps_members()) result_.members.push_back({id, sample});
  if (options_.by_mode) add_mode(id, input_.samples.cpu_mode[sample], period);
  if (!options_.by_source) return;
  if (result_.sources.size() <= id) result_.sources.resize(id + 1);
  result_.sources[id].add(reader_.details().data_src, period);
}

void UseCollector::add_to_totals(uint32_t sample, uint64_t period) {
  ++result_.totals.samples;
  result_.totals.period += period;
  result_.totals.period_squares += static_cast<double>(period) * static_cast<double>(period);
  if (options_.hides(sample)) return;
  ++result_.totals.shown_samples;
  result_.totals.shown_sample_period += period;
}

void UseCollector::add_mode(uint32_t use, uint8_t mode, uint64_t period) {
  if (result_.modes.size() <= use) result_.modes.resize(use + 1);
  ModePeriods& periods = result_.modes[use];
  switch (mode) {
    case abi::kMiscKernel:
      periods.system += period;
      break;
    case abi::kMiscUser:
      periods.user += period;
      break;
    case abi::kMiscGuestKernel:
      periods.guest_system += period;
      break;
    case abi::kMiscGuestUser:
      periods.guest_user += period;
      break;
    default:
      break;
  }
}

}  // namespace sonde
