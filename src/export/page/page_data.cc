#include "export/page/page_data.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <optional>

#include "export/page/page_calls.h"
#include "export/page/page_columns.h"
#include "export/page/page_sched.h"

namespace sonde {
namespace {

using PageJson = rapidjson::Writer<rapidjson::StringBuffer>;

void put_text(PageJson& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

/// Only the strings that are used, numbered in order of first use.
class PageStrings {
 public:
  explicit PageStrings(const StackProfile& profile) : profile_(profile) {}

  uint32_t index(StringId id) {
    if (!id.valid()) return empty();
    if (id.index() >= number_.size()) number_.resize(id.index() + 1);
    uint32_t& number = number_[id.index()];
    if (number == 0) number = add(profile_.text(id));
    return number - 1;
  }
  /// Plus one; 0 if there is no string.
  uint32_t index_or_none(StringId id) { return id.valid() ? index(id) + 1 : 0; }
  void write(PageJson& json) const {
    json.StartArray();
    for (std::string_view text : texts_) put_text(json, text);
    json.EndArray();
  }

 private:
  uint32_t add(std::string_view text) {
    texts_.push_back(text);
    return static_cast<uint32_t>(texts_.size());
  }
  uint32_t empty() {
    if (empty_ == 0) empty_ = add({});
    return empty_ - 1;
  }

  const StackProfile& profile_;
  std::vector<uint32_t> number_;  // by StringId: plus one
  std::vector<std::string_view> texts_;
  uint32_t empty_ = 0;
};

/// How the values of a column are written.
struct ColumnForm {
  bool real = false;
  std::optional<double> constant;  // the value of each sample, if all have the same one
};

class PageData {
 public:
  PageData(const StackProfile& profile, const PageDescription& description)
      : profile_(profile), description_(description), strings_(profile) {}

  std::string make() && {
    has_samples_ = can_show_samples();
    find_forms();
    add_frames();
    add_nodes();
    for (size_t i = 0; i < profile_.columns.size(); ++i) add_self(i);
    if (has_samples_) add_samples();
    if (has_samples_ && description_.timeline) {
      bool is_of_calls = description_.timeline->subject == view::TimelineSubject::kCalls;
      (is_of_calls ? add_call_columns : add_sched_columns)(
          columns_, profile_, *description_.timeline, profile_.samples.time_ns[0]);
    }
    return joined(header());
  }

 private:
  /// Text input may give samples without times or threads; then nothing can be shown over time.
  [[nodiscard]] bool can_show_samples() const {
    const StackSamples& samples = profile_.samples;
    if (samples.size() == 0 || samples.size() > kMaxPageSamples) return false;
    if (profile_.recording && !profile_.recording->has_times) return false;
    for (uint32_t thread : samples.thread)
      if (thread >= profile_.threads.size()) return false;
    return profile_.recording || samples.time_ns.back() > samples.time_ns.front();
  }
  void find_forms() {
    forms_.resize(profile_.columns.size());
    for (size_t i = 0; i < forms_.size(); ++i) {
      for (double value : profile_.columns[i].self) forms_[i].real |= !is_whole(value);
      forms_[i].real |= !is_whole(profile_.columns[i].without_stack);
    }
    if (!has_samples_) return;
    std::vector<bool> differs(forms_.size());
    const StackSamples& samples = profile_.samples;
    for (size_t i = 0; i < samples.size(); ++i) {
      ColumnForm& form = forms_[samples.column[i]];
      form.real |= !is_whole(samples.value[i]);
      if (!form.constant) form.constant = samples.value[i];
      if (*form.constant != samples.value[i]) differs[samples.column[i]] = true;
    }
    for (size_t i = 0; i < forms_.size(); ++i)
      if (differs[i]) forms_[i].constant.reset();
  }

  template <typename Value>
  void add_frame_column(std::string name, Value value) {
    std::vector<uint32_t> column;
    column.reserve(profile_.frames.size());
    for (const StackFrame& frame : profile_.frames) column.push_back(value(frame));
    columns_.integers(std::move(name), column);
  }
  void add_frames() {
    using F = const StackFrame&;
    add_frame_column("frame_name", [&](F frame) { return strings_.index_or_none(frame.name); });
    add_frame_column("frame_object", [&](F frame) { return strings_.index_or_none(frame.object); });
    add_frame_column("frame_file", [&](F frame) { return strings_.index_or_none(frame.file); });
    add_frame_column("frame_line", [](F frame) { return frame.line; });
    add_frame_column("frame_kind", [](F frame) { return static_cast<uint32_t>(frame.kind); });
  }

  void add_nodes() {
    LargeVector<uint32_t> depth, frame;
    for (const StackNode& node : profile_.nodes) {
      depth.push_back(node.parent.valid() ? depth[node.parent.index()] + 1 : 0);
      frame.push_back(node.frame.value);
    }
    columns_.integers("node_depth", depth);
    columns_.integers("node_frame", frame);
  }

  void add_self(size_t index) {
    const StackColumn& column = profile_.columns[index];
    std::vector<uint64_t> gaps;
    std::vector<double> values;
    size_t last = 0;
    auto add = [&](size_t node, double value) {
      if (value == 0) return;
      gaps.push_back(node - last);
      values.push_back(value);
      last = node;
    };
    add(0, column.without_stack);
    for (size_t i = 0; i < column.self.size(); ++i) add(i + 1, column.self[i]);
    columns_.integers(fmt::format("self{}_gap", index), gaps);
    columns_.numbers(fmt::format("self{}_value", index), values, forms_[index].real);
  }

  template <typename Column, typename Number>
  void add_sample_column(std::string name, const Column& column, Number number) {
    LargeVector<uint64_t> numbers;
    numbers.reserve(column.size());
    for (const auto& value : column) numbers.push_back(number(value));
    columns_.integers(std::move(name), numbers);
  }
  void add_samples() {
    const StackSamples& samples = profile_.samples;
    uint64_t first_ns = samples.time_ns[0];
    uint64_t last_us = 0;
    add_sample_column("sample_time", samples.time_ns, [&](uint64_t time_ns) {
      uint64_t now_us = (time_ns - first_ns) / 1000;
      return now_us - std::exchange(last_us, now_us);
    });
    add_sample_column("sample_node", samples.node, [](StackNodeId node) -> uint64_t {
      return node.valid() ? uint64_t{node.value} + 1 : 0;
    });
    columns_.integers("sample_thread", samples.thread);
    if (knows_cpus())
      add_sample_column("sample_cpu", samples.cpu, [](uint32_t cpu) -> uint64_t {
        return cpu == UINT32_MAX ? 0 : uint64_t{cpu} + 1;
      });
    if (profile_.columns.size() > 1) columns_.integers("sample_column", samples.column);
    if (!description_.code.place.empty())
      columns_.integers("sample_place", description_.code.place);
    for (size_t i = 0; i < forms_.size(); ++i)
      if (!forms_[i].constant) add_sample_values(i);
  }
  [[nodiscard]] bool knows_cpus() const {
    for (uint32_t cpu : profile_.samples.cpu)
      if (cpu != UINT32_MAX) return true;
    return false;
  }
  void add_sample_values(size_t column) {
    std::vector<double> values;
    for (size_t i = 0; i < profile_.samples.size(); ++i)
      if (profile_.samples.column[i] == column) values.push_back(profile_.samples.value[i]);
    columns_.numbers(fmt::format("sample_value{}", column), values, forms_[column].real);
  }

  // The JSON.

  std::string header() {
    rapidjson::StringBuffer buffer;
    PageJson json(buffer);
    json.StartObject();
    write_words(json);
    json.Key("events");
    write_events(json);
    json.Key("columns");
    write_forms(json);
    json.Key("threads");
    write_threads(json);
    json.Key("listings");
    write_listings(json);
    json.Key("begin_ns");
    put_text(json, fmt::format("{}", has_samples_ ? profile_.samples.time_ns[0] : 0));
    json.Key("sections");
    write_sections(json);
    json.Key("strings");  // last, when every string has its number
    strings_.write(json);
    json.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
  }
  void write_words(PageJson& json) const {
    json.Key("title");
    put_text(json, description_.title);
    json.Key("facts");
    json.StartArray();
    for (const auto& [name, value] : description_.facts) {
      json.StartArray();
      put_text(json, name);
      put_text(json, value);
      json.EndArray();
    }
    json.EndArray();
    write_texts(json, "warnings", description_.warnings);
    write_texts(json, "compared", description_.compared);
    json.Key("sched_partial");
    put_text(json, description_.timeline ? description_.timeline->partial : std::string());
  }
  static void write_texts(PageJson& json, const char* key, const std::vector<std::string>& texts) {
    json.Key(key);
    json.StartArray();
    for (const std::string& text : texts) put_text(json, text);
    json.EndArray();
  }
  /// If profiles are compared, an event is a pair of columns.
  void write_events(PageJson& json) const {
    size_t step = description_.compared.empty() ? 1 : 2;
    json.StartArray();
    for (size_t i = 0; i + step <= profile_.columns.size(); i += step) {
      json.StartObject();
      json.Key("name");
      put_text(json, step == 1 ? profile_.columns[i].name : name_of_pair(i / 2));
      json.Key("unit");
      put_text(json, profile_.columns[i].unit);
      json.Key("columns");
      json.StartArray();
      for (size_t column = i; column < i + step; ++column) json.Uint64(column);
      json.EndArray();
      json.Key("samples");
      json.StartArray();
      for (size_t column = i; column < i + step; ++column)
        json.Uint64(profile_.columns[column].samples);
      json.EndArray();
      json.EndObject();
    }
    json.EndArray();
  }
  [[nodiscard]] std::string name_of_pair(size_t pair) const {
    const std::vector<std::string>& names = description_.compared_events;
    return pair < names.size() ? names[pair] : "comparison";
  }
  void write_forms(PageJson& json) const {
    json.StartArray();
    for (const ColumnForm& form : forms_) {
      json.StartObject();
      json.Key("real");
      json.Bool(form.real);
      json.Key("constant");
      if (form.constant)
        json.Double(*form.constant);
      else
        json.Null();
      json.EndObject();
    }
    json.EndArray();
  }
  void write_threads(PageJson& json) {
    json.StartArray();
    for (const StackThread& thread : profile_.threads) {
      json.StartArray();
      json.Uint(thread.pid);
      json.Uint(thread.tid);
      json.Uint(strings_.index(thread.name));
      json.Uint(strings_.index(thread.process_name));
      json.EndArray();
    }
    json.EndArray();
  }
  void write_listings(PageJson& json) const {
    json.StartArray();
    for (const CodeListing& listing : description_.code.listings) {
      json.StartObject();
      json.Key("frame");
      json.Uint(listing.frame.value);
      json.Key("name");
      put_text(json, listing.name);
      json.Key("cut");
      json.Bool(listing.is_cut);
      json.Key("code");
      write_instructions(json, listing.instructions);
      json.Key("sources");
      write_sources(json, listing.sources);
      json.EndObject();
    }
    json.EndArray();
  }
  static void write_instructions(PageJson& json, const std::vector<CodeInstruction>& code) {
    json.StartArray();
    for (const CodeInstruction& instruction : code) {
      json.StartArray();
      json.Uint(instruction.offset);
      put_text(json, instruction.text);
      json.Int(instruction.file == UINT32_MAX ? -1 : static_cast<int>(instruction.file));
      json.Uint(instruction.line);
      json.EndArray();
    }
    json.EndArray();
  }
  static void write_sources(PageJson& json, const std::vector<SourcePart>& sources) {
    json.StartArray();
    for (const SourcePart& source : sources) {
      json.StartArray();
      put_text(json, source.path);
      json.Uint(source.first_line);
      json.StartArray();
      for (const std::string& line : source.lines) put_text(json, line);
      json.EndArray();
      json.EndArray();
    }
    json.EndArray();
  }
  void write_sections(PageJson& json) const {
    json.StartObject();
    for (const PageColumns::Section& section : columns_.sections()) {
      json.Key(section.name.c_str());
      json.StartArray();
      json.Uint64(section.offset);
      json.Uint64(section.size);
      json.Uint64(section.count);
      json.EndArray();
    }
    json.EndObject();
  }

  [[nodiscard]] std::string joined(const std::string& header) const {
    std::string block;
    block.reserve(header.size() + columns_.bytes().size() + 4);
    for (unsigned shift = 0; shift < 32; shift += 8)
      block.push_back(static_cast<char>(header.size() >> shift));
    block += header;
    block += columns_.bytes();
    return block;
  }

  const StackProfile& profile_;
  const PageDescription& description_;
  PageStrings strings_;
  PageColumns columns_;
  std::vector<ColumnForm> forms_;
  bool has_samples_ = false;
};

}  // namespace

std::string page_data(const StackProfile& profile, const PageDescription& description) {
  return PageData(profile, description).make();
}

}  // namespace sonde
