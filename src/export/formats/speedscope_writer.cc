// speedscope's own format, version 0.0.1 of its schema
// (https://www.speedscope.app/file-format-schema.json): a table of frames, and for each thread and
// event a profile of kind "sampled", whose samples are arrays of frames, outermost first.
#include "base/version.h"
#include "export/formats/export_samples.h"
#include "export/formats/export_tables.h"
#include "export/formats/exports.h"
#include "export/formats/json_parts.h"

namespace sonde {
namespace {

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(Sink& out, const StackProfile& profile)
      : out_(out), profile_(profile), samples_(profile) {}

  void write() {
    std::string head = R"({"$schema":"https://www.speedscope.app/file-format-schema.json")";
    append_member(head, "exporter", fmt::format("sonde {}", sonde_version()));
    append_member(head, "name", profile_.origin);
    append_key(head, "activeProfileIndex");
    append_number(head, heaviest_group());
    append_key(head, "shared");
    out_.write_lines(head + "{\"frames\":[");
    write_in_pieces(out_, profile_.frames.size(), [this] {
      return [this](size_t i, std::string& text) { append_frame(i, text); };
    });
    out_.write("]},\"profiles\":[");
    for (size_t i = 0; i < samples_.groups().size(); ++i) {
      if (i > 0) out_.put(',');
      write_group(samples_.groups()[i]);
    }
    out_.write("]}\n");
  }

 private:
  [[nodiscard]] size_t heaviest_group() const {
    size_t heaviest = 0;
    const auto& groups = samples_.groups();
    for (size_t i = 1; i < groups.size(); ++i)
      if (groups[i].samples.size() > groups[heaviest].samples.size()) heaviest = i;
    return heaviest;
  }

  void append_frame(size_t i, std::string& text) const {
    const StackFrame& frame = profile_.frames[i];
    if (i > 0) text += ',';
    std::string made = "{";
    append_member(made, "name", profile_.text(frame.name));
    StringId file = frame.file.valid() ? frame.file : frame.object;
    if (file.valid()) append_member(made, "file", profile_.text(file));
    if (frame.file.valid() && frame.line > 0) {
      append_key(made, "line");
      append_number(made, frame.line);
    }
    text += made;
    text += '}';
  }

  [[nodiscard]] std::string name_of(const ExportSamples::Group& group) const {
    std::string_view event = profile_.columns[group.column].name;
    if (!samples_.has_times())
      return fmt::format("{} {}", samples_.thread_name(group.thread), event);
    const StackThread& thread = samples_.thread(group.thread);
    return fmt::format("{} ({}/{}) {}", samples_.thread_name(group.thread), thread.pid, thread.tid,
                       event);
  }
  /// Maps to the units that the format knows.
  static std::string_view unit_of(const StackColumn& column) {
    for (std::string_view known : {"nanoseconds", "bytes"})
      if (column.unit == known) return known;
    return "none";
  }

  void write_group(const ExportSamples::Group& group) {
    const StackSamples& samples = samples_.samples();
    double total = 0;
    for (uint32_t sample : group.samples) total += samples.value[sample];
    std::string head = R"({"type":"sampled")";
    append_member(head, "name", name_of(group));
    append_member(head, "unit", unit_of(profile_.columns[group.column]));
    head += ",\"startValue\":0,\"endValue\":";
    append_value(head, total);
    out_.write_lines(head + ",\"samples\":[");
    write_in_pieces(out_, group.samples.size(), [&] {
      return [&, walk = StackWalk(profile_)](size_t i, std::string& text) mutable {
        if (i > 0) text += ',';
        text += '[';
        for (uint32_t frame : walk.from_root(samples.node[group.samples[i]])) {
          append_number(text, frame);
          text += ',';
        }
        if (text.back() == ',') text.pop_back();
        text += ']';
      };
    });
    out_.write("],\"weights\":[");
    write_in_pieces(out_, group.samples.size(), [&] {
      return [&](size_t i, std::string& text) {
        if (i > 0) text += ',';
        append_value(text, samples.value[group.samples[i]]);
      };
    });
    out_.write("]}");
  }

  Sink& out_;
  const StackProfile& profile_;
  ExportSamples samples_;
};

}  // namespace

void export_speedscope(Sink& out, const StackProfile& profile) {
  SpeedscopeWriter(out, profile).write();
}

}  // namespace sonde
