#include "profile/path_frames.h"

#include <algorithm>

#include "profile/keys/key_tools.h"

namespace sonde {

PathFrames::PathFrames(const ProfileInput& input, KeySet& keys, CallKey kind)
    : input_(input), keys_(keys), kind_(kind) {
  key_of_step_.assign(input.frames.size(), kUnknown);
  own_key_of_frame_.assign(input.frames.size(), kUnknown);
  // Each address without a symbol is a place of its own.
  auto addresses = static_cast<size_t>(std::ranges::count_if(
      input.frames, [](const Frame& frame) { return !frame.symbol.valid(); }));
  // In objects, it is one for each process that has the object at another address.
  constexpr size_t kAddressesOfPlace = 2;
  size_t places = addresses * kAddressesOfPlace;
  // Reserves only address space, so that growing does not copy.
  keys_.expect_places(places);
  calls_.reserve(places);
  key_of_call_.reserve(places);
  calls_of_keys_.reserve(places);
  places_of_keys_.reserve(places);
  for (const Frame& frame : input.frames)
    if (!frame.dso.valid() && frame.level != FrameLevel::kUser)
      strays_elsewhere_.insert(frame.address);
}

void PathFrames::end_learning() {
  own_key_of_frame_ = {};
  places_ = Interner(2);
  last_step_ = {};
  call_ids_ = {};
  strays_elsewhere_ = {};
  key_of_symbol_ = {};
  more_keys_ = Interner(2);
  keys_of_more_ = {};
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

FrameId PathFrames::step_of(const CodePlace& place, uint32_t owner) {
  if (key_of_step_[place.frame.index()] < kNeedsAddress) return place.frame;
  if (last_step_.empty()) last_step_.resize(input_.frames.size());
  Step& last = last_step_[place.frame.index()];
  if (last.id.valid() && last.ip == place.ip) {
    last.owner = owner;
    return last.id;
  }
  size_t step = input_.frames.size() + places_.intern({place.frame.value, place.ip});
  if (step == key_of_step_.size()) key_of_step_.push_back(add(place));
  last = {place.ip, FrameId(step), owner};
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
  if (call == key_of_call_.size()) {
    key_of_call_.push_back(add_key(call, place_key));
    return key_of_call_.back();
  }
  if (uint32_t key = key_of_call_[call]; places_of_keys_[key] == place_key) return key;
  uint32_t more = more_keys_.intern({call, place_key});
  if (more == keys_of_more_.size()) keys_of_more_.push_back(add_key(call, place_key));
  return keys_of_more_[more];
}

uint32_t PathFrames::add_key(uint32_t call, uint32_t place_key) {
  calls_of_keys_.push_back(call);
  places_of_keys_.push_back(place_key);
  return static_cast<uint32_t>(calls_of_keys_.size() - 1);
}

StringId PathFrames::srcline_of(const CodePlace& place) const {
  const Frame& frame = input_.frame(place.frame);
  if (kind_ == CallKey::kFunction || !frame.dso.valid()) return {};
  return input_.strings.intern(source_line(input_, frame));
}

PathFrames::Identity PathFrames::identity_of(const Call& call) const {
  enum Kind : uint64_t { kSymbol = 1, kAddress, kLine, kInlined };
  const Frame& frame = input_.frame(call.frame);
  if (kind_ == CallKey::kSrcline && call.srcline.valid()) return {0, kLine, call.srcline.value};
  if (!frame.symbol.valid() || kind_ == CallKey::kAddress)
    return {frame.dso.value, kAddress, call.ip};
  if (InlinedSymbols::has(frame.symbol)) return {frame.dso.value, kInlined, frame.symbol.value};
  return {frame.dso.value, kSymbol, frame.symbol_start};
}

uint32_t PathFrames::call_for(const CodePlace& place) {
  const Frame& frame = input_.frame(place.frame);
  bool by_symbol = frame.symbol.valid() && kind_ != CallKey::kAddress;
  Call call{.frame = place.frame,
            .ip = place.ip,
            .srcline = srcline_of(place),
            .dso_rank = frame.dso.valid() ? frame.dso.value + 1 : 0,
            .order = place.ip};
  if (by_symbol)
    call.order = frame.symbol_start;
  else if (frame.dso.valid() && kind_ != CallKey::kAddress)
    call.order = frame.address;
  auto next = static_cast<uint32_t>(calls_.size());
  uint32_t id = next;
  if (!is_only_call_at(frame)) {
    Identity identity = identity_of(call);
    id = call_ids_.find_or_add(Interner::hash_of(identity), next, [&](uint32_t known) {
      return identity_of(calls_[known]) == identity;
    });
  }
  if (id == next) calls_.push_back(call);
  return id;
}

/// Where nothing was mapped, the address makes the call, and there is one frame for it, unless
/// another level has it, too. Chains that went astray have a million such addresses: none needs to
/// be looked up.
bool PathFrames::is_only_call_at(const Frame& frame) const {
  return kind_ != CallKey::kAddress && !frame.dso.valid() && frame.level == FrameLevel::kUser &&
         !strays_elsewhere_.contains(frame.address);
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
