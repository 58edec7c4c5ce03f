#include "annotate/function_hits.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hashing/number_hash.h"

namespace sonde::annotate {
namespace {

constexpr uint32_t kNotWanted = UINT32_MAX;

/// A row of counts per wanted location.
struct Rows {
  std::vector<uint32_t> of_frame;  // row, by frame
  std::vector<view::ListingHits> hits;
};

Rows make_rows(const Session& session, const std::function<bool(const Frame&)>& wanted) {
  Rows rows;
  uint32_t count = 0;
  tsl::robin_map<uint32_t, bool, NumberHash> is_wanted;  // by symbol
  rows.of_frame.reserve(session.frames().size());
  for (const Frame& frame : session.frames()) {
    rows.of_frame.push_back(kNotWanted);
    if (!frame.symbol.valid()) {
      if (wanted(frame)) rows.of_frame.back() = count++;
      continue;
    }
    auto known = is_wanted.find(frame.symbol.value);
    if (known == is_wanted.end())
      known = is_wanted.emplace(frame.symbol.value, wanted(frame)).first;
    if (known->second) rows.of_frame.back() = count++;
  }
  rows.hits.resize(size_t{count} * session.events().size());
  return rows;
}

void add(view::ListingHits& to, const view::ListingHits& hits) {
  to.samples += hits.samples;
  to.period += hits.period;
}

}  // namespace

std::vector<size_t> RecordingHits::by_weight(size_t event) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].totals[event].samples > 0) order.push_back(i);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t i) { return functions[i].totals[event].period; });
  return order;
}

RecordingHits count_hits(const Session& session, const std::function<bool(const Frame&)>& wanted,
                         SharesOf shares) {
  const SampleColumns& samples = session.samples();
  size_t events = session.events().size();
  Rows rows = make_rows(session, wanted);
  RecordingHits result;
  result.totals.resize(events);
  for (size_t i = 0; i < samples.size(); ++i) {
    uint32_t event = samples.event[i];
    if (event >= events) continue;
    view::ListingHits hit{samples.count_of(i), samples.period[i]};
    FrameId leaf = samples.leaf[i];
    uint32_t row = leaf.valid() ? rows.of_frame[leaf.index()] : kNotWanted;
    if (row != kNotWanted) add(rows.hits[row * events + event], hit);
    if (row != kNotWanted || shares == SharesOf::kAllSamples) add(result.totals[event], hit);
  }

  std::map<uint32_t, FunctionHits> functions;  // by symbol
  for (size_t i = 0; i < rows.of_frame.size(); ++i) {
    uint32_t row = rows.of_frame[i];
    if (row == kNotWanted || !session.frames()[i].symbol.valid()) continue;
    std::span<const view::ListingHits> hits = std::span(rows.hits).subspan(row * events, events);
    if (std::ranges::all_of(hits, [](auto& hit) { return hit.samples == 0; })) continue;
    const Frame& frame = session.frames()[i];
    FunctionHits& function = functions[frame.symbol.value];
    function.symbol = frame.symbol;
    function.totals.resize(events);
    for (size_t event = 0; event < events; ++event) add(function.totals[event], hits[event]);
    function.addresses.push_back({frame.address - frame.symbol_start, {hits.begin(), hits.end()}});
  }
  for (auto& [symbol, function] : functions) {
    std::ranges::sort(function.addresses, {}, &AddressHits::offset);
    function.info = session.symbolizer().info(function.symbol);
    result.functions.push_back(std::move(function));
  }
  // Ties are ordered by object and name, as in perf.
  const DsoTable& dsos = session.machine().dsos();
  std::ranges::stable_sort(result.functions, [&](const FunctionHits& a, const FunctionHits& b) {
    const std::string &left = dsos[a.info.dso].short_name, &right = dsos[b.info.dso].short_name;
    return std::tie(left, a.info.name, a.info.start) < std::tie(right, b.info.name, b.info.start);
  });
  return result;
}

}  // namespace sonde::annotate
