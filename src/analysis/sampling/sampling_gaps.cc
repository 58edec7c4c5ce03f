#include "analysis/sampling/sampling_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/sampling/chain_ends.h"

namespace sonde {
namespace {

std::string duration_text(double ns) {
  return ns < 1e9 ? fmt::format("{:.1f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

/// How long the events of a recording were throttled, by CPU.
class Throttling {
 public:
  explicit Throttling(const Session& session) : session_(session) {
    begin_ = session.counts().first_time_ns;
    end_ = session.counts().last_time_ns;
    for (const OtherRecord& other : session.other_records())
      if (other.event.valid()) take(other);
    // Those that the recording's end cut off.
    for (const auto& [stream, since] : since_) add(since, end_);
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [event, found] : events_)
      lines.push_back(fmt::format("Throttled: '{}' {}",
                                  session_.events()[EventId(size_t{event})].name, text(found)));
    return lines;
  }

 private:
  struct Since {
    uint32_t event, cpu;
    uint64_t time;
  };
  struct Found {
    uint64_t times = 0;
    double ns = 0;
    std::map<uint32_t, double> ns_by_cpu;
  };

  void take(const OtherRecord& other) {
    bool begins = other.view.type == abi::kRecordThrottle;
    if (!begins && other.view.type != abi::kRecordUnthrottle) return;
    const SampleLayout& layout = session_.events()[other.event].layout;
    auto record = decode_as<ThrottleRecord>(other.view, layout);
    if (!record) return;
    begin_ = std::min(begin_, record->time);
    end_ = std::max(end_, record->time);
    auto known = since_.find(record->stream_id);
    if (begins) {
      ++events_[other.event.value].times;
      if (known == since_.end())
        since_[record->stream_id] = {other.event.value, decode_trailing_id(other.view, layout).cpu,
                                     record->time};
    } else if (known != since_.end()) {
      add(known->second, record->time);
      since_.erase(known);
    }
  }

  void add(const Since& since, uint64_t until) {
    if (until <= since.time) return;
    auto ns = static_cast<double>(until - since.time);
    Found& found = events_[since.event];
    found.ns += ns;
    found.ns_by_cpu[since.cpu] += ns;
  }

  /// "12 times for 34.0 ms of 2.00 s on CPU 1: …". Of several CPUs, the worst is named.
  [[nodiscard]] std::string text(const Found& found) const {
    std::string text = fmt::format("{} time{}", found.times, found.times == 1 ? "" : "s");
    double whole = end_ > begin_ ? static_cast<double>(end_ - begin_) : 0;
    if (found.ns == 0 || whole == 0) return text + ": some of the time has no samples";
    auto worst = std::ranges::max_element(found.ns_by_cpu, {},
                                          [](const auto& cpu_and_ns) { return cpu_and_ns.second; });
    double percent = std::min(100.0, 100 * worst->second / whole);
    text += fmt::format(" for {}", duration_text(found.ns));
    std::string cpu =
        worst->first == UINT32_MAX ? std::string() : fmt::format(" on CPU {}", worst->first);
    if (found.ns_by_cpu.size() == 1)
      return text + fmt::format(" of {}{}: {:.1f}% of that time has no samples",
                                duration_text(whole), cpu, percent);
    return text + fmt::format(" on {} CPUs: {:.1f}% of {}{} has no samples", found.ns_by_cpu.size(),
                              percent, duration_text(whole), cpu);
  }

  const Session& session_;
  uint64_t begin_ = 0, end_ = 0;
  std::map<uint64_t, Since> since_;  // by the stream that is throttled now
  std::map<uint32_t, Found> events_;
};

/// For how much of their time events had counters.
class Multiplexing {
 public:
  explicit Multiplexing(const Session& session) : session_(session) {
    for (const OtherRecord& other : session.other_records())
      if (other.view.type == abi::kRecordRead && other.event.valid()) take(other);
    take_samples();
    for (const auto& [key, last] : last_) events_[key.first].add(last);
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [event, times] : events_) {
      if (!has_gap(times)) continue;
      lines.push_back(fmt::format(
          "Multiplexed: '{}' had a counter for {} of {}: {:.1f}% of that time has no samples",
          session_.events()[EventId(size_t{event})].name, duration_text(times.running),
          duration_text(times.enabled), 100 * (1 - times.running / times.enabled)));
    }
    return lines;
  }

 private:
  struct Times {
    double enabled = 0, running = 0;  // ns
    void add(const Times& more) {
      enabled += more.enabled;
      running += more.running;
    }
  };

  /// The two clocks are read one after the other, so they differ a little even for an event that
  /// always had a counter.
  static bool has_gap(const Times& times) { return times.running < 0.999 * times.enabled; }

  static std::optional<Times> times_of(const ReadBlock& read) {
    constexpr uint64_t kBoth = abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning;
    if (!read.present || (read.read_format & kBoth) != kBoth) return std::nullopt;
    return Times{static_cast<double>(read.time_enabled), static_cast<double>(read.time_running)};
  }

  void take(const OtherRecord& other) {
    auto record = decode_as<ReadRecord>(other.view, session_.events()[other.event].layout);
    if (!record) return;
    if (auto times = times_of(record->read)) events_[other.event.value].add(*times);
  }

  /// The times in samples add up per counter: the last ones count.
  void take_samples() {
    bool any = std::ranges::any_of(session_.events().all(), [](const EventDesc& event) {
      return event.attr.samples(abi::kSampleRead) &&
             (event.attr.read_format & abi::kFormatTotalTimeRunning) != 0;
    });
    const SampleColumns& samples = session_.samples();
    if (!any || samples.record.empty()) return;
    Sample sample;
    for (size_t i = 0; i < samples.size(); ++i) {
      // One sample can be several rows, one per counter.
      if (i > 0 && samples.record[i].block == samples.record[i - 1].block &&
          samples.record[i].offset == samples.record[i - 1].offset)
        continue;
      if (!session_.decode(i, sample)) continue;
      auto times = times_of(sample.read);
      if (!times) continue;
      EventId event = session_.events().of(session_.record(i));
      Times& last =
          last_[{event.value, sample.id.stream_id != 0 ? sample.id.stream_id : sample.id.id}];
      if (times->enabled > last.enabled) last = *times;
    }
  }

  const Session& session_;
  std::map<uint32_t, Times> events_;
  std::map<std::pair<uint32_t, uint64_t>, Times> last_;  // by event and counter
};

}  // namespace

std::vector<std::string> uncounted_times(const Session& session) {
  std::vector<std::string> lines = Throttling(session).lines();
  for (std::string& line : Multiplexing(session).lines()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> sampling_gaps(const Session& session) {
  std::vector<std::string> lines = uncounted_times(session);
  const ReplayCounts& counts = session.counts();
  if (std::string gap = chain_gap(session); !gap.empty()) lines.push_back(std::move(gap));
  uint64_t lost = counts.lost.most_samples();
  if (lost == 0) return lines;
  uint64_t all = counts.samples + lost;
  lines.push_back(
      fmt::format("Lost: {}{} of {} samples: each share may be off by up to {:.1f} points",
                  counts.lost.is_bound() ? "up to " : "", lost, all,
                  100 * static_cast<double>(lost) / static_cast<double>(all)));
  return lines;
}

}  // namespace sonde
