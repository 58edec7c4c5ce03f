#include "base/json_value.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>

namespace sonde {

/// Receives the reader's events; returning `false` stops the reading.
class JsonTreeBuilder {
 public:
  using Length = rapidjson::SizeType;

  bool Null() { return add(JsonValue()); }
  bool Bool(bool value) {
    JsonValue made = of(JsonValue::Kind::kBool);
    made.is_true_ = value;
    return add(std::move(made));
  }
  /// Numbers are passed as text: RapidJSON 1.1 reads beyond its own tables for some small ones.
  bool RawNumber(const char* text, Length length, bool) {
    JsonValue made = of(JsonValue::Kind::kNumber);
    auto [end, error] = std::from_chars(text, text + length, made.number_);
    return error == std::errc() && end == text + length && add(std::move(made));
  }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }
  bool String(const char* text, Length length, bool) {
    JsonValue made = of(JsonValue::Kind::kText);
    made.text_.assign(text, length);
    return add(std::move(made));
  }
  bool Key(const char* text, Length length, bool) {
    keys_.back().assign(text, length);
    return true;
  }
  bool StartObject() { return open(of(JsonValue::Kind::kObject)); }
  bool StartArray() { return open(of(JsonValue::Kind::kArray)); }
  bool EndObject(Length) { return close(); }
  bool EndArray(Length) { return close(); }

  JsonValue take() { return std::move(root_); }

 private:
  static constexpr size_t kMaxNesting = 64;

  static JsonValue of(JsonValue::Kind kind) {
    JsonValue value;
    value.kind_ = kind;
    return value;
  }
  bool open(JsonValue value) {
    if (open_.size() == kMaxNesting) return false;
    open_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(value));
  }
  bool add(JsonValue value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().is_array())
      open_.back().array_.push_back(std::move(value));
    else
      open_.back().object_.emplace_back(std::move(keys_.back()), std::move(value));
    return true;
  }

  JsonValue root_;
  std::vector<JsonValue> open_;  // from the outermost to the one being read
  std::vector<std::string> keys_;
};

Result<JsonValue> JsonValue::parse(std::string_view text, const std::string& name) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  JsonTreeBuilder builder;
  rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result.IsError())
    return fail(ErrorCode::kCorrupt, "{}: no JSON at byte {}: {}", name, result.Offset(),
                rapidjson::GetParseError_En(result.Code()));
  return builder.take();
}

const JsonValue* JsonValue::find(std::string_view name) const {
  auto found = std::ranges::find(object_, name, &Object::value_type::first);
  return found == object_.end() ? nullptr : &found->second;
}

}  // namespace sonde
