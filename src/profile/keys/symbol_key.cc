// The sort key of functions, and the column that perf adds to it.
#include <mutex>

#include "base/sorting/radix_order.h"
#include "profile/keys/place_key.h"

namespace sonde {
namespace {

/// Functions; single addresses where there is no function.
class SymbolKey : public PlaceKey {
 public:
  using PlaceKey::PlaceKey;

  [[nodiscard]] bool is_of_symbol() const override { return true; }
  [[nodiscard]] bool numbers_places() const override { return true; }
  void expect_places(size_t count) override {
    bare_.expect(count);
    place_of_bare_.reserve(count);
    places_.reserve(count);
  }
  uint64_t of_place(const CodePlace& place) override {
    constexpr uint64_t kOfName = uint64_t{1} << 32;
    const Frame& where = input_.frame(place.frame);
    bool resolved = where.symbol.valid();
    auto [start, end] =
        resolved ? input_.symbols.range(where.symbol) : std::pair(place.ip, uint64_t{0});
    DsoId dso = resolved ? same_named(where.dso) : DsoId();
    // An inlined function shares the range of the function around it.
    uint64_t which = InlinedSymbols::has(where.symbol) ? where.symbol.value : resolved ? 1 : 0;
    uint32_t id = resolved ? resolved_id({dso.value, start, end, which}) : bare_id(place.ip);
    // Different builds of an object may have another function at the same place.
    if (id < places_.size() && which == 1 && stands_for_several(dso))
      if (std::string_view own = input_.symbols.name(where.symbol);
          function(places_[id]).name != own)
        id = resolved_id({dso.value, start, end, kOfName + name_id(own)});
    if (id == places_.size()) {
      places_.push_back({place.ip, where.dso,
                         resolved ? static_cast<uint32_t>(functions_.size()) : kBare, where.level});
      if (resolved)
        functions_.push_back({where.symbol, start, end, input_.symbols.name(where.symbol)});
      if (!resolved) note_unresolved(where.dso, static_cast<int64_t>(place.ip));
    }
    return id;
  }

  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    const Place& left = places_[a];
    const Place& right = places_[b];
    if (int by_dso = compare_dso_names(input_, left.dso, right.dso, settings_.verbose); by_dso != 0)
      return by_dso;
    if (left.is_bare() && right.is_bare())
      return three_way(static_cast<int64_t>(left.ip), static_cast<int64_t>(right.ip));
    if (left.is_bare() || right.is_bare()) return right.is_bare() ? -1 : 1;
    const Function &one = function(left), &other = function(right);
    if (one.start != other.start) return three_way(one.start, other.start);
    if (one.end != other.end) return three_way(one.end, other.end);
    return one.name.compare(other.name);
  }

  // Unresolved addresses are compared by the sign of their difference, whichever object they are
  // in.
  [[nodiscard]] int collate_in_tree(uint64_t a, uint64_t b) const override {
    const Place& left = places_[a];
    const Place& right = places_[b];
    if (left.is_bare() && right.is_bare())
      return three_way(static_cast<int64_t>(left.ip - right.ip), int64_t{0});
    return collate(a, b);
  }

  [[nodiscard]] bool collates_consistently(bool among_equal_dsos) const override {
    if (!any_unresolved_) return true;
    bool signs_agree =
        static_cast<uint64_t>(highest_) - static_cast<uint64_t>(lowest_) <= INT64_MAX;
    return signs_agree && (among_equal_dsos || !unresolved_in_several_dsos_);
  }

  [[nodiscard]] int order(uint64_t a, uint64_t b) const override {
    const Place& left = places_[a];
    const Place& right = places_[b];
    if (left.is_bare() || right.is_bare()) return three_way(left.is_bare(), right.is_bare());
    return function(left).name.compare(function(right).name);
  }

  // Reports of programs without symbols have a million places, nearly all of them addresses, so
  // those are sorted as plain numbers.
  [[nodiscard]] std::vector<uint32_t> ranks(std::span<const uint64_t> distinct,
                                            Order which) const override {
    std::vector<uint64_t> resolved;
    std::vector<uint32_t> resolved_at, bare;
    for (uint32_t i = 0; i < distinct.size(); ++i) {
      bool has_symbol = !places_[distinct[i]].is_bare();
      (has_symbol ? resolved_at : bare).push_back(i);
      if (has_symbol) resolved.push_back(distinct[i]);
    }
    if (which == Order::kShown || bare.size() < distinct.size() / 2)
      return which == Order::kShown ? shown_ranks(resolved, resolved_at, distinct.size())
                                    : PlaceKey::ranks(distinct, which);
    return collating_ranks(distinct);
  }

  void text(uint64_t value, std::string& out) const override {
    append_place(places_[value], places_[value].level, out);
  }

  // Addresses without a symbol are one place, whatever they are in: each row has its own level.
  void text_of_row(uint64_t value, uint32_t first_sample, std::string& out) const override {
    const Place& place = places_[value];
    append_place(place, place.is_bare() ? level_in_row(place, first_sample) : place.level, out);
  }

  /// In rounds, each of which reads what the one before has fetched.
  void prefetch(std::span<const RowValue> rows) const override {
    for (const RowValue& row : rows) __builtin_prefetch(&places_[row.value]);
    for_bare(rows, [this](uint32_t sample) { prefetch_sample(sample); });
    for_bare(rows, [this](uint32_t sample) { prefetch_chain(sample); });
    for_bare(rows, [this](uint32_t sample) { prefetch_steps(sample); });
  }

  /// Functions move between builds; their names stay the same.
  [[nodiscard]] std::string identity(uint64_t value, uint32_t /*first_sample*/) const override {
    const Place& place = places_[value];
    return place.is_bare() ? std::string() : input_.symbols.identity(function(place).symbol);
  }

  [[nodiscard]] NameKind names() const override { return NameKind::kFunction; }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    const Place& place = places_[value];
    if (place.is_bare()) return kUnresolvedWidth;
    return function(place).name.size() + 4 + (settings_.verbose ? 16 + 2 + 3 : 0);
  }

 private:
  static constexpr uint32_t kBare = UINT32_MAX;
  struct Place {
    uint64_t ip;
    DsoId dso;
    uint32_t function;  // kBare: an address without a symbol
    FrameLevel level;
    [[nodiscard]] bool is_bare() const { return function == kBare; }
  };
  struct Function {
    SymbolId symbol;
    uint64_t start, end;
    std::string_view name;
  };
  [[nodiscard]] const Function& function(const Place& place) const {
    return functions_[place.function];
  }

  // Ids are places: those of functions and of bare addresses are mapped separately, because the
  // latter are many, and one number each.
  uint32_t resolved_id(std::initializer_list<uint64_t> tuple) {
    return place_for(resolved_.intern(tuple), place_of_resolved_);
  }
  uint32_t bare_id(uint64_t ip) { return place_for(bare_.intern({ip}), place_of_bare_); }
  uint32_t place_for(uint32_t id, LargeVector<uint32_t>& places) const {
    if (id == places.size()) places.push_back(static_cast<uint32_t>(places_.size()));
    return places[id];
  }

  uint64_t name_id(std::string_view text) {
    return name_ids_.try_emplace(text, static_cast<uint32_t>(name_ids_.size())).first->second;
  }

  /// Functions by name, then all unresolved addresses with one rank.
  [[nodiscard]] std::vector<uint32_t> shown_ranks(const std::vector<uint64_t>& resolved,
                                                  const std::vector<uint32_t>& resolved_at,
                                                  size_t count) const {
    std::vector<uint32_t> by_name = PlaceKey::ranks(resolved, Order::kShown);
    std::vector<uint32_t> ranks(count, static_cast<uint32_t>(resolved.size()));
    for (size_t i = 0; i < resolved.size(); ++i) ranks[resolved_at[i]] = by_name[i];
    return ranks;
  }

  [[nodiscard]] std::vector<uint32_t> collating_ranks(std::span<const uint64_t> distinct) const {
    auto index_of = [](DsoId dso) { return dso.valid() ? dso.index() + 1 : 0; };
    std::vector<uint32_t> dso_ranks;  // by index
    std::vector<DsoId> by_name;
    for (uint64_t value : distinct) {
      DsoId dso = places_[value].dso;
      if (dso_ranks.size() <= index_of(dso)) dso_ranks.resize(index_of(dso) + 1);
      if (std::exchange(dso_ranks[index_of(dso)], 1) == 0) by_name.push_back(dso);
    }
    std::ranges::sort(by_name);
    std::ranges::stable_sort(by_name, [&](DsoId a, DsoId b) {
      return compare_dso_names(input_, a, b, settings_.verbose) < 0;
    });
    for (uint32_t i = 0; i < by_name.size(); ++i) dso_ranks[index_of(by_name[i])] = i;
    auto place_of = [&](uint32_t i) -> const Place& { return places_[distinct[i]]; };
    std::vector<uint32_t> order = all_rows(distinct.size());
    OrderBuffers buffers;
    auto end_of = [&](uint32_t i) { return place_of(i).is_bare() ? 0 : function(place_of(i)).end; };
    order_by(order, end_of, buffers);
    auto start_of = [&](uint32_t i) {  // addresses in signed order
      const Place& place = place_of(i);
      return place.is_bare() ? place.ip ^ (uint64_t{1} << 63) : function(place).start;
    };
    order_by(order, start_of, buffers);
    auto group_of = [&](uint32_t i) {  // by DSO, functions before bare addresses
      const Place& place = place_of(i);
      return uint64_t{dso_ranks[index_of(place.dso)]} * 2 + (place.is_bare() ? 1 : 0);
    };
    order_by(order, group_of, buffers);
    std::vector<uint32_t> ranks(distinct.size());
    for (uint32_t i = 0; i < order.size(); ++i) ranks[order[i]] = i;
    return ranks;
  }

  void append_place(const Place& place, FrameLevel level, std::string& out) const {
    if (settings_.verbose) {
      char origin = place.dso.valid() ? input_.symbols.origin(place.dso) : '!';
      fmt::format_to(std::back_inserter(out), "{:<#18x} {} ", place.ip, origin);
    }
    out += '[';
    out += static_cast<char>(level);
    out += "] ";
    if (place.is_bare())
      append_address(place.ip, out);
    else
      out += function(place).name;
  }

  template <typename Body>
  void for_bare(std::span<const RowValue> rows, const Body& body) const {
    for (const RowValue& row : rows)
      if (places_[row.value].is_bare()) body(row.first_sample);
  }
  void prefetch_sample(uint32_t sample) const {
    const SampleColumns& samples = input_.samples;
    __builtin_prefetch(&samples.leaf[sample]);
    if (!samples.chain.empty()) __builtin_prefetch(&samples.chain[sample]);
  }
  void prefetch_chain(uint32_t sample) const {
    std::call_once(briefs_made_, [this] { make_briefs(); });
    __builtin_prefetch(&briefs_[input_.samples.leaf[sample].index()]);
    if (ChainId chain = input_.samples.chain_of(sample); chain.valid())
      input_.chains.prefetch(chain);
  }
  void prefetch_steps(uint32_t sample) const {
    ChainId chain = input_.samples.chain_of(sample);
    if (!chain.valid()) return;
    std::span<const FrameId> steps = input_.chains[chain];
    __builtin_prefetch(settings_.caller_order ? steps.data() + steps.size() - 1 : steps.data());
  }

  /// The level of an address without a symbol, in the sample that made a row of it. For a caller
  /// outside any mapping, perf uses the level of the frame it looked at before.
  [[nodiscard]] FrameLevel level_in_row(const Place& place, uint32_t sample) const {
    std::call_once(briefs_made_, [this] { make_briefs(); });
    auto is_there = [&](FrameId id) {
      if (!briefs_[id.index()].is_bare) return false;
      const Frame& frame = input_.frame(id);
      return frame.address == place.ip || input_.details.shown_address(frame) == place.ip;
    };
    FrameId leaf = input_.samples.leaf[sample];
    FrameLevel level = briefs_[leaf.index()].level;
    if (is_there(leaf)) return level;
    ChainId chain = input_.samples.chain_of(sample);
    std::span<const FrameId> steps =
        chain.valid() ? input_.chains[chain] : std::span<const FrameId>();
    for (size_t i = 0; i < steps.size(); ++i) {
      FrameId step = steps[settings_.caller_order ? steps.size() - 1 - i : i];
      const Brief& brief = briefs_[step.index()];
      if (is_there(step)) return brief.has_dso ? brief.level : level;
      if (brief.has_dso) level = brief.level;
    }
    return place.dso.valid() ? place.level : level;
  }
  /// What the walks over chains look at; frames themselves would be fetched from memory.
  void make_briefs() const {
    briefs_.reserve(input_.frames.size());
    for (const Frame& frame : input_.frames)
      briefs_.push_back({frame.level, frame.dso.valid(), !frame.symbol.valid()});
  }

  void note_unresolved(DsoId dso, int64_t ip) {
    if (any_unresolved_ && dso != unresolved_dso_) unresolved_in_several_dsos_ = true;
    unresolved_dso_ = dso;
    lowest_ = any_unresolved_ ? std::min(lowest_, ip) : ip;
    highest_ = any_unresolved_ ? std::max(highest_, ip) : ip;
    any_unresolved_ = true;
  }

  struct Brief {
    FrameLevel level;
    bool has_dso : 1;
    bool is_bare : 1;
  };
  mutable std::once_flag briefs_made_;
  mutable std::vector<Brief> briefs_;  // by FrameId, once a row needs them
  Interner resolved_{4};
  LargeVector<uint32_t> place_of_resolved_;
  Interner bare_{1};
  LargeVector<uint32_t> place_of_bare_;
  std::map<std::string_view, uint32_t> name_ids_;
  LargeVector<Place> places_;
  std::vector<Function> functions_;
  bool any_unresolved_ = false;
  bool unresolved_in_several_dsos_ = false;
  DsoId unresolved_dso_;
  int64_t lowest_ = 0, highest_ = 0;  // unresolved address
};

/// The column that perf adds to `-s symbol` outside branch mode. It has no information, but keeps
/// rows of different functions apart.
class NoIpcKey final : public SymbolKey {
 public:
  using SymbolKey::SymbolKey;
  [[nodiscard]] int order(uint64_t a, uint64_t b) const override { return collate(a, b); }
  [[nodiscard]] std::vector<uint32_t> ranks(std::span<const uint64_t> distinct,
                                            Order /*which*/) const override {
    return SymbolKey::ranks(distinct, Order::kCollating);
  }
  void text(uint64_t /*value*/, std::string& out) const override { out += "-      -            "; }
  void text_of_row(uint64_t value, uint32_t /*first_sample*/, std::string& out) const override {
    text(value, out);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 20;
  }
};

}  // namespace

KeyResult make_symbol_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<SymbolKey>(input, settings, "symbol", "Symbol");
}
KeyResult make_ipc_null_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<NoIpcKey>(input, settings, "ipc_null", "IPC   [IPC Coverage]");
}

}  // namespace sonde
