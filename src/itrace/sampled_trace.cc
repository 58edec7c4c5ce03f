#include "itrace/sampled_trace.h"

#include <algorithm>

namespace sonde::itrace {
namespace {

/// The kernel fills a sample's trace up to a multiple of eight, with zeros.
constexpr size_t kMostPadding = 8;
/// Decoding begins at a PSB, of 16 bytes: less than that in common is chance, or does not matter.
constexpr size_t kLeastCommon = 16;

}  // namespace

/// What is common is an end of `before`, but for its padding, and a beginning of `after`: the
/// longest is found by Knuth, Morris and Pratt's automaton.
TraceSeam find_seam(Bytes before, Bytes after) {
  TraceSeam seam{before.size(), 0};
  if (after.size() < kLeastCommon) return seam;
  std::vector<uint32_t> borders(after.size());
  uint32_t matched = 0;
  auto step = [&](std::byte next) {
    while (matched > 0 && (matched == after.size() || after[matched] != next))
      matched = borders[matched - 1];
    if (after[matched] == next) ++matched;
  };
  for (size_t i = 1; i < after.size(); ++i) {
    step(after[i]);
    borders[i] = matched;
  }
  matched = 0;
  size_t unpadded = before.size();
  while (unpadded > 0 && before.size() - unpadded < kMostPadding &&
         before[unpadded - 1] == std::byte{0})
    --unpadded;
  for (size_t i = 0; i < before.size(); ++i) {
    step(before[i]);
    if (i + 1 >= unpadded && matched >= kLeastCommon && matched >= seam.begin)
      seam = {i + 1, matched};
  }
  return seam;
}

void SampledTrace::take_index(const IdIndexRecord& index) {
  constexpr size_t kWords = 4;
  for (size_t i = 0; i + kWords <= index.entries.size(); i += kWords)
    places_[index.entries[i]] = {static_cast<uint32_t>(index.entries[i + 2]),
                                 static_cast<uint32_t>(index.entries[i + 3])};
}

void SampledTrace::take(const Sample& sample, bool has_cpu) {
  if (sample.aux.empty()) return;
  auto known = places_.find(sample.id.id);
  Place place = known != places_.end() ? known->second
                : has_cpu              ? Place{sample.id.cpu, UINT32_MAX}
                                       : Place{UINT32_MAX, sample.id.tid};
  // An area of a CPU is the same one whoever ran there.
  if (place.cpu != UINT32_MAX) place.tid = UINT32_MAX;
  if (place.cpu == UINT32_MAX && place.tid == UINT32_MAX) place.tid = sample.id.tid;
  Area& area = areas_.try_emplace(place, Area{{place.cpu, place.tid, {}, {}}, {}}).first->second;
  std::vector<TracePiece>& pieces = area.queue.pieces;
  TracePiece piece{sample.aux, 0};
  if (!pieces.empty()) {
    TracePiece& before = pieces.back();
    TraceSeam seam = find_seam(area.latest, sample.aux);
    bool meets = seam.begin > 0;
    if (meets) {
      size_t padding = std::min(area.latest.size() - seam.end, before.bytes.size());
      before.bytes = before.bytes.first(before.bytes.size() - padding);
    }
    piece.bytes = piece.bytes.subspan(seam.begin);
    piece.offset = before.offset + before.bytes.size() + (meets ? 0 : 1);
  }
  area.latest = sample.aux;
  if (!piece.bytes.empty()) pieces.push_back(piece);
}

std::vector<TraceQueue> SampledTrace::take_queues() {
  std::vector<TraceQueue> all;
  for (auto& [place, area] : areas_) all.push_back(std::move(area.queue));
  areas_.clear();
  return all;
}

}  // namespace sonde::itrace
