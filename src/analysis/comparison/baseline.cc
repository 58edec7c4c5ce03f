#include "analysis/comparison/baseline.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>

#include "base/json_value.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr const char* kMark = "sonde_baseline";
constexpr unsigned kVersion = 1;
constexpr std::string_view kStatusNames[] = {"counted", "not counted", "not supported"};

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void put(Writer& writer, std::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}
void put(Writer& writer, const std::vector<double>& values) {
  writer.StartArray();
  for (double value : values) writer.Double(value);
  writer.EndArray();
}
void put(Writer& writer, const MeasuredMetric& metric) {
  writer.StartObject();
  writer.Key("name");
  put(writer, metric.name);
  writer.Key("unit");
  put(writer, metric.unit);
  writer.Key("status");
  put(writer, kStatusNames[static_cast<size_t>(metric.status)]);
  writer.Key("fraction");
  writer.Bool(metric.is_fraction);
  writer.Key("pace");
  writer.Bool(metric.goes_by_pace);
  writer.Key("values");
  put(writer, metric.values);
  writer.EndObject();
}

/// Fields of one object; remembers the first that is missing or of the wrong type.
class Fields {
 public:
  explicit Fields(const JsonValue& object) : object_(object) {}

  std::string text(const char* name) {
    const JsonValue* value = find(name);
    return check(name, value != nullptr && value->is_text()) ? value->text() : std::string();
  }
  bool boolean(const char* name) {
    const JsonValue* value = find(name);
    return check(name, value != nullptr && value->is_bool()) && value->boolean();
  }
  uint32_t number(const char* name) {
    const JsonValue* value = find(name);
    bool is_right = value != nullptr && value->is_number() && value->number() >= 0 &&
                    value->number() <= UINT32_MAX && value->number() == std::floor(value->number());
    return check(name, is_right) ? static_cast<uint32_t>(value->number()) : 0;
  }
  std::vector<double> numbers(const char* name) {
    std::vector<double> values;
    for (const JsonValue& value : array(name))
      if (check(name, value.is_number() && std::isfinite(value.number())))
        values.push_back(value.number());
    return values;
  }
  const JsonValue::Array& array(const char* name) {
    static const JsonValue::Array kNone;
    const JsonValue* value = find(name);
    return check(name, value != nullptr && value->is_array()) ? value->array() : kNone;
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  bool check(const char* name, bool is_right) {
    if (!is_right && wrong_.empty()) wrong_ = name;
    return is_right;
  }

 private:
  const JsonValue* find(const char* name) { return object_.find(name); }

  const JsonValue& object_;
  std::string wrong_;
};

MeasuredMetric metric_from(const JsonValue& value, Fields& whole) {
  Fields fields(value);
  MeasuredMetric metric;
  metric.name = fields.text("name");
  metric.unit = fields.text("unit");
  std::string status = fields.text("status");
  bool is_known = false;
  for (size_t i = 0; i < std::size(kStatusNames); ++i) {
    if (kStatusNames[i] != status) continue;
    metric.status = static_cast<MeasuredMetric::Status>(i);
    is_known = true;
  }
  fields.check("status", is_known);
  metric.is_fraction = fields.boolean("fraction");
  metric.goes_by_pace = fields.boolean("pace");
  metric.values = fields.numbers("values");
  if (!fields.wrong().empty()) whole.check(fields.wrong().c_str(), false);
  return metric;
}

}  // namespace

bool looks_like_baseline(std::string_view beginning) {
  return trim(beginning).starts_with(fmt::format("{{\"{}\":", kMark));
}

std::string baseline_text(const Baseline& baseline) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  writer.Key(kMark);
  writer.Uint(kVersion);
  const std::pair<const char*, const std::string&> kTexts[] = {{"tool", baseline.tool},
                                                               {"host", baseline.host},
                                                               {"machine", baseline.machine},
                                                               {"processor", baseline.processor},
                                                               {"kernel", baseline.kernel}};
  for (const auto& [name, text] : kTexts) {
    writer.Key(name);
    put(writer, text);
  }
  writer.Key("cpus");
  writer.Uint(baseline.cpus);
  writer.Key("command");
  writer.StartArray();
  for (const std::string& word : baseline.runs.command) put(writer, word);
  writer.EndArray();
  writer.Key("inherit");
  writer.Bool(baseline.inherit);
  writer.Key("runs");
  writer.Uint(static_cast<unsigned>(baseline.runs.runs));
  writer.Key("pace_ns");
  put(writer, baseline.runs.pace_ns);
  writer.Key("metrics");
  writer.StartArray();
  for (const MeasuredMetric& metric : baseline.runs.metrics) put(writer, metric);
  writer.EndArray();
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

Result<Baseline> parse_baseline(std::string_view text, const std::string& name) {
  Result<JsonValue> document = JsonValue::parse(text, name);
  if (!document || document->find(kMark) == nullptr)
    return fail(ErrorCode::kCorrupt, "{}: no file of `stat --save`", name);
  Fields fields(*document);
  uint32_t version = fields.number(kMark);
  if (version > kVersion)
    return fail(ErrorCode::kUnsupported, "{}: written by a later Sonde (version {} of the format)",
                name, version);
  Baseline baseline;
  baseline.tool = fields.text("tool");
  baseline.host = fields.text("host");
  baseline.machine = fields.text("machine");
  baseline.processor = fields.text("processor");
  baseline.kernel = fields.text("kernel");
  baseline.cpus = fields.number("cpus");
  baseline.inherit = fields.boolean("inherit");
  for (const JsonValue& word : fields.array("command"))
    if (fields.check("command", word.is_text())) baseline.runs.command.push_back(word.text());
  baseline.runs.runs = fields.number("runs");
  baseline.runs.pace_ns = fields.numbers("pace_ns");
  for (const JsonValue& value : fields.array("metrics")) {
    MeasuredMetric metric = metric_from(value, fields);
    bool is_whole = metric.status != MeasuredMetric::Status::kCounted ||
                    metric.values.size() == baseline.runs.runs;
    if (fields.check("values", is_whole)) baseline.runs.metrics.push_back(std::move(metric));
  }
  if (!fields.wrong().empty())
    return fail(ErrorCode::kCorrupt, "{}: its field '{}' is missing or makes no sense", name,
                fields.wrong());
  return baseline;
}

Result<std::vector<std::string>> compare_origins(const Baseline& baseline, const Baseline& now,
                                                 const std::string& name) {
  auto apart = [&](std::string_view what, std::string_view then, std::string_view here) {
    return fail(
        ErrorCode::kUnsupported,
        "{} was made {} ({}; here {}): its numbers do not apply here. Make a new one with --save",
        name, what, then, here);
  };
  if (baseline.machine != now.machine || baseline.processor != now.processor)
    return apart("on another processor", baseline.machine + ", " + baseline.processor,
                 now.machine + ", " + now.processor);
  if (baseline.cpus != now.cpus)
    return apart("on a machine with a different number of CPUs", std::to_string(baseline.cpus),
                 std::to_string(now.cpus));
  if (baseline.inherit != now.inherit)
    return apart("with a different --no-inherit setting", baseline.inherit ? "off" : "on",
                 now.inherit ? "off" : "on");
  std::vector<std::string> notes;
  if (baseline.host != now.host)
    notes.push_back(fmt::format("A was measured on another machine, {}", baseline.host));
  if (baseline.kernel != now.kernel)
    notes.push_back(fmt::format("A was measured on another kernel, {}", baseline.kernel));
  if (baseline.runs.command != now.runs.command)
    notes.push_back(
        fmt::format("A was another command line, '{}'", join(baseline.runs.command, " ")));
  return notes;
}

}  // namespace sonde
