#include "profile/path_frames.h"

#include <algorithm>

#include "profile/key_tools.h"

namespace sonde {

PathFrames::PathFrames(const ProfileInput& input, KeySet& keys, CallKey kind)
    : input_(input), keys_(keys), kind_(kind) {
  key_of_step_.assign(input.frames.size(), kUnknown);
  own_key_of_frame_.assign(input.frames.size(), kUnknown);
  // Each address without a symbol is a place of its own.
  keys_.expect_places(static_cast<size_t>(std::ranges::count_if(
      input.frames, [](const Frame& frame) { return !frame.symbol.valid(); })));
}

bool PathFrames::needs_address(const Frame& frame) const {
  if (kind_ == CallKey::kAddress) return true;
  return !frame.symbol.valid() && frame.dso.valid();
}

bool PathFrames::learn(FrameId frame) {
  uint32_t& key = key_of_step_[frame.index()];
  if (key != kUnknown) return false;
  const Frame& where = input_.frame(frame);
  bool known = !needs_address(where);
  key = known ? add({frame, where.address}) : kNeedsAddress;
  return known;
}

FrameId PathFrames::step_of(const CodePlace& place) {
  if (key_of_step_[place.frame.index()] < kNeedsAddress) return place.frame;
  if (last_step_.empty()) last_step_.resize(input_.frames.size());
  Step& last = last_step_[place.frame.index()];
  if (last.id.valid() && last.ip == place.ip) return last.id;
  size_t step = input_.frames.size() + places_.intern({place.frame.value, place.ip});
  if (step == key_of_step_.size()) key_of_step_.push_back(add(place));
  last = {place.ip, FrameId(step)};
  return last.id;
}

uint32_t PathFrames::own_place_key(FrameId leaf) {
  uint32_t& known = own_key_of_frame_[leaf.index()];
  if (known == kUnknown)
    known = keys_.place_key_of({leaf, input_.details.shown_address(input_.frame(leaf))});
  return known;
}

uint32_t PathFrames::add(const CodePlace& place) {
  SymbolId symbol = input_.frame(place.frame).symbol;
  bool by_symbol = kind_ == CallKey::kFunction && symbol.valid() && keys_.places_by_symbol();
  if (!by_symbol) return intern(place);
  auto found = key_of_symbol_.find(symbol.value);
  if (found == key_of_symbol_.end())
    found = key_of_symbol_.emplace(symbol.value, intern(place)).first;
  return found->second;
}

uint32_t PathFrames::intern(const CodePlace& place) {
  uint32_t call = call_for(place);
  uint32_t place_key = keys_.place_key_of(place);
  uint32_t key = path_keys_.intern({call, place_key});
  if (key == calls_of_keys_.size()) {
    calls_of_keys_.push_back(call);
    places_of_keys_.push_back(place_key);
  }
  return key;
}

StringId PathFrames::srcline_of(const CodePlace& place) const {
  const Frame& frame = input_.frame(place.frame);
  if (kind_ == CallKey::kFunction || !frame.dso.valid()) return {};
  return input_.strings.intern(source_line(input_, frame));
}

uint32_t PathFrames::call_for(const CodePlace& place) {
  const Frame& frame = input_.frame(place.frame);
  StringId srcline = srcline_of(place);
  bool by_symbol = frame.symbol.valid() && kind_ != CallKey::kAddress;
  uint64_t dso = frame.dso.value;
  uint64_t tag = by_symbol ? 1 : 2;
  uint64_t address = by_symbol ? frame.symbol_start : place.ip;
  if (by_symbol && InlinedSymbols::has(frame.symbol)) {
    tag = 4;
    address = frame.symbol.value;
  }
  if (kind_ == CallKey::kSrcline && srcline.valid()) {
    dso = 0;
    tag = 3;
    address = srcline.value;
  }
  uint32_t id = call_tuples_.intern({dso, tag, address});
  if (id == calls_.size()) {
    Call call{.frame = place.frame, .ip = place.ip, .srcline = srcline, .dso_rank = 0, .order = 0};
    call.dso_rank = frame.dso.valid() ? frame.dso.value + 1 : 0;
    call.order = by_symbol ? frame.symbol_start : (frame.dso.valid() ? frame.address : place.ip);
    if (!by_symbol && kind_ == CallKey::kAddress) call.order = place.ip;
    calls_.push_back(call);
  }
  return id;
}

int PathFrames::compare_calls(uint32_t a, uint32_t b) const {
  const Call& left = calls_[a];
  const Call& right = calls_[b];
  if (left.dso_rank != right.dso_rank) return left.dso_rank > right.dso_rank ? -1 : 1;
  if (left.order != right.order) return left.order > right.order ? -1 : 1;
  if (left.ip != right.ip) return left.ip > right.ip ? -1 : 1;
  return three_way(a, b);
}

}  // namespace sonde
