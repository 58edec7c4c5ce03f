// Fields of tracepoints as sort keys.
#include <cstring>

#include "event/print_fmt/field_format.h"
#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

class FieldKey final : public KeyOfInput {
 public:
  FieldKey(const ProfileInput& input, const KeySettings& settings, EventId event,
           const TracepointField& field, bool raw)
      : KeyOfInput(input, settings), event_(event), field_(field), raw_(raw) {
    name = title = field.name;
    cuts = true;
    right_aligned = true;
    min_width = std::max<size_t>(name.size(), field.is_string ? field.size : field.size * 2 + 2);
  }

  uint64_t of_row(RowReader& row) override {
    Bytes raw = row.details().raw;
    std::string_view bytes;
    if (field_.is_dynamic)
      bytes = as_text(field_bytes(field_, raw, row.details().order));
    else if (raw.size() >= size_t{field_.offset} + field_.size)
      bytes = as_text(raw.subspan(field_.offset, field_.size));
    uint32_t id = ids_.intern({input_.strings.intern(bytes).value});
    if (id == texts_.size()) add_text(row);
    return id;
  }
  /// Descending byte order.
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return a == b ? 0 : bytes_of(b).compare(bytes_of(a));
  }
  void text(uint64_t value, std::string& out) const override { out += texts_[value]; }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return field_.is_dynamic ? bytes_of(value).size() : pretty_widths_[value];
  }

 private:
  [[nodiscard]] std::string_view bytes_of(uint64_t value) const {
    return input_.strings.view(
        StringId(static_cast<size_t>(ids_.at(static_cast<uint32_t>(value))[0])));
  }

  /// The word after "field=" in the event's text; if there is none, the value itself, which doesn't
  /// widen the column.
  void add_text(RowReader& row) {
    std::optional<std::string> pretty = raw_ ? std::nullopt : word_of(row.details());
    pretty_widths_.push_back(pretty ? pretty->size() : 0);
    std::string& text = texts_.emplace_back(std::move(pretty).value_or(""));
    if (text.empty()) append_field(field_, row.details().raw, row.details().order, text);
  }
  [[nodiscard]] std::optional<std::string> word_of(const Sample& sample) const {
    std::string line;
    settings_.traces->print(event_, sample.raw, line);
    std::string_view rest = line;
    while (!rest.empty()) {
      size_t blank = rest.find(' ');
      std::string_view word = rest.substr(0, blank);
      if (word.starts_with(field_.name))
        return std::string(word.substr(std::min(word.size(), field_.name.size() + 1)));
      rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
    }
    return std::nullopt;
  }

  EventId event_;
  TracepointField field_;
  bool raw_;
  Interner ids_{1};  // of strings
  std::vector<std::string> texts_;
  std::vector<size_t> pretty_widths_;
};

}  // namespace

std::unique_ptr<SortKey> make_field_key(const ProfileInput& input, const KeySettings& settings,
                                        EventId event, const TracepointField& field, bool raw) {
  return std::make_unique<FieldKey>(input, settings, event, field, raw);
}

}  // namespace sonde
