#include "replay/frames/function_count.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>

#include "base/parallel.h"
#include "replay/frames/address_resolver.h"
#include "replay/frames/frame_counts.h"

namespace sonde {
namespace {

/// What one thread finds in its share of the samples.
struct Share {
  explicit Share(size_t events) : counts(events), elsewhere(events) {}

  std::vector<char> hit;  // by object
  FrameTable kernel;      // kernel addresses
  uint64_t first_time = UINT64_MAX, last_time = 0;

  FrameTable frames;
  FrameCounts counts;
  std::vector<FrameCounts::Count> elsewhere;  // by event
};

/// The extent from the first address to the last.
AddressExtent hull_of(const std::vector<AddressExtent>& extents) {
  if (extents.empty()) return {};
  uint64_t start = UINT64_MAX, last = 0;
  for (const AddressExtent& extent : extents) {
    start = std::min(start, extent.start);
    last = std::max(last, extent.start + (extent.size - 1));
  }
  return {start, last - start == UINT64_MAX ? UINT64_MAX : last - start + 1};
}

class FunctionCount {
 public:
  FunctionCount(const EventTable& events, const Machine& machine, DeferredSamples& deferred,
                LossLedger& losses)
      : events_(events), machine_(machine), losses_(losses), segments_(deferred.segments()) {
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    size_t shares = std::clamp<size_t>(segments_.size(), 1, threads);
    for (size_t i = 0; i < shares; ++i) shares_.emplace_back(events.size());
  }

  /// Replaces addresses by places.
  void find_places() {
    for_each_share([&](Share& share, auto& segments) {
      FrameTable no_frames;
      AddressResolver resolver(machine_, no_frames);
      segments.for_each_run([&](const ScanRun& run, std::span<ScanSegment::Sample> samples) {
        count_bad(run, losses_);
        find_places(run, samples, resolver, share);
      });
      share.hit = resolver.objects_found();
    });
  }

  void load_symbols(Symbolizer& symbolizer, const std::string& name) {
    std::vector<DsoId> dsos;
    std::vector<uint64_t> kernel_addresses;
    for (size_t dso = 0; dso < machine_.dsos().size(); ++dso)
      if (std::ranges::any_of(shares_, [dso](const Share& share) {
            return dso < share.hit.size() && share.hit[dso] != 0;
          }))
        dsos.emplace_back(dso);
    for (const Share& share : shares_)
      for (const Frame& frame : share.kernel.all()) kernel_addresses.push_back(frame.address);
    symbolizer.load(dsos, kernel_addresses, name);
    wanted_.resize(machine_.dsos().size());
    hulls_.resize(machine_.dsos().size());
    for (DsoId dso : dsos) {
      wanted_[dso.index()] = symbolizer.extents_of(dso, name);
      hulls_[dso.index()] = hull_of(wanted_[dso.index()]);
    }
  }

  void count() {
    for_each_share([&](Share& share, auto& segments) {
      segments.for_each_run([&](const ScanRun& run, std::span<ScanSegment::Sample> samples) {
        FrameCounts::Count others;
        for (const ScanSegment::Sample& sample : samples) {
          uint64_t period = run.period + sample.period;
          if (!is_wanted(sample)) {
            others.samples += 1;
            others.period += period;
            continue;
          }
          FrameId frame =
              share.frames.intern(sample.dso(), sample.address(), level_of(run.cpu_mode));
          share.counts.add(frame, run.event, {1, period});
        }
        share.elsewhere[run.event].samples += others.samples;
        share.elsewhere[run.event].period += others.period;
      });
    });
  }

  SamplePassResult result() && {
    SamplePassResult result;
    FrameCounts counts(events_.size());
    std::vector<FrameCounts::Count> elsewhere(events_.size());
    // Which share found a frame first is random; sorting by place makes the result deterministic.
    std::vector<Frame> frames;
    for (const Share& share : shares_)
      frames.insert(frames.end(), share.frames.all().begin(), share.frames.all().end());
    std::ranges::sort(frames, {}, [](const Frame& frame) {
      return std::tuple(frame.dso, frame.address, frame.level);
    });
    for (const Frame& frame : frames) result.frames.intern(frame.dso, frame.address, frame.level);
    for (Share& share : shares_) {
      std::vector<FrameId> frame_of;
      for (const Frame& frame : share.frames.all())
        frame_of.push_back(result.frames.intern(frame.dso, frame.address, frame.level));
      counts.add(share.counts, frame_of);
      for (size_t i = 0; i < elsewhere.size(); ++i) {
        elsewhere[i].samples += share.elsewhere[i].samples;
        elsewhere[i].period += share.elsewhere[i].period;
      }
      result.first_time_ns = std::min(result.first_time_ns, share.first_time);
      result.last_time_ns = std::max(result.last_time_ns, share.last_time);
    }
    std::move(counts).move_to(result.samples);
    for (uint32_t event = 0; event < elsewhere.size(); ++event)
      if (elsewhere[event].samples > 0)
        FrameCounts::add_row(result.samples, FrameId(), event, elsewhere[event]);
    return result;
  }

 private:
  /// A queue of segments, each taken by whichever thread is free.
  struct Queue {
    const std::vector<ScanSegment>& segments;
    std::atomic<size_t> next = 0;
    template <typename Body>
    void for_each_run(const Body& body) {
      for (size_t i = next++; i < segments.size(); i = next++) segments[i].for_each_run(body);
    }
  };

  /// Calls body(share, queue), each on its own thread.
  template <typename Body>
  void for_each_share(const Body& body) {
    size_t count = shares_.size();
    Queue queue{segments_, 0};
    parallel_jobs(count, [&](size_t i) { body(shares_[i], queue); });
  }

  void find_places(const ScanRun& run, std::span<ScanSegment::Sample> samples,
                   AddressResolver& resolver, Share& share) const {
    uint64_t first_time = UINT64_MAX, last_time = 0;
    for (ScanSegment::Sample& sample : samples) {
      uint64_t time = run.time + sample.after;
      first_time = std::min(first_time, time);
      last_time = std::max(last_time, time);
      resolver.enter(run.pid, time, run.cpu_mode);
      Place place = resolver.place(sample.address(), run.cpu_mode);
      sample = ScanSegment::Sample::at(place.address, place.dso.value, sample.period);
      if (run.cpu_mode != abi::kMiscUser && place.dso.valid() &&
          machine_.dsos()[place.dso].is_kernel_side)
        share.kernel.intern(place.dso, place.address, place.level);
    }
    share.first_time = std::min(share.first_time, first_time);
    share.last_time = std::max(share.last_time, last_time);
  }

  [[nodiscard]] bool is_wanted(const ScanSegment::Sample& sample) const {
    if (!sample.dso().valid()) return false;
    const AddressExtent& hull = hulls_[sample.dso().index()];
    if (sample.address() - hull.start >= hull.size) [[likely]]
      return false;
    for (const AddressExtent& extent : wanted_[sample.dso().index()])
      if (sample.address() - extent.start < extent.size) return true;
    return false;
  }

  const EventTable& events_;
  const Machine& machine_;
  LossLedger& losses_;
  std::vector<ScanSegment> segments_;
  std::vector<Share> shares_;
  std::vector<std::vector<AddressExtent>> wanted_;  // by object
  std::vector<AddressExtent> hulls_;                // bounds of wanted_
};

}  // namespace

SamplePassResult count_function(const EventTable& events, const Machine& machine,
                                DeferredSamples& deferred, const std::string& name,
                                Symbolizer& symbolizer, LossLedger& losses) {
  FunctionCount function(events, machine, deferred, losses);
  function.find_places();
  function.load_symbols(symbolizer, name);
  function.count();
  return std::move(function).result();
}

}  // namespace sonde
