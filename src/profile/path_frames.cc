#include "profile/path_frames.h"

#include "profile/key_tools.h"

namespace sonde {

PathFrames::PathFrames(const ProfileInput& input, KeySet& keys, CallKey kind)
    : input_(input), keys_(keys), kind_(kind) {
  key_of_frame_.assign(input.frames.size(), kUnknown);
  own_key_of_frame_.assign(input.frames.size(), kUnknown);
  chain_needs_.assign(input.chains.size(), 0);
}

bool PathFrames::needs_address(const Frame& frame) const {
  if (kind_ == CallKey::kAddress) return true;
  return !frame.symbol.valid() && frame.dso.valid();
}

bool PathFrames::needs_addresses(ChainId chain) {
  uint8_t& known = chain_needs_[chain.index()];
  if (known == 0) {
    known = 1;
    for (FrameId frame : input_.chains[chain])
      if (needs_address(input_.frame(frame))) known = 2;
  }
  return known == 2;
}

uint32_t PathFrames::path_key(const CodePlace& place) {
  if (!needs_address(input_.frame(place.frame))) return path_key(place.frame);
  uint32_t id = places_.intern({place.frame.value, place.ip});
  if (id == key_of_place_.size()) key_of_place_.push_back(add(place));
  return key_of_place_[id];
}

uint32_t PathFrames::own_place_key(FrameId leaf) {
  uint32_t& known = own_key_of_frame_[leaf.index()];
  if (known == kUnknown)
    known = keys_.place_key_of({leaf, input_.details.shown_address(input_.frame(leaf))});
  return known;
}

uint32_t PathFrames::add(const CodePlace& place) {
  uint32_t call = call_for(place);
  uint32_t place_key = keys_.place_key_of(place);
  uint32_t key = path_keys_.intern({call, place_key});
  if (key == calls_of_keys_.size()) {
    calls_of_keys_.push_back(call);
    places_of_keys_.push_back(place_key);
  }
  if (!needs_address(input_.frame(place.frame))) key_of_frame_[place.frame.index()] = key;
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
