// Reduces the slices of a picture: short neighbours are joined.
#include <algorithm>
#include <array>
#include <tuple>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "export/pictures/timeline_svg.h"

namespace sonde {
namespace {

using view::TimelineRun;
using view::TimelineSlice;

uint32_t kind_of(const TimelineSlice& slice) {
  return static_cast<uint32_t>(slice.state);
}
uint32_t kind_of(const TimelineRun& run) {
  return run.thread;
}
uint32_t kind_of(const view::TimelineIo& io) {
  return static_cast<uint32_t>(io.kind);
}
uint32_t kind_of(const view::TimelineIdle& idle) {
  return idle.state;
}

/// A run of neighbours that become one.
template <typename Span>
class SpanRun {
 public:
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  void clear() { parts_.clear(); }
  void add(const Span& span) { parts_.push_back(span); }
  [[nodiscard]] uint64_t start_ns() const { return parts_.front().start_ns; }
  /// The part that represents them all: of the kind that took up most of the time.
  [[nodiscard]] Span joined() const {
    // Thousands of threads may run in one run. If kinds tie, the first one wins.
    struct Sum {
      size_t first;
      uint64_t time_ns;
    };
    tsl::robin_map<uint32_t, Sum, NumberHash> sums;
    for (size_t i = 0; i < parts_.size(); ++i)
      sums.try_emplace(kind_of(parts_[i]), Sum{i, 0}).first.value().time_ns +=
          parts_[i].end_ns - parts_[i].start_ns;
    auto order = [](const auto& sum) { return std::tuple(~sum.second.time_ns, sum.second.first); };
    Span joined = parts_[std::ranges::min_element(sums, {}, order)->second.first];
    joined.start_ns = parts_.front().start_ns;
    joined.end_ns = parts_.back().end_ns;
    return joined;
  }

 private:
  std::vector<Span> parts_;
};

template <typename Span>
std::vector<Span> joined(const std::vector<Span>& spans, uint64_t below_ns) {
  std::vector<Span> out;
  SpanRun<Span> run;
  auto close = [&] {
    if (!run.empty()) out.push_back(run.joined());
    run.clear();
  };
  for (const Span& span : spans) {
    bool is_short = span.end_ns - span.start_ns < below_ns;
    bool fits = !run.empty() && span.end_ns - run.start_ns() < below_ns;
    if (!is_short || !fits) close();
    if (is_short)
      run.add(span);
    else
      out.push_back(span);
  }
  close();
  return out;
}

/// Joins those of a CPU that are closer together: what lies between is then unknown as well.
void join_unknown(std::vector<view::TimelineUnknown>& spans, uint64_t below_ns) {
  std::ranges::stable_sort(spans, {}, &view::TimelineUnknown::cpu);
  std::vector<view::TimelineUnknown> out;
  for (const view::TimelineUnknown& span : spans) {
    if (!out.empty() && out.back().cpu == span.cpu && span.start_ns < out.back().end_ns + below_ns)
      out.back().end_ns = std::max(out.back().end_ns, span.end_ns);
    else
      out.push_back(span);
  }
  std::ranges::stable_sort(out, {}, &view::TimelineUnknown::start_ns);
  spans = std::move(out);
}

size_t slices_in(const view::Timeline& timeline) {
  size_t count = timeline.unknown.size();
  for (const view::TimelineThread& thread : timeline.threads)
    count += thread.slices.size() + thread.ios.size() + thread.calls.size();
  for (const view::TimelineCpu& cpu : timeline.cpus) count += cpu.runs.size() + cpu.idles.size();
  return count;
}

}  // namespace

uint64_t join_short_slices(view::Timeline& timeline, size_t max_slices) {
  uint64_t below_ns = 0;
  uint64_t next_ns = timeline.subject == view::TimelineSubject::kCalls ? 1 : 1000;
  while (slices_in(timeline) > max_slices && next_ns < timeline.end_ns - timeline.start_ns) {
    below_ns = next_ns;
    next_ns *= 2;
    join_unknown(timeline.unknown, below_ns);
    for (view::TimelineThread& thread : timeline.threads) {
      thread.slices = joined(thread.slices, below_ns);
      thread.ios = joined(thread.ios, below_ns);
      // A call is no shorter than those inside it, so none loses the call around it.
      std::erase_if(thread.calls, [below_ns](const view::TimelineCall& call) {
        return call.end_ns - call.start_ns < below_ns;
      });
    }
    for (view::TimelineCpu& cpu : timeline.cpus) {
      cpu.runs = joined(cpu.runs, below_ns);
      cpu.idles = joined(cpu.idles, below_ns);
    }
  }
  return below_ns;
}

}  // namespace sonde
