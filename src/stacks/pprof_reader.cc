#include "stacks/pprof_reader.h"

#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <vector>

#include <tsl/robin_map.h>

#include "stacks/frame_spelling.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

// Field numbers, message by message.
enum ProfileField : uint32_t {
  kSampleTypeField = 1,
  kSampleField = 2,
  kMappingField = 3,
  kLocationField = 4,
  kFunctionField = 5,
  kStringField = 6,
  kPeriodTypeField = 11,
  kDefaultTypeField = 14,
};
enum ValueTypeField : uint32_t { kValueType = 1, kValueUnit = 2 };
enum SampleField : uint32_t { kSampleLocation = 1, kSampleValue = 2, kSampleLabel = 3 };
enum LabelField : uint32_t { kLabelKey = 1, kLabelText = 2 };
enum MappingField : uint32_t { kMappingId = 1, kMappingFile = 5 };
enum LocationField : uint32_t {
  kLocationId = 1,
  kLocationMapping = 2,
  kLocationAddress = 3,
  kLocationLine = 4,
};
enum LineField : uint32_t { kLineFunction = 1 };
enum FunctionField : uint32_t {
  kFunctionId = 1,
  kFunctionName = 2,
  kFunctionFile = 4,
  kFunctionLine = 5,
};

using Message = protozero::pbf_reader;
using View = protozero::data_view;

// The parser only checks that callers use the right wire type if assertions are compiled in.
bool is_number(const Message& message) {
  return message.wire_type() == protozero::pbf_wire_type::varint;
}
bool is_bytes(const Message& message) {
  return message.wire_type() == protozero::pbf_wire_type::length_delimited;
}

/// The fields of the outermost message, sorted by kind: a sample may precede what it refers to.
struct Parts {
  std::vector<View> types, samples, mappings, locations, functions;
  std::vector<std::string_view> strings;
  int64_t default_type = 0;

  explicit Parts(std::string_view bytes) {
    Message message(bytes.data(), bytes.size());
    while (message.next()) take(message);
  }
  [[nodiscard]] std::string_view text(int64_t index) const {
    bool is_there = index >= 0 && static_cast<uint64_t>(index) < strings.size();
    return is_there ? strings[static_cast<size_t>(index)] : std::string_view();
  }

 private:
  void take(Message& message) {
    if (is_bytes(message) && message.tag() == kStringField) {
      View view = message.get_view();
      strings.emplace_back(view.data(), view.size());
    } else if (std::vector<View>* list = is_bytes(message) ? list_of(message.tag()) : nullptr) {
      list->push_back(message.get_view());
    } else if (message.tag() == kDefaultTypeField && is_number(message)) {
      default_type = message.get_int64();
    } else {
      message.skip();
    }
  }
  std::vector<View>* list_of(uint32_t tag) {
    switch (tag) {
      case kSampleTypeField:
        return &types;
      case kSampleField:
        return &samples;
      case kMappingField:
        return &mappings;
      case kLocationField:
        return &locations;
      case kFunctionField:
        return &functions;
      default:
        return nullptr;
    }
  }
};

/// A repeated number, packed or not.
template <typename Take>
void each_number(Message& message, const Take& take) {
  if (is_bytes(message))
    for (uint64_t number : message.get_packed_uint64()) take(number);
  else if (is_number(message))
    take(message.get_uint64());
  else
    message.skip();
}

/// The destination of one of a sample's values.
struct ValueColumn {
  std::string_view type, unit;
  size_t column = 0;
  bool counts_samples = false;  // it is the column's sample count, not a value
};

class PprofReader {
 public:
  PprofReader(std::string_view bytes, const std::string& name, bool task_root, LossLedger& losses)
      : parts_(bytes),
        name_(name),
        task_root_(task_root),
        losses_(losses),
        frames_left_(bytes.size() * kMaxFramesPerByte) {}

  Result<StackProfile> read() && {
    if (parts_.types.empty() || parts_.samples.empty())
      return fail(ErrorCode::kCorrupt, "{}: a pprof profile without samples", name_);
    if (parts_.types.size() > kMaxColumns)
      return fail(ErrorCode::kUnsupported,
                  "{}: a profile with {} value types; at most {} can be read", name_,
                  parts_.types.size(), kMaxColumns);
    make_columns();
    each(parts_.mappings, [this](Message message) { add_mapping(message); });
    each(parts_.functions, [this](Message message) { add_function(message); });
    each(parts_.locations, [this](Message message) { add_location(message); });
    each(parts_.samples, [this](Message message) { add_sample(message); });
    StackProfile profile = std::move(builder_).finish();
    profile.origin = name_;
    for (size_t i = 0; i < profile.columns.size(); ++i)
      profile.columns[i].samples = static_cast<uint64_t>(sample_counts_[i]);
    return profile;
  }

 private:
  template <typename Take>
  void each(const std::vector<View>& views, const Take& take) {
    for (const View& view : views) try {
        take(Message(view));
      } catch (const protozero::exception&) {
        losses_.add(LossKind::k_bad_record, 1, name_);
      }
  }

  // Columns

  void make_columns() {
    for (const View& view : parts_.types) {
      ValueColumn& made = values_.emplace_back();
      Message message(view);
      while (message.next()) {
        if (!is_number(message))
          message.skip();
        else if (message.tag() == kValueType)
          made.type = parts_.text(message.get_int64());
        else if (message.tag() == kValueUnit)
          made.unit = parts_.text(message.get_int64());
        else
          message.skip();
      }
    }
    size_t shown = shown_value();
    add_column(values_[shown]);
    for (size_t i = 0; i < values_.size(); ++i)
      if (i != shown && !has_event(values_[i])) add_column(values_[i]);
    for (ValueColumn& value : values_) join_to_event(value);
    sample_counts_.resize(builder_.columns());
  }
  /// What pprof itself shows by default: the type that the profile names, otherwise the last.
  [[nodiscard]] size_t shown_value() const {
    std::string_view named = parts_.text(parts_.default_type);
    auto found = std::ranges::find(values_, named, &ValueColumn::type);
    bool is_named = !named.empty() && found != values_.end();
    size_t shown = is_named ? static_cast<size_t>(found - values_.begin()) : values_.size() - 1;
    return has_event(values_[shown]) ? event_of(values_[shown]) : shown;
  }
  void add_column(ValueColumn& value) {
    std::string_view unit = value.unit == "count" || value.unit.empty() ? "samples" : value.unit;
    if (unit == "samples" && value.type.ends_with(kEventSuffix)) unit = "events";
    value.column = builder_.add_column(event_name(value.type), unit);
  }
  /// "cycles_event" → "cycles".
  [[nodiscard]] std::string_view event_name(std::string_view type) const {
    if (type.size() > kEventSuffix.size() && type.ends_with(kEventSuffix))
      type.remove_suffix(kEventSuffix.size());
    return type.empty() ? "samples" : type;
  }
  /// The index of "cycles_event" for "cycles_sample"; the number of values if there is none.
  [[nodiscard]] size_t event_of(const ValueColumn& value) const {
    if (!value.type.ends_with(kSampleSuffix)) return values_.size();
    std::string event(value.type.substr(0, value.type.size() - kSampleSuffix.size()));
    event += kEventSuffix;
    auto found = std::ranges::find(values_, event, &ValueColumn::type);
    return static_cast<size_t>(found - values_.begin());
  }
  [[nodiscard]] bool has_event(const ValueColumn& value) const {
    return event_of(value) < values_.size();
  }
  void join_to_event(ValueColumn& value) {
    if (!has_event(value)) return;
    value.column = values_[event_of(value)].column;
    value.counts_samples = true;
  }

  // What samples refer to

  void add_mapping(Message message) {
    uint64_t id = 0;
    std::string_view file;
    while (message.next()) {
      if (!is_number(message))
        message.skip();
      else if (message.tag() == kMappingId)
        id = message.get_uint64();
      else if (message.tag() == kMappingFile)
        file = parts_.text(message.get_int64());
      else
        message.skip();
    }
    mappings_[id] = file;
  }

  struct Function {
    std::string_view name, file;
    int64_t line = 0;
  };
  void add_function(Message message) {
    uint64_t id = 0;
    Function function;
    while (message.next()) {
      if (!is_number(message))
        message.skip();
      else if (message.tag() == kFunctionId)
        id = message.get_uint64();
      else if (message.tag() == kFunctionName)
        function.name = parts_.text(message.get_int64());
      else if (message.tag() == kFunctionFile)
        function.file = parts_.text(message.get_int64());
      else if (message.tag() == kFunctionLine)
        function.line = message.get_int64();
      else
        message.skip();
    }
    functions_[id] = function;
  }

  void add_location(Message message) {
    uint64_t id = 0;
    uint64_t address = 0;
    std::string_view object;
    std::vector<uint64_t> functions;  // innermost first
    while (message.next()) {
      if (message.tag() == kLocationId && is_number(message))
        id = message.get_uint64();
      else if (message.tag() == kLocationMapping && is_number(message))
        object = object_of(message.get_uint64());
      else if (message.tag() == kLocationAddress && is_number(message))
        address = message.get_uint64();
      else if (message.tag() == kLocationLine && is_bytes(message))
        functions.push_back(function_of_line(message.get_message()));
      else
        message.skip();
    }
    std::vector<StackFrameId>& frames = locations_[id];
    frames.clear();
    for (size_t i = functions.size(); i-- > 0;)
      frames.push_back(frame_of(functions[i], object, i + 1 < functions.size()));
    if (frames.empty()) frames.push_back(frame_without_function(object, address));
  }
  [[nodiscard]] std::string_view object_of(uint64_t mapping) const {
    auto found = mappings_.find(mapping);
    return found == mappings_.end() ? std::string_view() : found->second;
  }
  static uint64_t function_of_line(Message line) {
    uint64_t function = 0;
    while (line.next()) {
      if (line.tag() == kLineFunction && is_number(line))
        function = line.get_uint64();
      else
        line.skip();
    }
    return function;
  }
  StackFrameId frame_of(uint64_t function, std::string_view object, bool is_inlined) {
    auto found = functions_.find(function);
    if (found == functions_.end()) return frame_without_function(object, 0);
    const Function& known = found->second;
    StackFrame frame{.name = builder_.intern(clean_name(known.name)),
                     .kind = kind_of_object(object)};
    if (is_inlined) frame.kind = FrameKind::kInlined;
    if (!object.empty()) frame.object = builder_.intern(object);
    if (!known.file.empty()) frame.file = builder_.intern(known.file);
    if (known.line > 0 && known.line <= UINT32_MAX) frame.line = static_cast<uint32_t>(known.line);
    return builder_.frame(frame);
  }
  StackFrameId frame_without_function(std::string_view object, uint64_t address) {
    RawFrame raw{.function = "[unknown]", .object = object, .address = address};
    raw.kind = kind_of_object(object);
    std::vector<SpelledFrame> spelled;
    spell_frame(raw, {}, spelled);
    StackFrame frame{.name = builder_.intern(spelled.front().name), .kind = raw.kind};
    if (!object.empty()) frame.object = builder_.intern(object);
    return builder_.frame(frame);
  }

  // Samples

  void add_sample(Message message) {
    stack_.clear();
    numbers_.clear();
    std::string_view comm;
    while (message.next()) {
      if (message.tag() == kSampleLocation)
        each_number(message, [this](uint64_t id) { stack_.push_back(id); });
      else if (message.tag() == kSampleValue)
        each_number(message, [this](uint64_t value) { numbers_.push_back(value); });
      else if (message.tag() == kSampleLabel && task_root_ && is_bytes(message))
        take_comm(message.get_message(), comm);
      else
        message.skip();
    }
    StackNodeId node = node_of_stack(comm);
    for (size_t i = 0; i < numbers_.size() && i < values_.size(); ++i)
      add_value(node, values_[i], static_cast<int64_t>(numbers_[i]));
  }
  void take_comm(Message label, std::string_view& comm) const {
    std::string_view key, text;
    while (label.next()) {
      if (label.tag() == kLabelKey && is_number(label))
        key = parts_.text(label.get_int64());
      else if (label.tag() == kLabelText && is_number(label))
        text = parts_.text(label.get_int64());
      else
        label.skip();
    }
    if (key == "comm") comm = text;
  }
  StackNodeId node_of_stack(std::string_view comm) {
    StackNodeId node;
    if (!comm.empty()) {
      std::string task = spell_task(comm, std::nullopt, 0, {});
      node = builder_.child(
          node, builder_.frame({.name = builder_.intern(task), .kind = FrameKind::kTask}));
    }
    for (size_t i = stack_.size(); i-- > 0;) {
      auto found = locations_.find(stack_[i]);
      if (found == locations_.end()) {
        losses_.add(LossKind::k_bad_record, 1, name_);
        continue;
      }
      // A few bytes may refer many times to a location with many frames: no real profile does, an
      // attacker may.
      if (frames_left_ < found->second.size()) throw protozero::end_of_buffer_exception();
      frames_left_ -= found->second.size();
      for (StackFrameId frame : found->second) node = builder_.child(node, frame);
    }
    return node;
  }
  void add_value(StackNodeId node, const ValueColumn& to, int64_t value) {
    if (value < 0)
      losses_.add(LossKind::k_bad_record, 1, name_);  // of a difference: not a profile
    else if (to.counts_samples)
      sample_counts_[to.column] += static_cast<double>(value);
    else
      builder_.add(node, to.column, static_cast<double>(value));
  }

  static constexpr size_t kMaxFramesPerByte = 32;
  static constexpr std::string_view kEventSuffix = "_event";
  static constexpr std::string_view kSampleSuffix = "_sample";

  Parts parts_;
  const std::string& name_;
  bool task_root_;
  LossLedger& losses_;
  StackTreeBuilder builder_;
  std::vector<ValueColumn> values_;    // in the order of a sample's values
  std::vector<double> sample_counts_;  // by column; 0 if only sums are known
  tsl::robin_map<uint64_t, std::string_view, NumberHash> mappings_;
  tsl::robin_map<uint64_t, Function, NumberHash> functions_;
  /// Outermost first.
  tsl::robin_map<uint64_t, std::vector<StackFrameId>, NumberHash> locations_;
  std::vector<uint64_t> stack_;    // locations, innermost first
  std::vector<uint64_t> numbers_;  // of the sample
  size_t frames_left_;             // budget for the remaining samples
};

/// Whether it may be a field of the outermost message. Future versions may have more fields.
bool may_be_field(const Message& message) {
  switch (message.tag()) {
    case kSampleTypeField:
    case kSampleField:
    case kMappingField:
    case kLocationField:
    case kFunctionField:
    case kStringField:
    case kPeriodTypeField:
      return is_bytes(message);
    default:
      return is_bytes(message) || is_number(message);
  }
}

}  // namespace

Result<StackProfile> read_pprof(std::string_view bytes, const std::string& name, bool task_root,
                                LossLedger& losses) {
  try {
    return PprofReader(bytes, name, task_root, losses).read();
  } catch (const protozero::exception&) {
    return fail(ErrorCode::kCorrupt, "{}: damaged, or not a pprof profile", name);
  }
}

bool looks_like_pprof(std::string_view first_bytes) {
  constexpr size_t kFewBytes = 1024;  // enough for the first field of a profile
  size_t fields = 0;
  try {
    for (Message message(first_bytes.data(), first_bytes.size()); message.next(); ++fields) {
      if (!may_be_field(message)) return false;
      message.skip();
    }
  } catch (const protozero::end_of_buffer_exception&) {
    return fields > 0 || first_bytes.size() > kFewBytes;  // they end inside a field
  } catch (const protozero::exception&) {
    return false;
  }
  return fields > 0;
}

}  // namespace sonde
