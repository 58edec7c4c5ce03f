#include "profile/matched_rows.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/text.h"

namespace sonde {
namespace {

/// The number, if the text is nothing else.
std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Matcher {
 public:
  explicit Matcher(const std::vector<MatchedSide>& sides) : sides_(sides) {}

  std::vector<MatchedRow> match() {
    for (size_t side = 0; side < sides_.size(); ++side)
      if (sides_[side].rows != nullptr) add_side(side);
    std::ranges::sort(rows_, [](const MatchedRow& a, const MatchedRow& b) {
      for (size_t i = 0; i < a.identity.size(); ++i)
        if (int order = compare_identities(a.identity[i], b.identity[i]); order != 0)
          return order < 0;
      return false;
    });
    return std::move(rows_);
  }

 private:
  void add_side(size_t side) {
    const TableRows& rows = *sides_[side].rows;
    for (uint32_t row : rows.order()) {
      size_t at = row_of(side, row);
      MatchedRow& matched = rows_[at];
      MatchedRow::Cell& cell = matched.cells[side];
      cell.present = true;
      cell.period += rows.weight(row, 0, Weight::kPeriod);
      cell.samples += rows.weight(row, 0, Weight::kSamples);
      if (matched.side != side || !stands_before(side, row, matched.row)) continue;
      matched.row = row;
      matched.hidden = rows.hidden(row);
    }
  }

  /// Of the rows that match, the first by key (the lowest address) is shown.
  [[nodiscard]] bool stands_before(size_t side, uint32_t row, uint32_t other) const {
    const MatchedSide& of = sides_[side];
    for (size_t key : of.compared) {
      int order = of.keys->key(key).collate(of.rows->value(row, key), of.rows->value(other, key));
      if (order != 0) return order < 0;
    }
    return false;
  }

  static std::string identity_of(const MatchedSide& of, size_t key, uint32_t row) {
    const SortKey& by = of.keys->key(key);
    std::string name = by.identity(of.rows->value(row, key), of.rows->any(row).first_sample);
    if (of.counterparts == nullptr) return name;
    return of.counterparts->in_before(by.names(), std::move(name));
  }

  size_t row_of(size_t side, uint32_t row) {
    const MatchedSide& of = sides_[side];
    MatchedRow made;
    std::string joined;
    for (size_t key : of.compared) {
      made.identity.push_back(identity_of(of, key, row));
      joined += made.identity.back();
      joined += '\0';
    }
    auto [found, is_new] = known_.try_emplace(std::move(joined), rows_.size());
    if (!is_new) return found->second;
    made.side = side;
    made.row = row;
    made.hidden = of.rows->hidden(row);
    made.cells.resize(sides_.size());
    rows_.push_back(std::move(made));
    return found->second;
  }

  const std::vector<MatchedSide>& sides_;
  std::vector<MatchedRow> rows_;
  std::unordered_map<std::string, size_t> known_;
};

}  // namespace

bool MatchedRow::is_in_others() const {
  return std::any_of(cells.begin() + 1, cells.end(), [](const Cell& cell) { return cell.present; });
}

int compare_identities(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return three_way(a.empty(), b.empty());
  auto left = number_of(a), right = number_of(b);
  if (left && right) return three_way(*left, *right);
  return a.compare(b);
}

std::vector<MatchedRow> match_rows(const std::vector<MatchedSide>& sides) {
  return Matcher(sides).match();
}

}  // namespace sonde
