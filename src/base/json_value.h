// A tree of JSON from outside. Untrusted: nesting is limited, so neither reading nor freeing it can
// overflow the stack, and its size is proportional to the text's.
//
//   JsonValue root = TRY(JsonValue::parse(text, "base.json"));
//   const JsonValue* runs = root.find("runs");
//   if (runs != nullptr && runs->is_number()) use(runs->number());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sonde {

class JsonValue {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kText, kArray, kObject };
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;  // in text order

  /// Fails with kCorrupt: "NAME: no JSON at byte 12: …".
  static Result<JsonValue> parse(std::string_view text, const std::string& name);

  [[nodiscard]] bool is_bool() const { return kind_ == Kind::kBool; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::kNumber; }
  [[nodiscard]] bool is_text() const { return kind_ == Kind::kText; }
  [[nodiscard]] bool is_array() const { return kind_ == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::kObject; }

  // For a value of another kind: false, 0, empty.
  [[nodiscard]] bool boolean() const { return is_true_; }
  [[nodiscard]] double number() const { return number_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Array& array() const { return array_; }
  [[nodiscard]] const Object& object() const { return object_; }

  /// The first member of this name; null if there is none, or this is not an object.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;

 private:
  friend class JsonTreeBuilder;
  Kind kind_ = Kind::kNull;
  bool is_true_ = false;
  double number_ = 0;
  std::string text_;
  Array array_;
  Object object_;
};

}  // namespace sonde
