#include "profile/keys/key_set.h"

#include "base/check.h"

namespace sonde {

void KeySet::add(std::unique_ptr<SortKey> key) {
  bool of_place = key->is_of_place();
  if (of_place && !key->is_of_symbol()) places_by_symbol_ = false;
  if (of_place && key->numbers_places()) numbering_ = place_count_;
  uint32_t index = of_place ? place_count_++ : sample_count_++;
  keys_.push_back({std::move(key), of_place, index});
}

void KeySet::expect_places(size_t count) {
  places_.expect(count);
  if (numbering_ != kNone) first_with_number_.reserve(count);
  for (Slot& slot : keys_)
    if (slot.of_place) slot.key->expect_places(count);
}

void KeySet::seal() {
  groups_ = Interner(sample_count_);
  places_ = Interner(place_count_);
}

uint32_t KeySet::group_of(RowReader& row) {
  tuple_.clear();
  for (Slot& slot : keys_)
    if (!slot.of_place) tuple_.push_back(slot.key->of_row(row));
  // Adjacent samples mostly agree: a thread runs for many samples.
  if (last_group_ != kNone && groups_.is(last_group_, tuple_)) return last_group_;
  return last_group_ = groups_.intern(tuple_);
}

uint32_t KeySet::place_key_of(const CodePlace& place) {
  SymbolId symbol = input_.frame(place.frame).symbol;
  if (!places_by_symbol_ || !symbol.valid()) return intern(place);
  auto found = place_of_symbol_.find(symbol.value);
  if (found == place_of_symbol_.end())
    found = place_of_symbol_.emplace(symbol.value, intern(place)).first;
  return found->second;
}

uint32_t KeySet::intern(const CodePlace& place) {
  tuple_.clear();
  for (Slot& slot : keys_)
    if (slot.of_place) tuple_.push_back(slot.key->of_place(place));
  if (numbering_ == kNone) return places_.intern(tuple_);
  uint64_t number = tuple_[numbering_];
  if (number >= first_with_number_.size()) first_with_number_.resize(number + 1, kNone);
  uint32_t& first = first_with_number_[number];
  if (first == kNone) return first = places_.append(tuple_);
  return places_.is(first, tuple_) ? first : places_.intern(tuple_);
}

}  // namespace sonde
