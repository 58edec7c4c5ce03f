#include "histogram/histogram_text.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "export/pictures/svg.h"

namespace sonde {
namespace {

constexpr size_t kWidestBar = 40, kNarrowestBar = 10;  // columns
constexpr double kNsPerSecond = 1e9;

std::string grouped_count(uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// At most two decimals, without trailing zeros.
std::string short_decimal(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string wide_text(WideNumber value) {
  return fmt::format("{}", value);
}

/// Rows from the first bucket with events to the last, those in between without any included.
std::vector<int32_t> shown_buckets(const Histogram& histogram) {
  std::vector<int32_t> shown;
  for (int32_t at = histogram.buckets.begin()->first; at <= histogram.buckets.rbegin()->first; ++at)
    shown.push_back(at);
  return shown;
}

uint64_t events_of(const Histogram& histogram, int32_t bucket) {
  auto found = histogram.buckets.find(bucket);
  return found == histogram.buckets.end() ? 0 : found->second;
}

std::string range_text(const BucketEnds& ends, size_t first_width, size_t last_width) {
  if (ends.first.empty())
    return fmt::format("{:>{}}    {:>{}}", "below", first_width, ends.last, last_width);
  if (ends.last.empty())
    return fmt::format("{:>{}}    {:<{}}", ends.first, first_width, "and up", last_width);
  if (ends.first == ends.last)
    return fmt::format("{:>{}}", ends.first, first_width + last_width + 4);
  return fmt::format("{:>{}} .. {:>{}}", ends.first, first_width, ends.last, last_width);
}

void write_rows(Sink& out, const HistogramSet& set, const Histogram& histogram, size_t width) {
  std::vector<int32_t> buckets = shown_buckets(histogram);
  std::vector<BucketEnds> ends;
  size_t first_width = 5, last_width = 6;
  uint64_t most = 1;
  for (int32_t bucket : buckets) {
    ends.push_back(bucket_ends(set, bucket));
    first_width = std::max(first_width, ends.back().first.size());
    last_width = std::max(last_width, ends.back().last.size());
    most = std::max(most, events_of(histogram, bucket));
  }
  size_t count_width = std::max<size_t>(5, grouped_count(most).size());
  size_t range_width = first_width + last_width + 4;
  size_t before_bar = range_width + count_width + 16;
  size_t bar =
      width > before_bar + kNarrowestBar ? std::min(kWidestBar, width - before_bar) : kNarrowestBar;
  std::string name = cut_text(set.value_name, std::max(range_width, size_t{3}));
  out.print("  {:>{}}  {:>{}}  percent\n", name, range_width, "count", count_width);
  for (size_t i = 0; i < buckets.size(); ++i) {
    uint64_t events = events_of(histogram, buckets[i]);
    double share = static_cast<double>(events) / static_cast<double>(histogram.count);
    auto marks = static_cast<size_t>(
        static_cast<double>(events) / static_cast<double>(most) * static_cast<double>(bar) + 0.5);
    if (events > 0) marks = std::max<size_t>(marks, 1);
    out.print("  {}  {:>{}}  {:>6.1f}%  |{:<{}}|\n", range_text(ends[i], first_width, last_width),
              grouped_count(events), count_width, share * 100, std::string(marks, '#'), bar);
  }
}

std::string json_text(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

void write_json_histogram(Sink& out, const HistogramSet& set, const Histogram& histogram) {
  out.write("{");
  if (!set.key_name.empty()) out.print("\"key\":{},", json_text(histogram.key));
  std::string sum = set.is_signed ? fmt::format("{}", static_cast<int64_t>(histogram.sum))
                                  : fmt::format("{}", histogram.sum);
  out.print("\"count\":{},\"sum\":{},\"buckets\":[", histogram.count, sum);
  std::string_view separator;
  for (const auto& [bucket, events] : histogram.buckets) {
    BucketScale::Bounds bounds = set.scale.bounds(bucket);
    out.print("{}{{", separator);
    if (!bounds.open_below) out.print("\"first\":{},", bounds.first);
    if (!bounds.open_above) out.print("\"last\":{},", bounds.last);
    out.print("\"count\":{}}}", events);
    separator = ",";
  }
  out.write("]}");
}

}  // namespace

std::string duration_text(double ns) {
  struct Unit {
    double ns;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  constexpr double kRoundsUp = 0.9995;  // of a unit, at three digits
  for (const Unit& unit : kUnits) {
    if (std::abs(ns) < unit.ns * kRoundsUp) continue;
    double value = ns / unit.ns, size = std::abs(value);
    int digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    std::string text = fmt::format("{:.{}f}", value, digits);
    if (text.find('.') != std::string::npos) {
      while (text.ends_with('0')) text.pop_back();
      if (text.ends_with('.')) text.pop_back();
    }
    return text + std::string(unit.name);
  }
  return fmt::format("{:.0f}ns", ns);
}

BucketEnds bucket_ends(const HistogramSet& set, int32_t bucket) {
  BucketScale::Bounds bounds = set.scale.bounds(bucket);
  BucketEnds ends;
  if (set.are_times) {
    if (!bounds.open_below) ends.first = duration_text(static_cast<double>(bounds.first));
    if (!bounds.open_above) ends.last = duration_text(static_cast<double>(bounds.last + 1));
    return ends;
  }
  if (!bounds.open_below) ends.first = wide_text(bounds.first);
  if (!bounds.open_above) ends.last = wide_text(bounds.last);
  return ends;
}

std::string summary_text(const HistogramSet& set, const Histogram& histogram) {
  double mean = set.mean(histogram);
  std::string text = fmt::format("{} {}, mean {}", grouped_count(histogram.count),
                                 histogram.count == 1 ? "event" : "events",
                                 set.are_times ? duration_text(mean) : short_decimal(mean));
  for (int percent : {50, 90, 99}) {
    BucketScale::Bounds bounds = set.scale.bounds(histogram.percentile(percent / 100.0));
    std::string first =
        set.are_times ? duration_text(static_cast<double>(bounds.first)) : wide_text(bounds.first);
    std::string last = set.are_times ? duration_text(static_cast<double>(bounds.last + 1))
                                     : wide_text(bounds.last);
    if (bounds.open_above)
      text += fmt::format(", p{} >= {}", percent, first);
    else
      text += fmt::format(", p{} {} {}", percent, set.are_times ? "<" : "<=", last);
  }
  return text;
}

std::string key_text(const HistogramSet& set, const Histogram& histogram) {
  std::string shown = to_utf8(histogram.key);
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return fmt::format("{} {}", set.key_name, shown);
}

void write_histograms(Sink& out, const HistogramSet& set, size_t most, size_t width) {
  std::string time = set.seconds > 0 ? ", " + duration_text(set.seconds * kNsPerSecond) : "";
  out.print("{}{}\n", set.title, time);
  if (set.histograms.empty()) out.write("\n  no events\n");
  size_t shown = std::min(most, set.histograms.size());
  for (size_t i = 0; i < shown; ++i) {
    const Histogram& histogram = set.histograms[i];
    out.write("\n");
    if (!set.key_name.empty()) out.print("{}: ", key_text(set, histogram));
    out.print("{}\n", summary_text(set, histogram));
    write_rows(out, set, histogram, width);
  }
  if (shown < set.histograms.size()) {
    uint64_t events = 0;
    for (size_t i = shown; i < set.histograms.size(); ++i) events += set.histograms[i].count;
    out.print("\n{} more histograms with {} events: --entries shows them\n",
              set.histograms.size() - shown, grouped_count(events));
  }
}

void write_histograms_json(Sink& out, const HistogramSet& set) {
  out.print("{{\"title\":{},\"value\":{},\"unit\":{}", json_text(set.title),
            json_text(set.value_name), set.are_times ? "\"ns\"" : "null");
  if (!set.key_name.empty()) out.print(",\"by\":{}", json_text(set.key_name));
  if (set.seconds > 0) out.print(",\"seconds\":{:.3f}", set.seconds);
  out.print(",\"events\":{},\"histograms\":[", set.events());
  for (size_t i = 0; i < set.histograms.size(); ++i) {
    if (i > 0) out.write(",");
    write_json_histogram(out, set, set.histograms[i]);
  }
  out.write("],\"remarks\":[");
  for (size_t i = 0; i < set.remarks.size(); ++i)
    out.print("{}{}", i > 0 ? "," : "", json_text(set.remarks[i]));
  out.write("]}\n");
}

}  // namespace sonde
