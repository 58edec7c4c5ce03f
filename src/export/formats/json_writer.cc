// Our own JSON (schema in docs/exports.md): events, frames, and each distinct stack with its weight
// in every event.
#include "base/version.h"
#include "export/formats/export_tables.h"
#include "export/formats/exports.h"
#include "export/formats/json_parts.h"

namespace sonde {
namespace {

class JsonWriter {
 public:
  JsonWriter(Sink& out, const StackProfile& profile) : out_(out), profile_(profile) {}

  void write() {
    std::string head = "{\"version\":1";
    append_member(head, "generator", fmt::format("sonde {}", sonde_version()));
    append_member(head, "source", profile_.origin);
    out_.write_lines(head + ",\n\"events\":[");
    for (size_t i = 0; i < profile_.columns.size(); ++i) write_event(i);
    out_.write("],\n\"objects\":[");
    for (size_t i = 0; i < profile_.objects.size(); ++i) write_object(i);
    out_.write("],\n\"frames\":[");
    write_in_pieces(out_, profile_.frames.size(), [this] {
      return [this](size_t i, std::string& text) { append_frame(i, text); };
    });
    out_.write("],\n\"stacks\":[");
    write_stacks();
    out_.write("]}\n");
  }

 private:
  void write_event(size_t i) {
    const StackColumn& column = profile_.columns[i];
    std::string text = i == 0 ? "\n{" : ",\n{";
    append_member(text, "name", column.name);
    append_member(text, "unit", column.unit);
    append_key(text, "total");
    append_value(text, total_of(column));
    append_key(text, "without_stack");
    append_value(text, column.without_stack);
    append_key(text, "samples");
    append_number(text, column.samples);
    out_.write_lines(text + "}");
  }

  void write_object(size_t i) {
    const StackObject& object = profile_.objects[i];
    std::string text = i == 0 ? "\n{" : ",\n{";
    append_member(text, "path", profile_.text(object.path));
    if (!object.build_id.empty()) append_member(text, "build_id", object.build_id);
    out_.write_lines(text + "}");
  }

  void append_frame(size_t i, std::string& text) const {
    const StackFrame& frame = profile_.frames[i];
    text += i == 0 ? "\n{" : ",\n{";
    append_member(text, "name", profile_.text(frame.name));
    append_member(text, "kind", kind_word(frame.kind));
    if (frame.object.valid()) append_member(text, "object", profile_.text(frame.object));
    if (frame.file.valid()) append_member(text, "file", profile_.text(frame.file));
    if (frame.line > 0) {
      append_key(text, "line");
      append_number(text, frame.line);
    }
    text += '}';
  }

  [[nodiscard]] bool has_weight(size_t node) const {
    return std::ranges::any_of(profile_.columns,
                               [&](const StackColumn& column) { return column.self[node] != 0; });
  }

  void write_stacks() {
    std::vector<uint32_t> with_weight;
    for (size_t node = 0; node < profile_.nodes.size(); ++node)
      if (has_weight(node)) with_weight.push_back(static_cast<uint32_t>(node));
    write_in_pieces(out_, with_weight.size(), [&] {
      return [&, walk = StackWalk(profile_)](size_t i, std::string& text) mutable {
        text += i == 0 ? "\n{\"frames\":[" : ",\n{\"frames\":[";
        for (uint32_t frame : walk.from_root(StackNodeId(with_weight[i]))) {
          append_number(text, frame);
          text += ',';
        }
        text.back() = ']';
        text += ",\"values\":[";
        for (const StackColumn& column : profile_.columns) {
          append_value(text, column.self[with_weight[i]]);
          text += ',';
        }
        text.back() = ']';
        text += '}';
      };
    });
  }

  Sink& out_;
  const StackProfile& profile_;
};

}  // namespace

void export_json(Sink& out, const StackProfile& profile) {
  JsonWriter(out, profile).write();
}

}  // namespace sonde
