#include "replay/branches/coverage.h"

#include <tsl/robin_map.h>

#include <tuple>

#include "base/hashing/number_hash.h"
#include "replay/branches/branch_places.h"

namespace sonde {
namespace {

struct StretchHash {
  size_t operator()(const std::tuple<uint32_t, uint64_t, uint64_t>& key) const {
    NumberHash hash;
    return hash(std::get<1>(key) + hash(std::get<2>(key) + std::get<0>(key)));
  }
};

struct Count {
  uint64_t runs = 0, predicted = 0;
};
using Counts = tsl::robin_map<std::tuple<uint32_t, uint64_t, uint64_t>, Count, StretchHash>;

/// Branches come newest first.
void count_sample(const Sample& sample, size_t index, BranchPlaces& places, Counts& counts) {
  for (size_t i = 1; i < sample.branch_count(); ++i) {
    abi::BranchEntry before = sample.branch(i), after = sample.branch(i - 1);
    if (before.to == 0 || after.from < before.to || after.from - before.to > kLongestStretch)
      continue;
    const Frame& start = places.at(index, before.to);
    if (!start.dso.valid()) continue;
    Count& count =
        counts[{start.dso.value, start.address, start.address + (after.from - before.to)}];
    ++count.runs;
    if (after.predicted()) ++count.predicted;
  }
}

/// What happens at one address.
struct Edge {
  uint64_t begins = 0;               // runs that begin with it
  uint64_t ends = 0, predicted = 0;  // runs that end with it
};

}  // namespace

std::vector<CodePiece> pieces_of(std::span<const CodeStretch> stretches) {
  std::map<uint64_t, Edge> edges;
  for (const CodeStretch& stretch : stretches) {
    edges[stretch.first].begins += stretch.runs;
    edges[stretch.last].ends += stretch.runs;
    edges[stretch.last].predicted += stretch.predicted;
  }
  std::vector<CodePiece> pieces;
  uint64_t runs = 0, next = 0;  // `next`: where the piece after the last one begins
  for (const auto& [address, edge] : edges) {
    if (edge.begins > 0) {
      if (runs > 0 && next < address)
        pieces.push_back({.first = next, .last = address - 1, .runs = runs});
      next = address;
      runs += edge.begins;
    }
    if (edge.ends == 0) continue;
    pieces.push_back({.first = next,
                      .last = address,
                      .runs = runs,
                      .ends = edge.ends,
                      .predicted = edge.predicted});
    runs -= edge.ends;
    next = address + 1;
  }
  for (CodePiece& piece : pieces)
    if (auto edge = edges.find(piece.first); edge != edges.end())
      piece.begins = edge->second.begins;
  return pieces;
}

CodeCoverage::CodeCoverage(const Session& session) {
  BranchPlaces places(session);
  Counts counts;
  Sample sample;
  for (size_t i = 0; i < session.samples().size(); ++i)
    if (session.decode(i, sample)) count_sample(sample, i, places, counts);
  std::map<uint32_t, std::vector<CodeStretch>> stretches;
  for (const auto& [key, count] : counts)
    stretches[std::get<0>(key)].push_back(
        {std::get<1>(key), std::get<2>(key), count.runs, count.predicted});
  for (const auto& [dso, found] : stretches) pieces_[dso] = pieces_of(found);
}

std::span<const CodePiece> CodeCoverage::of(DsoId dso) const {
  auto found = pieces_.find(dso.value);
  return found == pieces_.end() ? std::span<const CodePiece>() : found->second;
}

}  // namespace sonde
