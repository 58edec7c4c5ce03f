#include "export/pictures/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "export/pictures/axis.h"
#include "export/pictures/lane_painter.h"
#include "export/pictures/svg.h"
#include "export/pictures/timeline_json.h"
#include "export/pictures/timeline_kinds.h"

namespace sonde {

std::string_view timeline_view_script();
std::string_view timeline_view_css();

namespace {

using view::kNoIndex;
using view::TaskState;
using view::Timeline;
using view::TimelineCpu;
using view::TimelineRun;
using view::TimelineSlice;
using view::TimelineSubject;
using view::TimelineThread;

constexpr double kLeft = 190, kRight = 14;
constexpr double kTitleY = 30, kSubtitleY = 50, kLegendY = 74, kLegendLine = 20;
constexpr double kAxisHeight = 24, kGap = 16, kBottom = 16, kHeading = 20;
constexpr double kTextSize = 12;
constexpr double kLabelRoom = 22;  // the label is in the middle of the lane, or of this much
constexpr double kCallGap = 6;     // below the calls of a thread
constexpr double kOwnBox = 3;      // px; narrower calls are painted by their share of a pixel
constexpr double kNamedRow = 14;   // px; lower rows have no names
constexpr double kNamedCall = 30;  // px; narrower ones have no name

struct LaneSize {
  double height;
  double text;   // px; of the label
  size_t every;  // every how many lanes there is a label
};

/// The more lanes, the thinner they are.
LaneSize lane_size(size_t lanes) {
  if (lanes <= 16) return {22, kTextSize, 1};
  if (lanes <= 64) return {16, 11, 1};
  if (lanes <= 128) return {12, 10, 1};
  return {8, 10, 2};
}

/// Rows of calls are as high as names need, unless there are very many.
double call_row_height(size_t rows) {
  constexpr double kNamed = 16, kLeast = 2, kAll = 6000;
  return std::clamp(std::floor(kAll / static_cast<double>(std::max<size_t>(rows, 1))), kLeast,
                    kNamed);
}

/// Processes by run time: the first ones have their own colours.
class ProcessColors {
 public:
  explicit ProcessColors(const Timeline& timeline) {
    for (uint32_t i = 0; i < timeline.threads.size(); ++i) add(timeline.threads[i], i);
    std::ranges::stable_sort(processes_, std::ranges::greater(), &Process::run_ns);
    color_of_.assign(timeline.threads.size(), kProcessColors);
    for (size_t color = 0; color < std::min(kProcessColors, processes_.size()); ++color)
      for (uint32_t thread : processes_[color].threads) color_of_[thread] = color;
  }
  [[nodiscard]] size_t of(uint32_t thread) const { return color_of_[thread]; }
  [[nodiscard]] const std::vector<size_t>& by_thread() const { return color_of_; }
  [[nodiscard]] std::vector<std::string> legend() const {
    std::vector<std::string> names;
    for (const Process& process : processes_) {
      if (names.size() == kProcessColors) break;
      if (process.run_ns > 0) names.push_back(fmt::format("{} {}", process.name, process.id));
    }
    return names;
  }
  [[nodiscard]] bool has_others() const { return processes_.size() > kProcessColors; }

 private:
  struct Process {
    uint32_t id;
    std::string name;
    uint64_t run_ns = 0;
    std::vector<uint32_t> threads;
  };
  void add(const TimelineThread& thread, uint32_t index) {
    uint32_t id = thread.pid != 0 ? thread.pid : thread.tid;
    auto [place, is_new] = place_of_.try_emplace(id, processes_.size());
    if (is_new) {
      const std::string& name = thread.process_name.empty() ? thread.name : thread.process_name;
      processes_.push_back({.id = id, .name = name, .threads = {}});
    }
    Process& process = processes_[place->second];
    process.run_ns += thread.state_ns[size_t(TaskState::kRunning)];
    process.threads.push_back(index);
  }
  tsl::robin_map<uint32_t, size_t, NumberHash> place_of_;  // by pid; before sorting
  std::vector<Process> processes_;
  std::vector<size_t> color_of_;
};

/// The part of a timeline that gets lanes: other threads are kept as names of wakers.
Timeline drawn_part(const Timeline& timeline, const TimelineStyle& style, TimelineLimits& limits) {
  Timeline part = timeline;
  for (TimelineThread& thread : part.threads) {
    bool is_wanted =
        thread.is_shown && !(thread.slices.empty() && thread.ios.empty() && thread.calls.empty());
    bool has_room = limits.threads_drawn < style.max_threads;
    if (is_wanted) ++(has_room ? limits.threads_drawn : limits.threads_left_out);
    thread.is_shown = is_wanted && has_room;
    if (!thread.is_shown) {
      thread.slices.clear();
      thread.ios.clear();
      thread.calls.clear();
    }
  }
  limits.joined_below_ns = join_short_slices(part, style.max_slices);
  return part;
}

class TimelineSvg {
 public:
  /// `whole` is what is drawn; `timeline` is the same with fewer slices, for the script.
  TimelineSvg(Sink& out, const Timeline& whole, const Timeline& timeline,
              const TimelineStyle& style, const TimelineLimits& limits)
      : out_(out),
        whole_(whole),
        timeline_(timeline),
        style_(style),
        limits_(limits),
        colors_(timeline),
        unknown_(timeline.unknown),
        plot_width_(std::max(200.0, style.width - kLeft - kRight)) {
    std::ranges::stable_sort(unknown_, {}, &view::TimelineUnknown::cpu);
  }

  void write() {
    place();
    open_svg(svg_, {.width = kLeft + plot_width_ + kRight, .height = height_});
    svg_ += "<style>\n";
    svg_ += timeline_view_css();
    svg_ += "</style>\n";
    if (!timeline_.unknown.empty())
      svg_ +=
          "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect class=\"hatch\" width=\"1.5\" height=\"5\"/>"
          "</pattern></defs>\n";
    svg_ += "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
    write_heading();
    write_legend();
    write_axis();
    write_lanes();
    svg_ += "<g id=\"selection\"></g><g id=\"tip\"></g>\n";
    out_.write_lines(svg_);
    write_script();
  }

 private:
  // Layout.

  void place() {
    std::vector<LegendPlace> legend = legend_places();
    legend_rows_ = legend.empty() ? 0 : legend.back().row + 1;
    axis_y_ = kLegendY + kLegendLine * static_cast<double>(legend_rows_) + kAxisHeight;
    cpu_size_ = lane_size(timeline_.cpus.size());
    thread_size_ = lane_size(limits_.threads_drawn);
    cpus_y_ = axis_y_ + kHeading;
    double cpus_end = cpus_y_ + cpu_size_.height * static_cast<double>(timeline_.cpus.size());
    threads_y_ = timeline_.cpus.empty() ? cpus_y_ : cpus_end + kGap + kHeading;
    lanes_end_ = threads_y_;
    if (is_of_calls()) call_row_ = call_row_height(all_call_rows());
    for (size_t i = 0; i < timeline_.threads.size(); ++i)
      if (timeline_.threads[i].is_shown) lanes_end_ += lane_height(whole_.threads[i]);
    height_ = lanes_end_ + kBottom;
  }
  [[nodiscard]] bool is_of_calls() const { return timeline_.subject == TimelineSubject::kCalls; }
  static size_t call_rows(const TimelineThread& thread) {
    size_t rows = 1;
    for (const view::TimelineCall& call : thread.calls)
      rows = std::max(rows, size_t{call.depth} + 1);
    return rows;
  }
  [[nodiscard]] size_t all_call_rows() const {
    size_t rows = 0;
    for (size_t i = 0; i < timeline_.threads.size(); ++i)
      if (timeline_.threads[i].is_shown) rows += call_rows(whole_.threads[i]);
    return rows;
  }
  [[nodiscard]] double lane_height(const TimelineThread& thread) const {
    if (!is_of_calls()) return thread_size_.height;
    return std::max(call_row_ * static_cast<double>(call_rows(thread)) + kCallGap,
                    thread_size_.height);
  }

  struct LegendPlace {
    std::string css_class, text;
    std::string_view heading;  // at the start of a row
    double x = 0;
    size_t row = 0;
  };
  /// The states, and on separate rows the processes and what CPUs do when idle.
  [[nodiscard]] std::vector<LegendPlace> legend_places() const {
    std::vector<LegendPlace> places;
    auto add = [&](std::vector<LegendEntry> entries, std::string_view heading) {
      for (LegendEntry& entry : entries)
        places.push_back({std::move(entry.css_class), std::move(entry.text),
                          std::exchange(heading, std::string_view())});
    };
    if (!timeline_.threads.empty()) add(thread_legend(timeline_), "threads");
    if (!timeline_.cpus.empty()) add(process_legend(), "CPUs: processes");
    add(power_legend(timeline_), timeline_.unknown.empty() ? "CPUs: power" : "CPUs: other");
    double x = kLeft;
    size_t row = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      double width = 34 + static_cast<double>(columns_of(places[i].text)) * 7;
      bool begins_row = i > 0 && !places[i].heading.empty();
      if (begins_row || x + width > kLeft + plot_width_) {
        x = kLeft;
        ++row;
      }
      places[i].x = x;
      places[i].row = row;
      x += width;
    }
    return places;
  }

  [[nodiscard]] std::vector<LegendEntry> process_legend() const {
    std::vector<LegendEntry> entries;
    for (const std::string& name : colors_.legend())
      entries.push_back({fmt::format("p{}", entries.size()), cut_text(name, 30)});
    if (colors_.has_others()) entries.push_back({fmt::format("p{}", kProcessColors), "others"});
    return entries;
  }

  void write_heading() {
    append_text(svg_, 14, kTitleY,
                fit_text(style_.title, plot_width_, {.size = 18, .width_em = kBoldWidthEm}),
                " class=\"title\"");
    uint64_t span_ns = timeline_.end_ns - timeline_.start_ns;
    std::string text = fmt::format("{} from {} s on", time_text(static_cast<double>(span_ns)),
                                   seconds(timeline_.start_ns));
    if (timeline_.subject == TimelineSubject::kStates)
      text += fmt::format(", {} CPUs", timeline_.cpus.size());
    text +=
        fmt::format(", {} thread{}", limits_.threads_drawn, limits_.threads_drawn == 1 ? "" : "s");
    if (limits_.threads_left_out > 0)
      text += fmt::format(" (of {}: those that ran longest)",
                          limits_.threads_drawn + limits_.threads_left_out);
    if (limits_.joined_below_ns > 0)
      text += fmt::format("; zoomed in, {} below {} are {}", is_of_calls() ? "calls" : "slices",
                          time_text(static_cast<double>(limits_.joined_below_ns)),
                          is_of_calls() ? "left out" : "joined");
    if (!timeline_.partial.empty()) text += "; " + timeline_.partial;
    append_text(svg_, 14, kSubtitleY, text, " class=\"soft\" id=\"subtitle\"");
    append_text(svg_, kLeft + plot_width_, kSubtitleY, "",
                " class=\"soft\" id=\"shown\" text-anchor=\"end\"");
    append_text(svg_, kLeft + plot_width_, kTitleY, "show all",
                " class=\"button\" id=\"reset\" text-anchor=\"end\" visibility=\"hidden\"");
  }

  void write_legend() {
    for (const LegendPlace& place : legend_places()) {
      double y = kLegendY + kLegendLine * static_cast<double>(place.row);
      if (!place.heading.empty()) append_text(svg_, 14, y + 2, place.heading, " class=\"soft\"");
      fmt::format_to(std::back_inserter(svg_),
                     "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"12\" height=\"12\" rx=\"2\" "
                     "class=\"{}\"/>",
                     place.x, y - 8, place.css_class);
      append_text(svg_, place.x + 17, y + 2, place.text, " class=\"label\"");
    }
    svg_ += '\n';
  }

  void write_axis() {
    svg_ += "<g id=\"axis\">";
    double span = static_cast<double>(timeline_.end_ns - timeline_.start_ns);
    double per_px = std::max(span, 1.0) / plot_width_;
    for (double tick : round_ticks(0, span, static_cast<size_t>(plot_width_ / 90))) {
      double x = kLeft + tick / per_px;
      fmt::format_to(std::back_inserter(svg_),
                     "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>", x, axis_y_,
                     lanes_end_);
      append_text(svg_, x, axis_y_ - 6, tick == 0 ? "0" : time_text(tick),
                  " class=\"soft\" text-anchor=\"middle\"");
    }
    svg_ += "</g>\n";
  }

  // Lanes.

  void write_lanes() {
    if (!timeline_.cpus.empty()) append_text(svg_, 14, cpus_y_ - 6, "CPUs", " class=\"heading\"");
    for (size_t i = 0; i < timeline_.cpus.size(); ++i) write_cpu(i);
    if (limits_.threads_drawn > 0)
      append_text(svg_, 14, threads_y_ - 6, "Threads", " class=\"heading\"");
    size_t row = 0;
    double y = threads_y_;
    for (uint32_t i = 0; i < timeline_.threads.size(); ++i) {
      if (!timeline_.threads[i].is_shown) continue;
      write_thread(i, row++, y);
      y += lane_height(whole_.threads[i]);
    }
  }

  /// Writes the lane's name on the left, its description, and its band; leaves the group open.
  void open_lane(size_t row, double y, const LaneSize& size, std::string_view id,
                 std::string_view name, std::string_view about, bool is_marked = false) {
    svg_ += "<g class=\"row\"><title>";
    append_escaped(svg_, about);
    svg_ += "</title>";
    fmt::format_to(std::back_inserter(svg_),
                   "<rect class=\"band{}\" x=\"0\" y=\"{:.1f}\" width=\"100%\" height=\"{:.1f}\"/>",
                   row % 2, y, size.height);
    if (row % size.every == 0) {
      SvgFont font{.size = size.text, .width_em = 0.6};
      append_text(svg_, 14, y + std::min(size.height, kLabelRoom) / 2 + size.text * 0.36,
                  fit_text(name, kLeft - 24, font),
                  fmt::format(" class=\"label{}\" font-size=\"{}\"", is_marked ? " marked" : "",
                              size.text));
    }
    fmt::format_to(std::back_inserter(svg_),
                   "</g><g class=\"lane\" id=\"{}\" transform=\"translate({:.0f},{:.1f})\">", id,
                   kLeft, y);
  }

  void write_cpu(size_t index) {
    const TimelineCpu& cpu = timeline_.cpus[index];
    double busy = cpu.watched_ns == 0 ? 0
                                      : 100.0 * static_cast<double>(cpu.busy_ns) /
                                            static_cast<double>(cpu.watched_ns);
    std::string name = fmt::format("CPU {}", cpu.cpu);
    double y = cpus_y_ + cpu_size_.height * static_cast<double>(index);
    open_lane(index, y, cpu_size_, fmt::format("c{}", index),
              fmt::format("{}  {:.0f} %", name, busy),
              fmt::format("{}: busy for {} of {} ({:.1f} %), {} runs", name,
                          time_text(static_cast<double>(cpu.busy_ns)),
                          time_text(static_cast<double>(cpu.watched_ns)), busy,
                          whole_.cpus[index].runs.size()));
    LanePainter painter(pixels(), timeline_.start_ns, timeline_.end_ns, cpu_kinds().size());
    for (const TimelineRun& run : whole_.cpus[index].runs)
      painter.add(colors_.of(run.thread), run.start_ns, run.end_ns);
    for (const view::TimelineUnknown& span :
         std::ranges::equal_range(unknown_, cpu.cpu, {}, &view::TimelineUnknown::cpu))
      painter.add(unknown_kind(), span.start_ns, span.end_ns);
    for (const view::TimelineIdle& idle : whole_.cpus[index].idles)
      painter.add(sleep_kind(idle.state), idle.start_ns, idle.end_ns);
    painter.paint(svg_, cpu_kinds());
    svg_ += frequency_path(timeline_, cpu, plot_width_, cpu_size_.height);
    write_run_names(cpu);
    svg_ += "</g>\n";
  }

  /// Inside the runs that are wide enough.
  void write_run_names(const TimelineCpu& cpu) {
    if (cpu_size_.height < 16) return;
    double per_px =
        std::max(1.0, static_cast<double>(timeline_.end_ns - timeline_.start_ns)) / plot_width_;
    for (const TimelineRun& run : cpu.runs) {
      double width = static_cast<double>(run.end_ns - run.start_ns) / per_px;
      std::string text = width < 40 ? ""
                                    : fit_text(timeline_.threads[run.thread].name, width - 8,
                                               {.size = 11, .width_em = 0.6});
      if (text.empty()) continue;
      append_text(svg_, static_cast<double>(run.start_ns - timeline_.start_ns) / per_px + 4,
                  cpu_size_.height / 2 + 4, text, " class=\"run\"");
    }
  }

  void write_thread(uint32_t index, size_t row, double y) {
    const TimelineThread& thread = timeline_.threads[index];
    LaneSize size = thread_size_;
    size.height = lane_height(whole_.threads[index]);
    open_lane(row, y, size, fmt::format("t{}", index),
              fmt::format("{} {}", cut_text(thread.name, 60), thread.tid), about(thread),
              thread.is_marked);
    if (is_of_calls()) {
      write_calls(whole_.threads[index]);
      svg_ += "</g>\n";
      return;
    }
    LanePainter painter(pixels(), timeline_.start_ns, timeline_.end_ns, state_kinds().size());
    for (const TimelineSlice& slice : whole_.threads[index].slices)
      painter.add(lane_kind(slice), slice.start_ns, slice.end_ns);
    for (const view::TimelineIo& io : whole_.threads[index].ios)
      painter.add(static_cast<size_t>(io.kind), io.start_ns, io.end_ns);
    painter.paint(svg_, state_kinds());
    svg_ += "</g>\n";
  }

  /// The colour of a function, the same in every picture.
  static size_t call_kind(const view::TimelineFunction& function) {
    uint32_t hash = 2'166'136'261;  // FNV-1a
    for (char c : function.name) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
    return hash % kProcessColors;
  }
  [[nodiscard]] std::vector<LaneKind> call_kinds(double top) const {
    std::vector<LaneKind> kinds = cpu_lane_kinds(call_row_ + 1);
    for (LaneKind& kind : kinds) kind.top = top;
    return kinds;
  }

  void write_calls(const TimelineThread& thread) {
    double per_px =
        std::max(1.0, static_cast<double>(timeline_.end_ns - timeline_.start_ns)) / plot_width_;
    std::vector<std::vector<const view::TimelineCall*>> rows(call_rows(thread));
    for (const view::TimelineCall& call : thread.calls) rows[call.depth].push_back(&call);
    LanePainter painter(pixels(), timeline_.start_ns, timeline_.end_ns, call_kinds(0).size());
    for (size_t row = 0; row < rows.size(); ++row) {
      double top = call_row_ * static_cast<double>(row);
      for (const view::TimelineCall* call : rows[row]) {
        const view::TimelineFunction& function = timeline_.functions[call->function];
        double width = static_cast<double>(call->end_ns - call->start_ns) / per_px;
        if (width < kOwnBox) {
          painter.add(call_kind(function), call->start_ns, call->end_ns);
          continue;
        }
        double x = static_cast<double>(call->start_ns - timeline_.start_ns) / per_px;
        fmt::format_to(std::back_inserter(svg_),
                       "<path class=\"p{}\" d=\"M{:.1f} {:g}h{:.1f}v{:g}h-{:.1f}z\"/>",
                       call_kind(function), x, top, width - 0.5, call_row_ - 1, width - 0.5);
        if (call_row_ < kNamedRow || width < kNamedCall) continue;
        append_text(svg_, x + 4, top + call_row_ - 5,
                    fit_text(function.name, width - 8, {.size = 11, .width_em = 0.6}),
                    " class=\"run\"");
      }
      painter.paint(svg_, call_kinds(top));
    }
  }

  [[nodiscard]] std::string about(const TimelineThread& thread) const {
    std::string text = fmt::format("{} (thread {}", cut_text(thread.name, 200), thread.tid);
    if (thread.pid != 0 && thread.pid != thread.tid)
      text += fmt::format(" of {} {}", cut_text(thread.process_name, 200), thread.pid);
    if (timeline_.subject == TimelineSubject::kIo)
      return text + fmt::format("): {} bytes", grouped(static_cast<double>(thread.io_bytes)));
    if (is_of_calls())
      return text + fmt::format("): {} calls", grouped(static_cast<double>(thread.calls.size())));
    text += fmt::format("): {} runs", thread.runs);
    for (size_t state = 0; state < view::kTaskStates; ++state)
      if (thread.state_ns[state] > 0)
        text += fmt::format(", {} {}", state_name(static_cast<TaskState>(state)),
                            time_text(static_cast<double>(thread.state_ns[state])));
    return text;
  }

  [[nodiscard]] size_t pixels() const { return static_cast<size_t>(plot_width_); }
  [[nodiscard]] std::vector<LaneKind> cpu_kinds() const { return cpu_lane_kinds(cpu_size_.height); }
  [[nodiscard]] std::vector<LaneKind> state_kinds() const {
    return thread_lane_kinds(timeline_, thread_size_.height);
  }

  // The script and its data.

  static std::string seconds(uint64_t time_ns) {
    return fmt::format("{}.{:06}", time_ns / 1'000'000'000, time_ns % 1'000'000'000 / 1000);
  }

  void write_script() {
    out_.write("<script><![CDATA[\nconst timeline = ");
    write_timeline_json(out_, timeline_);
    out_.print(
        ";\nconst layout = "
        "{{startSeconds:{},startRest:{},total:{},left:{},width:{},axis:{},end:{},height:{},"
        "cpuHeight:{},"
        "threadHeight:{},callRow:{},callColors:{},cpuKinds:{},threadKinds:{},sleepKinds:{},"
        "highestKhz:{},colors:[",
        timeline_.start_ns / 1'000'000'000, timeline_.start_ns % 1'000'000'000,
        timeline_.end_ns - timeline_.start_ns, kLeft, pixels(), axis_y_, lanes_end_, height_,
        cpu_size_.height, thread_size_.height, call_row_, call_colors(), kinds_text(cpu_kinds()),
        kinds_text(state_kinds()), kSleepDepths, highest_frequency(timeline_));
    for (size_t color : colors_.by_thread()) out_.print("{},", color);
    out_.write("]};\n");
    out_.write_lines(timeline_view_script());
    out_.write("]]></script>\n</svg>\n");
  }
  [[nodiscard]] std::string call_colors() const {
    std::string text = "[";
    for (const view::TimelineFunction& function : timeline_.functions)
      fmt::format_to(std::back_inserter(text), "{},", call_kind(function));
    return text + "]";
  }
  static std::string kinds_text(const std::vector<LaneKind>& kinds) {
    std::string text = "[";
    for (const LaneKind& kind : kinds)
      fmt::format_to(std::back_inserter(text), "[\"{}\",{},{}],", kind.css_class, kind.top,
                     kind.height);
    return text + "]";
  }

  Sink& out_;
  const Timeline& whole_;
  const Timeline& timeline_;
  const TimelineStyle& style_;
  const TimelineLimits& limits_;
  ProcessColors colors_;
  std::vector<view::TimelineUnknown> unknown_;  // by CPU
  double plot_width_;
  size_t legend_rows_ = 1;
  double call_row_ = 0;
  double axis_y_ = 0, cpus_y_ = 0, threads_y_ = 0, lanes_end_ = 0, height_ = 0;
  LaneSize cpu_size_{}, thread_size_{};
  std::string svg_;
};

}  // namespace

TimelineLimits write_timeline_svg(Sink& out, const Timeline& timeline, const TimelineStyle& style) {
  TimelineLimits limits;
  Timeline part = drawn_part(timeline, style, limits);
  TimelineSvg(out, timeline, part, style, limits).write();
  return limits;
}

}  // namespace sonde
