// The "processed profile" of profiler.firefox.com, version 48, gzip. The front end upgrades it to
// its current version. Changes to the format are listed in docs-developer/CHANGELOG-formats.md of
// https://github.com/firefox-devtools/profiler; in this version every thread has its own tables.
//
// A thread in the file is a thread under one name and an event. The weight of a sample is what it
// stands for: milliseconds of a clock, bytes, or counts.
#include "base/version.h"
#include "export/formats/export_samples.h"
#include "export/formats/export_tables.h"
#include "export/formats/export_tasks.h"
#include "export/formats/exports.h"
#include "export/formats/gzip_sink.h"
#include "export/formats/json_parts.h"

namespace sonde {
namespace {

constexpr unsigned kMillisecondDigits = 6;  // of a time in nanoseconds

/// Numbers for entries of a thread's own tables, in order of first use.
class Renumbering {
 public:
  explicit Renumbering(size_t count) : number_of_(count, kNone) {}
  /// True if it is new.
  bool add(uint32_t thing) {
    if (number_of_[thing] != kNone) return false;
    number_of_[thing] = static_cast<uint32_t>(things_.size());
    things_.push_back(thing);
    return true;
  }
  [[nodiscard]] uint32_t operator[](uint32_t thing) const { return number_of_[thing]; }
  [[nodiscard]] const std::vector<uint32_t>& things() const { return things_; }
  /// Renumbers by the order of the things themselves.
  void sort() {
    constexpr size_t kMany = 16;  // above this share, a scan of all things is faster than sorting
    if (things_.size() > number_of_.size() / kMany) {
      things_.clear();
      for (uint32_t thing = 0; thing < number_of_.size(); ++thing)
        if (number_of_[thing] != kNone) things_.push_back(thing);
    } else {
      std::ranges::sort(things_);
    }
    for (size_t i = 0; i < things_.size(); ++i) number_of_[things_[i]] = static_cast<uint32_t>(i);
  }
  void clear() {
    for (uint32_t thing : things_) number_of_[thing] = kNone;
    things_.clear();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> number_of_;
  std::vector<uint32_t> things_;
};

// Categories, by index in meta.categories.
enum Category : uint8_t { kOther, kUser, kKernel, kJit };
constexpr std::string_view kCategories =
    R"([{"name":"Other","color":"grey","subcategories":["Other"]},)"
    R"({"name":"User","color":"yellow","subcategories":["Other","Inlined"]},)"
    R"({"name":"Kernel","color":"orange","subcategories":["Other"]},)"
    R"({"name":"JIT","color":"green","subcategories":["Other"]}])";

Category category_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::kKernel:
      return kKernel;
    case FrameKind::kJit:
      return kJit;
    case FrameKind::kTask:
    case FrameKind::kWaker:
      return kOther;
    case FrameKind::kUser:
    case FrameKind::kInlined:
      break;
  }
  return kUser;
}
uint8_t subcategory_of(FrameKind kind) {
  return kind == FrameKind::kInlined ? 1 : 0;
}

class FirefoxWriter {
 public:
  FirefoxWriter(Sink& out, const StackProfile& profile)
      : out_(out),
        profile_(profile),
        samples_(profile),
        tasks_(samples_),
        build_ids_(profile),
        strings_(profile),
        nodes_(profile.nodes.size()),
        frames_(profile.frames.size()),
        objects_(profile.strings->size()),
        thread_objects_(profile.strings->size()) {
    has_main_.resize(tasks_.process_count());
    for (const StackFrame& frame : profile.frames)
      if (frame.object.valid()) objects_.add(frame.object.value);
  }

  void write() {
    write_meta();
    out_.write(",\"libs\":[");
    for (size_t i = 0; i < objects_.things().size(); ++i) write_library(i);
    out_.write("],\"threads\":[");
    for (size_t i = 0; i < samples_.groups().size(); ++i) {
      if (i > 0) out_.put(',');
      write_thread(samples_.groups()[i]);
    }
    out_.write("],\"pages\":[],\"counters\":[]}\n");
    out_.finish();
  }

 private:
  void write_meta() {
    std::string text = R"({"meta":{"interval":)";
    append_scaled(text, interval_ns(), kMillisecondDigits);
    text += R"(,"startTime":0,"processType":0,"stackwalk":1,"version":28)";
    text += R"(,"preprocessedProfileVersion":48,"symbolicated":true,"debug":false)";
    text += R"(,"usesOnlyOneStackType":true,"doesNotUseFrameImplementation":true)";
    text += R"(,"sourceCodeIsNotOnSearchfox":true,"markerSchema":[],"pausedRanges":[])";
    text += R"(,"extensions":{"id":[],"name":[],"baseURL":[],"length":0})";
    append_member(text, "product", std::string(file_name_of(profile_.origin)));
    append_member(text, "importedFrom", fmt::format("sonde {}", sonde_version()));
    append_key(text, "categories");
    text += kCategories;
    out_.write_lines(text + "}");
  }
  /// The average time between samples of a thread.
  [[nodiscard]] uint64_t interval_ns() const {
    constexpr uint64_t kMillisecond = 1'000'000;
    uint64_t intervals = 0;
    uint64_t span = 0;
    for (const auto& group : samples_.groups()) {
      const auto& times = samples_.samples().time_ns;
      span += times[group.samples.back()] - times[group.samples.front()];
      intervals += group.samples.size() - 1;
    }
    return span == 0 || intervals == 0 ? kMillisecond : std::max<uint64_t>(1, span / intervals);
  }

  /// The id that symbol servers use for an ELF build: the first 16 bytes of the build id, with the
  /// first three fields in little-endian order, and an age of 0.
  static std::string breakpad_id(std::string_view build_id) {
    constexpr size_t kDigits = 32;
    constexpr size_t kOrder[] = {6, 4, 2, 0, 10, 8, 14, 12};
    std::string padded(build_id.substr(0, kDigits));
    padded.resize(kDigits, '0');
    std::string id;
    for (size_t at : kOrder) id += padded.substr(at, 2);
    id += padded.substr(16);
    for (char& c : id)
      if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
    return id + "0";
  }

  void write_library(size_t i) {
    StringId path(objects_.things()[i]);
    std::string_view build_id = build_ids_.of(path);
    std::string text = i == 0 ? "{" : ",{";
    append_member(text, "arch", "");
    for (std::string_view key : {"name", "debugName"})
      append_member(text, key, file_name_of(profile_.text(path)));
    for (std::string_view key : {"path", "debugPath"})
      append_member(text, key, profile_.text(path));
    append_member(text, "breakpadId", breakpad_id(build_id));
    append_key(text, "codeId");
    if (build_id.empty())
      text += "null";
    else
      append_json_string(text, build_id);
    out_.write_lines(text + "}");
  }

  void write_thread(const ExportSamples::Group& group) {
    collect(group);
    write_thread_head(group);
    write_samples(group);
    write_stack_table();
    write_frame_table();
    write_func_table();
    write_resource_table();
    write_strings();
    out_.put('}');
  }

  /// Collects the nodes, frames and objects of the thread. Parents have lower numbers than their
  /// children.
  void collect(const ExportSamples::Group& group) {
    nodes_.clear();
    frames_.clear();
    thread_objects_.clear();
    strings_.clear();
    for (uint32_t sample : group.samples)
      for (StackNodeId node = samples_.samples().node[sample];
           node.valid() && nodes_.add(node.value);)
        node = profile_.nodes[node.index()].parent;
    nodes_.sort();
    for (uint32_t node : nodes_.things()) {
      uint32_t frame = profile_.nodes[node].frame.value;
      if (!frames_.add(frame)) continue;
      StringId object = profile_.frames[frame].object;
      if (object.valid()) thread_objects_.add(object.value);
    }
  }

  void write_thread_head(const ExportSamples::Group& group) {
    const StackThread& thread = samples_.thread(group.thread);
    uint32_t process = tasks_.process_of(group.thread);
    std::string name = samples_.thread_name(group.thread);
    if (profile_.columns.size() > 1)
      name += fmt::format(" ({})", profile_.columns[group.column].name);
    std::string text = R"({"processType":"default","pausedRanges":[],"processStartupTime":0)";
    text += R"(,"processShutdownTime":null)";
    append_member(text, "name", name);
    append_member(text, "processName", samples_.process_name(tasks_.named_by(group.thread)));
    append_key(text, "isMainThread");
    text +=
        thread.pid == thread.tid && !std::exchange(has_main_[process], char{1}) ? "true" : "false";
    append_member(text, "pid", pid_text(thread.pid, process));
    append_key(text, "tid");
    append_number(text, thread.tid);
    append_key(text, "registerTime");
    append_time(text, group.samples.front());
    append_key(text, "unregisterTime");
    append_time(text, group.samples.back());
    text += R"(,"markers":{"data":[],"name":[],"startTime":[],"endTime":[],"phase":[])";
    text += R"(,"category":[],"length":0})";
    text += R"(,"nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[])";
    out_.write_lines(text + R"(,"length":0})");
  }

  /// Processes are told apart by this text: those that a process was after its first have a number
  /// behind it, as samply writes them.
  [[nodiscard]] std::string pid_text(uint32_t pid, uint32_t process) const {
    uint32_t nth = tasks_.namesakes(process);
    return nth == 0 ? fmt::format("{}", pid) : fmt::format("{}.{}", pid, nth);
  }

  /// Time since the first sample of the profile. Sums have no times: their samples are numbered.
  void append_time(std::string& text, uint32_t sample) const {
    if (samples_.has_times())
      append_scaled(text, samples_.samples().time_ns[sample] - samples_.start_ns(),
                    kMillisecondDigits);
    else
      append_number(text, sample);
  }

  /// One column of a table: what `append(i, text)` appends for each row.
  template <typename Append>
  void write_column(std::string_view name, size_t rows, const Append& append) {
    out_.print(",\"{}\":[", name);
    write_in_pieces(out_, rows, [&] {
      return [&](size_t i, std::string& text) {
        if (i > 0) text += ',';
        append(i, text);
      };
    });
    out_.put(']');
  }
  void write_same(std::string_view name, size_t rows, std::string_view value) {
    write_column(name, rows, [&](size_t, std::string& text) { text += value; });
  }

  void write_samples(const ExportSamples::Group& group) {
    const StackSamples& samples = samples_.samples();
    const std::string& unit = profile_.columns[group.column].unit;
    bool is_time = unit == "nanoseconds";
    size_t rows = group.samples.size();
    out_.print(R"(,"samples":{{"length":{},"weightType":"{}")", rows,
               is_time           ? "tracing-ms"
               : unit == "bytes" ? "bytes"
                                 : "samples");
    write_column("stack", rows, [&](size_t i, std::string& text) {
      StackNodeId node = samples.node[group.samples[i]];
      if (node.valid())
        append_number(text, nodes_[node.value]);
      else
        text += "null";
    });
    write_column("time", rows,
                 [&](size_t i, std::string& text) { append_time(text, group.samples[i]); });
    write_column("weight", rows, [&](size_t i, std::string& text) {
      double value = samples.value[group.samples[i]];
      if (is_time && value >= 0 && std::nearbyint(value) == value)
        append_scaled(text, static_cast<uint64_t>(value), kMillisecondDigits);
      else
        append_value(text, is_time ? value / 1e6 : value);
    });
    out_.put('}');
  }

  [[nodiscard]] const StackFrame& frame_at(size_t i) const {
    return profile_.frames[frames_.things()[i]];
  }
  [[nodiscard]] const StackFrame& frame_of_stack(size_t i) const {
    return profile_.frame_of(StackNodeId(nodes_.things()[i]));
  }

  void write_stack_table() {
    size_t rows = nodes_.things().size();
    out_.print(",\"stackTable\":{{\"length\":{}", rows);
    write_column("prefix", rows, [&](size_t i, std::string& text) {
      StackNodeId parent = profile_.nodes[nodes_.things()[i]].parent;
      if (parent.valid())
        append_number(text, nodes_[parent.value]);
      else
        text += "null";
    });
    write_column("frame", rows, [&](size_t i, std::string& text) {
      append_number(text, frames_[profile_.nodes[nodes_.things()[i]].frame.value]);
    });
    write_column("category", rows, [&](size_t i, std::string& text) {
      append_number(text, category_of(frame_of_stack(i).kind));
    });
    write_column("subcategory", rows, [&](size_t i, std::string& text) {
      append_number(text, subcategory_of(frame_of_stack(i).kind));
    });
    out_.put('}');
  }

  /// One row per function: there are no addresses.
  void write_frame_table() {
    size_t rows = frames_.things().size();
    out_.print(",\"frameTable\":{{\"length\":{}", rows);
    write_same("address", rows, "-1");
    write_same("inlineDepth", rows, "0");
    write_column("category", rows, [&](size_t i, std::string& text) {
      append_number(text, category_of(frame_at(i).kind));
    });
    write_column("subcategory", rows, [&](size_t i, std::string& text) {
      append_number(text, subcategory_of(frame_at(i).kind));
    });
    write_column("func", rows, [](size_t i, std::string& text) { append_number(text, i); });
    for (std::string_view name : {"nativeSymbol", "implementation", "line", "column"})
      write_same(name, rows, "null");
    write_same("innerWindowID", rows, "0");
    out_.put('}');
  }

  void write_func_table() {
    size_t rows = frames_.things().size();
    // String numbers are assigned here, sequentially; columns may be written by several threads.
    std::vector<uint32_t> names(rows);
    std::vector<uint32_t> files(rows);
    for (size_t i = 0; i < rows; ++i) {
      names[i] = strings_.number_of(frame_at(i).name);
      if (frame_at(i).file.valid()) files[i] = strings_.number_of(frame_at(i).file);
    }
    out_.print(",\"funcTable\":{{\"length\":{}", rows);
    write_column("name", rows, [&](size_t i, std::string& text) { append_number(text, names[i]); });
    write_same("isJS", rows, "false");
    write_same("relevantForJS", rows, "false");
    write_column("resource", rows, [&](size_t i, std::string& text) {
      StringId object = frame_at(i).object;
      if (object.valid())
        append_number(text, thread_objects_[object.value]);
      else
        text += "-1";
    });
    write_column("fileName", rows, [&](size_t i, std::string& text) {
      if (frame_at(i).file.valid())
        append_number(text, files[i]);
      else
        text += "null";
    });
    write_column("lineNumber", rows, [&](size_t i, std::string& text) {
      if (frame_at(i).file.valid() && frame_at(i).line > 0)
        append_number(text, frame_at(i).line);
      else
        text += "null";
    });
    write_same("columnNumber", rows, "null");
    out_.put('}');
  }

  void write_resource_table() {
    const std::vector<uint32_t>& objects = thread_objects_.things();
    std::vector<uint32_t> names;
    for (uint32_t object : objects)
      names.push_back(strings_.number_of(file_name_of(profile_.text(StringId(object)))));
    out_.print(",\"resourceTable\":{{\"length\":{}", objects.size());
    write_column("lib", objects.size(),
                 [&](size_t i, std::string& text) { append_number(text, objects_[objects[i]]); });
    write_column("name", objects.size(),
                 [&](size_t i, std::string& text) { append_number(text, names[i]); });
    write_same("host", objects.size(), "null");
    write_same("type", objects.size(), "1");  // a library
    out_.put('}');
  }

  void write_strings() {
    write_column("stringArray", strings_.size(),
                 [&](size_t i, std::string& text) { append_json_string(text, strings_.text(i)); });
  }

  GzipSink out_;
  const StackProfile& profile_;
  ExportSamples samples_;
  ExportTasks tasks_;
  std::vector<char> has_main_;  // by process: the page shows one main thread of each
  ObjectBuildIds build_ids_;
  // For the thread being written, except objects_.
  ExportStrings strings_;
  Renumbering nodes_;
  Renumbering frames_;
  Renumbering objects_;  // of the whole profile, by path
  Renumbering thread_objects_;
};

}  // namespace

void export_firefox(Sink& out, const StackProfile& profile) {
  FirefoxWriter(out, profile).write();
}

}  // namespace sonde
