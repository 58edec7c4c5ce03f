#include "export/pictures/timeline_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "export/pictures/svg.h"

namespace sonde {
namespace {

using view::Timeline;
using view::TimelineSubject;

int64_t index_number(uint32_t index) {
  return index == view::kNoIndex ? -1 : int64_t{index};
}

class TimelineJson {
 public:
  TimelineJson(Sink& out, const Timeline& timeline) : out_(out), timeline_(timeline) {}

  void write() {
    out_.print("{{\"version\":1,\"start_ns\":{},\"end_ns\":{},\"states\":[", timeline_.start_ns,
               timeline_.end_ns);
    write_states();
    out_.write("],\n\"run_fields\":[\"start_ns\",\"duration_ns\",\"thread\",\"cut\"],\n\"cpus\":[");
    list(timeline_.cpus, [this](const view::TimelineCpu& cpu) { write_cpu(cpu); });
    out_.print("],\n\"slice_fields\":[{}],", slice_fields());
    out_.write("\n");
    if (timeline_.subject == TimelineSubject::kIo) out_.write("\"subject\":\"io\",");
    if (timeline_.subject == TimelineSubject::kCalls) write_functions();
    out_.write("\"threads\":[");
    list(timeline_.threads, [this](const view::TimelineThread& thread) { write_thread(thread); });
    out_.write("],");
    if (is_of_states()) write_unknown();
    out_.write("\n\"stacks\":[");
    list(timeline_.stacks, [this](const std::string& stack) { write_text(stack); });
    out_.write("]}\n");
  }

 private:
  [[nodiscard]] bool is_of_states() const { return timeline_.subject == TimelineSubject::kStates; }
  [[nodiscard]] std::string_view slice_fields() const {
    switch (timeline_.subject) {
      case TimelineSubject::kIo:
        return "\"start_ns\",\"duration_ns\",\"state\",\"fd\",\"errno\",\"bytes\",\"calls\","
               "\"cut\"";
      case TimelineSubject::kCalls:
        return "\"start_ns\",\"duration_ns\",\"depth\",\"function\",\"cut\"";
      case TimelineSubject::kStates:
        break;
    }
    return "\"start_ns\",\"duration_ns\",\"state\",\"cpu\",\"waker\",\"stack\",\"waker_stack\","
           "\"cut\"";
  }
  void write_functions() {
    out_.write("\"subject\":\"calls\",\"functions\":[");
    list(timeline_.functions, [this](const view::TimelineFunction& function) {
      out_.write("[");
      write_text(function.name);
      out_.write(",");
      write_text(function.object);
      out_.write("]");
    });
    out_.write("],\n");
  }
  void write_states() {
    if (timeline_.subject == TimelineSubject::kCalls) return;
    if (timeline_.subject == TimelineSubject::kIo)
      for (size_t i = 0; i < view::kIoKinds; ++i)
        out_.print("{}\"{}\"", comma(i), io_name(static_cast<view::IoKind>(i)));
    else
      for (size_t i = 0; i < view::kTaskStates; ++i)
        out_.print("{}\"{}\"", comma(i), state_name(static_cast<view::TaskState>(i)));
  }
  static std::string_view comma(size_t i) { return i == 0 ? "" : ","; }
  template <typename List, typename Write>
  void list(const List& items, const Write& write) {
    for (size_t i = 0; i < items.size(); ++i) {
      out_.write_lines(i == 0 ? "\n" : ",\n");
      write(items[i]);
    }
  }
  void write_text(std::string_view text) {
    text_.clear();
    append_script_string(text_, text);
    out_.write_lines(text_);
  }
  void write_cpu(const view::TimelineCpu& cpu) {
    out_.print("{{\"cpu\":{},\"busy_ns\":{},\"watched_ns\":{},\"runs\":[", cpu.cpu, cpu.busy_ns,
               cpu.watched_ns);
    for (size_t i = 0; i < cpu.runs.size(); ++i) {
      const view::TimelineRun& run = cpu.runs[i];
      out_.print("{}[{},{},{},{}]", comma(i), run.start_ns - timeline_.start_ns,
                 run.end_ns - run.start_ns, run.thread, int{run.is_cut});
    }
    out_.write("]");
    if (!cpu.idles.empty()) {
      out_.write(",\"idles\":[");
      for (size_t i = 0; i < cpu.idles.size(); ++i)
        out_.print("{}[{},{},{}]", comma(i), cpu.idles[i].start_ns - timeline_.start_ns,
                   cpu.idles[i].end_ns - cpu.idles[i].start_ns, cpu.idles[i].state);
      out_.write("]");
    }
    if (!cpu.frequencies.empty()) {
      out_.write(",\"frequencies\":[");
      for (size_t i = 0; i < cpu.frequencies.size(); ++i)
        out_.print("{}[{},{}]", comma(i), cpu.frequencies[i].time_ns - timeline_.start_ns,
                   cpu.frequencies[i].khz);
      out_.write("]");
    }
    out_.write("}");
  }
  void write_thread(const view::TimelineThread& thread) {
    out_.print("{{\"tid\":{},\"pid\":{},\"name\":", thread.tid, thread.pid);
    write_text(thread.name);
    out_.write(",\"process\":");
    write_text(thread.process_name);
    out_.print(",\"runs\":{},\"state_ns\":[{}],", thread.runs, fmt::join(thread.state_ns, ","));
    if (is_of_states()) out_.print("\"ended\":{},", end_of(thread));
    out_.write("\"slices\":[");
    if (thread.is_shown) write_spans(thread);
    out_.write("]}");
  }
  /// Counted from start_ns; -1 if it was not seen.
  [[nodiscard]] int64_t end_of(const view::TimelineThread& thread) const {
    if (thread.ended_ns == 0) return -1;
    return static_cast<int64_t>(thread.ended_ns - std::min(thread.ended_ns, timeline_.start_ns));
  }
  void write_unknown() {
    out_.write("\n\"unknown_fields\":[\"start_ns\",\"duration_ns\",\"cpu\"],\"unknown\":[");
    for (size_t i = 0; i < timeline_.unknown.size(); ++i) {
      const view::TimelineUnknown& span = timeline_.unknown[i];
      out_.print("{}[{},{},{}]", comma(i), span.start_ns - timeline_.start_ns,
                 span.end_ns - span.start_ns, span.cpu);
    }
    out_.write("],\"partial\":");
    write_text(timeline_.partial);
    out_.write(",");
  }
  void write_spans(const view::TimelineThread& thread) {
    auto put = [this](const auto& spans, auto write) {
      for (size_t i = 0; i < spans.size(); ++i) {
        out_.write_lines(comma(i));
        write(spans[i]);
      }
    };
    switch (timeline_.subject) {
      case TimelineSubject::kStates:
        return put(thread.slices, [this](const auto& slice) { write_slice(slice); });
      case TimelineSubject::kIo:
        return put(thread.ios, [this](const auto& io) { write_io(io); });
      case TimelineSubject::kCalls:
        return put(thread.calls, [this](const auto& call) { write_call(call); });
    }
  }
  /// Marked slices are drawn as a separate state.
  static size_t shown_state(const view::TimelineSlice& slice) {
    return slice.is_marked ? view::kTaskStates : static_cast<size_t>(slice.state);
  }
  void write_slice(const view::TimelineSlice& slice) {
    out_.print("[{},{},{},{},{},{},{},{}]", slice.start_ns - timeline_.start_ns,
               slice.end_ns - slice.start_ns, shown_state(slice), index_number(slice.cpu),
               index_number(slice.waker), index_number(slice.stack),
               index_number(slice.waker_stack), int{slice.is_cut});
  }

  void write_io(const view::TimelineIo& io) {
    out_.print("[{},{},{},{},{},{},{},0]", io.start_ns - timeline_.start_ns,
               io.end_ns - io.start_ns, static_cast<int>(io.kind), io.fd, io.error, io.bytes,
               io.calls);
  }

  void write_call(const view::TimelineCall& call) {
    out_.print("[{},{},{},{},{}]", call.start_ns - timeline_.start_ns, call.end_ns - call.start_ns,
               call.depth, call.function, int{call.is_cut});
  }

  Sink& out_;
  const Timeline& timeline_;
  std::string text_;
};

}  // namespace

std::string_view state_name(view::TaskState state) {
  static constexpr std::string_view kNames[] = {"running", "runnable", "sleeping",
                                                "uninterruptible", "stopped"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view io_name(view::IoKind kind) {
  static constexpr std::string_view kNames[] = {
      "disk read", "disk write", "network in", "network out", "sync", "poll", "failed"};
  return kNames[static_cast<size_t>(kind)];
}

void write_timeline_json(Sink& out, const view::Timeline& timeline) {
  TimelineJson(out, timeline).write();
}

}  // namespace sonde
