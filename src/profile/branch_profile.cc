#include "profile/branch_profile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "perfdata/records/trace_flags.h"
#include "perfdata/records/user_records.h"
#include "replay/branches/branch_places.h"
#include "replay/branches/coverage.h"

namespace sonde {
namespace {

void put_in_order(std::vector<BranchProfile::Pair>& pairs) {
  std::ranges::sort(pairs, {},
                    [](const BranchProfile::Pair& pair) { return std::tuple(pair.from, pair.to); });
}

/// The branches that --itrace makes of a trace; also those that `inject` made, which lack flags.
bool is_made_of_trace(const EventDesc& event) {
  return event.attr.type == abi::kTypeHardware && event.attr.config == abi::kHwBranchInstructions &&
         event.attr.samples(abi::kSampleAddr);
}

class BranchCounter {
 public:
  BranchCounter(const Session& session, BranchTotals& totals)
      : session_(session), totals_(totals), places_(session) {}

  void count_stacks() {
    Sample sample;
    for (size_t i = 0; i < session_.samples().size(); ++i) {
      if (!session_.decode(i, sample) || sample.branch_count() == 0) continue;
      ++totals_.samples;
      // The newest first.
      uint64_t next_from = 0;
      for (size_t b = 0; b < sample.branch_count(); ++b) {
        abi::BranchEntry branch = sample.branch(b);
        Frame to = add_branch(i, branch.from, branch.to, branch.mispredicted());
        if (b > 0) add_range(to, branch.to, next_from);
        next_from = branch.from;
      }
    }
  }

  /// False if the recording has none.
  bool count_traces() {
    find_breaks();
    for (uint32_t i : session_.time_order()) {
      const EventDesc& event = session_.events()[EventId(session_.samples().event[i])];
      if (!is_made_of_trace(event)) continue;
      if (auto flags = trace_flags_of(session_.record(i))) count_traced(i, *flags);
    }
    return totals_.samples > 0;
  }

  [[nodiscard]] BranchProfile take() && { return std::move(counts_); }

 private:
  /// Where a thread's trace could not be followed.
  struct Break {
    uint64_t time_ns;
    uint32_t tid;
  };
  /// Where a thread went by its last branch.
  struct Thread {
    Frame to;
    uint64_t address = 0;  // 0: it is not traced
  };

  Frame add_branch(size_t sample, uint64_t from, uint64_t to, bool was_mispredicted) {
    Frame start = places_.at(sample, from), target = places_.at(sample, to);
    if (start.dso.valid())
      counts_.add_branch(start.dso, start.address, start.dso == target.dso ? target.address : 0,
                         was_mispredicted);
    return target;
  }
  void add_range(const Frame& first, uint64_t address, uint64_t last) {
    if (!first.dso.valid()) return;
    if (last >= address && last - address <= kLongestStretch)
      counts_.add_range(first.dso, first.address, first.address + (last - address));
    else
      ++totals_.broken;
  }

  void find_breaks() {
    for (const OtherRecord& other : session_.other_records())
      if (other.view.type == abi::kRecordAuxtraceError)
        if (auto error = decode_user<AuxtraceErrorRecord>(other.view))
          breaks_.push_back({error->time, error->tid});
    std::ranges::stable_sort(breaks_, {}, &Break::time_ns);
  }
  void break_until(uint64_t time_ns) {
    for (; next_break_ < breaks_.size() && breaks_[next_break_].time_ns < time_ns; ++next_break_)
      if (auto thread = threads_.find(breaks_[next_break_].tid); thread != threads_.end())
        thread.value().address = 0;
  }

  /// Tracing begins with a branch from 0, and ends with one to 0.
  void count_traced(uint32_t i, uint32_t flags) {
    if (!session_.decode(i, sample_)) return;
    ++totals_.samples;
    break_until(session_.samples().time[i]);
    Thread& thread = threads_[session_.samples().tid[i]];
    // An interrupt comes before the instruction that it is told of: the one in front of that ran.
    bool has_run = (flags & kTraceAsync) == 0;
    if (thread.address != 0 && sample_.ip != 0 && (has_run || sample_.ip != thread.address))
      add_range(thread.to, thread.address, has_run ? sample_.ip : sample_.ip - 1);
    thread.address = sample_.addr;
    bool is_branch = sample_.ip != 0 && has_run && (flags & kTraceSyscall) == 0;
    thread.to = is_branch ? add_branch(i, sample_.ip, sample_.addr, false)
                          : Frame(places_.at(i, sample_.addr));
  }

  const Session& session_;
  BranchTotals& totals_;
  BranchPlaces places_;
  BranchProfile counts_;
  Sample sample_;
  tsl::robin_map<uint32_t, Thread, NumberHash> threads_;  // by tid
  std::vector<Break> breaks_;                             // by time
  size_t next_break_ = 0;
};

}  // namespace

std::vector<BranchProfile::Object> BranchProfile::by_object() const {
  std::map<uint32_t, Object> found;
  auto take = [&](const Interner& keys, const std::vector<Count>& counts, auto member) {
    for (uint32_t id = 0; id < counts.size(); ++id) {
      std::span<const uint64_t> key = keys.at(id);
      (found[static_cast<uint32_t>(key[0])].*member)
          .push_back({key[1], key[2], counts[id].times, counts[id].mispredicted});
    }
  };
  take(ranges_, range_counts_, &Object::ranges);
  take(branches_, branch_counts_, &Object::branches);
  std::vector<Object> objects;
  for (auto& [dso, object] : found) {
    object.dso.value = dso;
    put_in_order(object.ranges);
    put_in_order(object.branches);
    for (const Pair& branch : object.branches) object.taken += branch.count;
    objects.push_back(std::move(object));
  }
  std::ranges::stable_sort(objects, std::greater(), &Object::taken);
  return objects;
}

ItraceOptions trace_of_branches() {
  ItraceOptions options;
  options.branches = options.errors = true;
  return options;
}

BranchProfile profile_branches(const Session& session, BranchTotals& totals) {
  BranchCounter counter(session, totals);
  bool is_of_trace = std::ranges::any_of(session.events().all(), is_made_of_trace);
  if (!is_of_trace || !counter.count_traces()) counter.count_stacks();
  return std::move(counter).take();
}

}  // namespace sonde
