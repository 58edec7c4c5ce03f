// The Trace Event Format as JSON: process and thread names as metadata events, stacks as a tree of
// "stackFrames", and "samples" that refer to it. Times are in microseconds.
//
// A profile without times becomes one nest of complete events ("X") per event, with durations
// proportional to the weights (export_slices.h).
#include "base/version.h"
#include "export/formats/export_samples.h"
#include "export/formats/export_slices.h"
#include "export/formats/export_tables.h"
#include "export/formats/export_tasks.h"
#include "export/formats/exports.h"
#include "export/formats/json_parts.h"

namespace sonde {
namespace {

constexpr unsigned kMicrosecondDigits = 3;  // of a time in nanoseconds

class ChromeWriter {
 public:
  ChromeWriter(Sink& out, const StackProfile& profile)
      : out_(out), profile_(profile), samples_(profile), tasks_(samples_) {}

  void write() {
    out_.write("{\"traceEvents\":[\n");
    if (samples_.has_times())
      write_names();
    else
      for (size_t column = 0; column < profile_.columns.size(); ++column) write_slices(column);
    out_.write("],\n");
    if (samples_.has_times()) {
      write_stacks();
      write_samples();
    }
    std::string tail = "\"displayTimeUnit\":\"ns\",\"otherData\":{";
    append_member(tail, "exporter", fmt::format("sonde {}", sonde_version()));
    append_member(tail, "source", profile_.origin);
    out_.write_lines(tail + "}}\n");
  }

 private:
  void append_name(std::string& text, std::string_view what, uint32_t pid, uint32_t tid,
                   std::string_view name) {
    text += std::exchange(is_first_, false) ? "" : ",\n";
    fmt::format_to(std::back_inserter(text),
                   R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":)", what, pid, tid);
    append_json_string(text, name);
    text += "}}";
  }

  void write_names() {
    std::vector<bool> is_written(tasks_.process_count());
    std::string text;
    for (const auto& groups : samples_.by_thread()) {
      uint32_t thread = groups.front().thread;
      uint32_t pid = tasks_.pid(thread);
      if (!is_written[tasks_.process_of(thread)])
        append_name(text, "process_name", pid, pid, tasks_.process_name(thread));
      is_written[tasks_.process_of(thread)] = true;
      append_name(text, "thread_name", pid, tasks_.tid(thread), tasks_.thread_name(thread));
    }
    out_.write_lines(text);
  }

  void write_slices(size_t column) {
    ExportSlices slices(profile_, column);
    auto thread = static_cast<uint32_t>(column + 1);
    std::string names;
    append_name(names, "thread_name", 1, thread, profile_.columns[column].name);
    out_.write_lines(names);
    write_in_pieces(out_, profile_.nodes.size(), [&] {
      return [&](size_t node, std::string& text) {
        if (slices.total(node) == 0) return;
        text += ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":";
        append_number(text, thread);
        append_member(text, "name", profile_.name_of(StackNodeId(node)));
        append_member(text, "cat", category_of(profile_.frame_of(StackNodeId(node))));
        append_key(text, "ts");
        append_scaled(text, slices.begin_ns(node), kMicrosecondDigits);
        append_key(text, "dur");
        append_scaled(text, slices.end_ns(node) - slices.begin_ns(node), kMicrosecondDigits);
        text += '}';
      };
    });
    if (double rest = profile_.columns[column].without_stack; rest != 0) {
      std::string text =
          ",\n{\"ph\":\"C\",\"pid\":1,\"ts\":0,\"name\":\"without stack\",\"args\":{\"";
      text += "value\":";
      append_value(text, rest);
      out_.write_lines(text + "}}");
    }
  }

  [[nodiscard]] std::string_view category_of(const StackFrame& frame) const {
    std::string_view object = profile_.text(frame.object);
    return object.empty() ? kind_word(frame.kind) : file_name_of(object);
  }

  /// Name and category of each frame, formatted once: a profile may have a thousand nodes per
  /// frame.
  [[nodiscard]] std::vector<std::string> frame_members() const {
    std::vector<std::string> members(profile_.frames.size());
    parallel_for(members.size(), [&](size_t i) {
      const StackFrame& frame = profile_.frames[i];
      append_member(members[i], "name", profile_.text(frame.name));
      append_member(members[i], "category", category_of(frame));
    });
    return members;
  }

  void write_stacks() {
    out_.write("\"stackFrames\":{");
    std::vector<std::string> members = frame_members();
    write_in_pieces(out_, profile_.nodes.size(), [&] {
      return [&](size_t node, std::string& text) {
        text += node == 0 ? "\n\"" : ",\n\"";
        append_number(text, node);
        text += "\":{";
        text += members[profile_.nodes[node].frame.index()];
        if (StackNodeId parent = profile_.nodes[node].parent; parent.valid()) {
          text += ",\"parent\":\"";
          append_number(text, parent.value);
          text += '"';
        }
        text += '}';
      };
    });
    out_.write("},\n");
  }

  void write_samples() {
    std::vector<std::string> names;
    for (const StackColumn& column : profile_.columns) {
      names.emplace_back(",\"name\":");
      append_json_string(names.back(), column.name);
    }
    const StackSamples& samples = samples_.samples();
    out_.write("\"samples\":[");
    write_in_pieces(out_, samples.size(), [&] {
      return [&](size_t i, std::string& text) {
        text += i == 0 ? "\n{\"cpu\":" : ",\n{\"cpu\":";
        append_number(text, samples.cpu[i] == UINT32_MAX ? 0 : samples.cpu[i]);
        text += ",\"pid\":";
        append_number(text, tasks_.pid(samples.thread[i]));
        text += ",\"tid\":";
        append_number(text, tasks_.tid(samples.thread[i]));
        text += ",\"ts\":";
        append_scaled(text, samples.time_ns[i], kMicrosecondDigits);
        text += names[samples.column[i]];
        if (samples.node[i].valid()) {
          text += ",\"sf\":\"";
          append_number(text, samples.node[i].value);
          text += '"';
        }
        text += ",\"weight\":";
        append_value(text, samples.value[i]);
        text += '}';
      };
    });
    out_.write("],\n");
  }

  Sink& out_;
  const StackProfile& profile_;
  ExportSamples samples_;
  ExportTasks tasks_;
  bool is_first_ = true;
};

}  // namespace

void export_chrome(Sink& out, const StackProfile& profile) {
  ChromeWriter(out, profile).write();
}

}  // namespace sonde
