// Sort keys of branch stacks: the source and target of a branch, and the hardware's information
// about it.
#include <set>

#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

enum class End : uint8_t { kFrom, kTo };

/// The resolved end of a row's branch.
template <End kEnd>
class BranchPlaceKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;

 protected:
  struct Place {
    Frame frame;
    uint64_t ip = 0;
  };
  Place place_of(RowReader& row) const {
    abi::BranchEntry branch = row.details().branch(row.branch());
    uint64_t ip = kEnd == End::kFrom ? branch.from : branch.to;
    return {input_.details.resolve_anywhere(row.sample(), ip), ip};
  }
};

template <End kEnd>
class BranchDsoKey final : public BranchPlaceKey<kEnd> {
 public:
  BranchDsoKey(const ProfileInput& input, const KeySettings& settings)
      : BranchPlaceKey<kEnd>(input, settings) {
    this->cuts = true;
  }
  uint64_t of_row(RowReader& row) override {
    Frame frame = this->place_of(row).frame;
    if (!frame.symbol.valid()) unresolved_.insert(frame.dso.value);
    return frame.dso.value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return compare_dso_names(this->input_, dso_of(b), dso_of(a), this->settings_.verbose);
  }
  void text(uint64_t value, std::string& out) const override {
    out += this->input_.dso_name(dso_of(value));
  }
  [[nodiscard]] NameKind names() const override { return NameKind::kObject; }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    if (unresolved_.contains(static_cast<uint32_t>(value))) return kUnresolvedDsoWidth;
    return this->input_.dso_name(dso_of(value)).size();
  }

 private:
  static DsoId dso_of(uint64_t value) {
    DsoId dso;
    dso.value = static_cast<uint32_t>(value);
    return dso;
  }
  std::set<uint32_t> unresolved_;
};

template <End kEnd>
class BranchSymbolKey final : public BranchPlaceKey<kEnd> {
 public:
  using BranchPlaceKey<kEnd>::BranchPlaceKey;
  uint64_t of_row(RowReader& row) override {
    auto [frame, ip] = this->place_of(row);
    bool resolved = frame.symbol.valid();
    uint32_t id = ids_.intern({resolved ? frame.symbol.value : ip, resolved ? 1U : 0U});
    if (id == places_.size()) places_.push_back({frame, ip});
    return id;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    const Known& left = places_[a];
    const Known& right = places_[b];
    if (!left.frame.symbol.valid() && !right.frame.symbol.valid())
      return three_way(static_cast<int64_t>(left.ip - right.ip), int64_t{0});
    if (!left.frame.symbol.valid() || !right.frame.symbol.valid())
      return left.frame.symbol.valid() ? -1 : 1;
    return three_way(left.frame.symbol_start, right.frame.symbol_start);
  }
  void text(uint64_t value, std::string& out) const override {
    const Known& known = places_[value];
    out += '[';
    out += static_cast<char>(known.frame.level);
    out += "] ";
    if (known.frame.symbol.valid())
      out += this->input_.symbols.name(known.frame.symbol);
    else
      append_address(this->input_.details.shown_address(known.frame), out);
  }

 private:
  struct Known {
    Frame frame;
    uint64_t ip;
  };
  Interner ids_{2};
  std::vector<Known> places_;
};

template <End kEnd>
class BranchAddrKey final : public BranchPlaceKey<kEnd> {
 public:
  using BranchPlaceKey<kEnd>::BranchPlaceKey;
  uint64_t of_row(RowReader& row) override {
    auto [frame, ip] = this->place_of(row);
    uint32_t id = ids_.intern({frame.dso.value, ip});
    if (id == places_.size()) places_.push_back({frame, ip});
    return id;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    const Known& left = places_[a];
    const Known& right = places_[b];
    int by_dso =
        compare_dso_names(this->input_, right.frame.dso, left.frame.dso, this->settings_.verbose);
    return by_dso != 0 ? by_dso : three_way(static_cast<int64_t>(left.ip - right.ip), int64_t{0});
  }
  void text(uint64_t value, std::string& out) const override {
    append(value, places_[value].frame.level, out);
  }
  // perf shows the mode that the sample was taken in.
  void text_of_row(uint64_t value, uint32_t first_sample, std::string& out) const override {
    append(value, this->input_.frame(this->input_.samples.leaf[first_sample]).level, out);
  }

 private:
  struct Known {
    Frame frame;
    uint64_t ip;
  };
  void append(uint64_t value, FrameLevel level, std::string& out) const {
    const Frame& frame = places_[value].frame;
    fmt::format_to(std::back_inserter(out), "[{}] ", static_cast<char>(level));
    if (frame.symbol.valid()) {
      out += this->input_.symbols.name(frame.symbol);
      if (frame.address != frame.symbol_start)
        fmt::format_to(std::back_inserter(out), "+{:#x}", frame.address - frame.symbol_start);
    } else {
      append_address(this->input_.details.shown_address(frame), out);
    }
  }
  Interner ids_{2};
  std::vector<Known> places_;
};

template <End kEnd>
class BranchSrclineKey final : public BranchPlaceKey<kEnd> {
 public:
  using BranchPlaceKey<kEnd>::BranchPlaceKey;
  uint64_t of_row(RowReader& row) override {
    Frame frame = this->place_of(row).frame;
    std::string line = source_line(this->input_, frame);
    return this->input_.strings.intern(line).value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return a == b ? 0 : view(a).compare(view(b));
  }
  void text(uint64_t value, std::string& out) const override { out += view(value); }

 private:
  [[nodiscard]] std::string_view view(uint64_t value) const {
    return this->input_.strings.view(StringId(static_cast<size_t>(value)));
  }
};

/// A flag of the branch; texts are indexed by value.
template <uint64_t (*Get)(const abi::BranchEntry&)>
class BranchFlagKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return Get(row.details().branch(row.branch())); }
  void text(uint64_t value, std::string& out) const override { out += texts[value]; }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
  std::array<std::string_view, 3> texts;
};

template <uint64_t (*Get)(const abi::BranchEntry&)>
KeyResult make_flag_key(const ProfileInput& input, const KeySettings& settings,
                        std::string_view name, std::string_view title,
                        std::array<std::string_view, 3> texts) {
  auto key = std::make_unique<BranchFlagKey<Get>>(input, settings);
  key->name = name;
  key->title = title;
  key->texts = texts;
  return key;
}

uint64_t misprediction_of(const abi::BranchEntry& branch) {
  if (branch.predicted()) return 1;
  return branch.mispredicted() ? 2 : 0;
}
uint64_t transaction_of(const abi::BranchEntry& branch) {
  return branch.in_tx() ? 1 : 0;
}
uint64_t abort_of(const abi::BranchEntry& branch) {
  return branch.aborted() ? 1 : 0;
}

class CyclesKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return row.details().branch(row.branch()).cycles(); }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(b, a); }
  void text(uint64_t value, std::string& out) const override {
    if (value == 0)
      out += '-';
    else
      fmt::format_to(std::back_inserter(out), "{}", static_cast<int16_t>(value));  // as perf does
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

/// In branch mode a row's place is the branch target: wraps a key of places and applies it to the
/// target. The wrapped key gets its own frames, since the replay only knows sampled places.
class TargetKey final : public SortKey {
 public:
  explicit TargetKey(const ProfileInput& input)
      : input_(input), own_(with_frames(input, frames_)) {}
  Result<> make(const SortKeyInfo& info, const KeySettings& settings) {
    key_ = TRY(info.make(own_, settings));
    name = key_->name;
    title = key_->title;
    min_width = key_->min_width;
    cuts = key_->cuts;
    right_aligned = key_->right_aligned;
    return {};
  }

  uint64_t of_row(RowReader& row) override {
    uint64_t ip = row.details().branch(row.branch()).to;
    Frame frame = input_.details.resolve_anywhere(row.sample(), ip);
    frame.level = input_.frame(input_.samples.leaf[row.sample()]).level;
    frames_.assign(1, frame);
    uint64_t value = key_->of_place({FrameId(size_t{0}), ip});
    if (!frame.symbol.valid()) unresolved_.insert(value);
    return value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return key_->collate(a, b); }
  [[nodiscard]] int collate_in_tree(uint64_t a, uint64_t b) const override {
    return key_->collate_in_tree(a, b);
  }
  [[nodiscard]] bool collates_consistently(bool among_equal_dsos) const override {
    return key_->collates_consistently(among_equal_dsos);
  }
  [[nodiscard]] int order(uint64_t a, uint64_t b) const override { return key_->order(a, b); }
  [[nodiscard]] std::vector<uint32_t> ranks(std::span<const uint64_t> distinct,
                                            Order which) const override {
    return key_->ranks(distinct, which);
  }
  void text(uint64_t value, std::string& out) const override { key_->text(value, out); }
  [[nodiscard]] size_t width(uint64_t value, uint32_t first_sample) const override {
    return std::max(key_->width(value, first_sample),
                    unresolved_.contains(value) ? key_->unresolved_width() : 0);
  }

 private:
  static ProfileInput with_frames(const ProfileInput& input, const std::vector<Frame>& frames) {
    return {.samples = input.samples,
            .chains = input.chains,
            .frames = frames,
            .dsos = input.dsos,
            .strings = input.strings,
            .symbols = input.symbols,
            .details = input.details};
  }
  const ProfileInput& input_;
  std::vector<Frame> frames_;  // the one being looked up
  ProfileInput own_;
  std::unique_ptr<SortKey> key_;
  std::set<uint64_t> unresolved_;  // values of targets without a symbol
};

/// A per-branch number where other rows have one per sample.
template <uint64_t (*Get)(const abi::BranchEntry&), bool kOfAll>
class BranchNumberKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return Get(row.details().branch(row.branch())); }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(b, a); }
  [[nodiscard]] bool multiplies() const override { return kOfAll; }
  void text(uint64_t value, std::string& out) const override {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};
/// The weight of a branch: its cycles, if they were counted.
uint64_t branch_weight(const abi::BranchEntry& branch) {
  return std::max<uint64_t>(branch.cycles(), 1);
}

class TargetAddrKey final : public AddressKey {
 public:
  using AddressKey::AddressKey;
  uint64_t of_row(RowReader& row) override { return row.details().branch(row.branch()).to; }
};

/// Instructions per cycle of the function that a branch leads to.
class IpcKey final : public BranchPlaceKey<End::kTo> {
 public:
  using BranchPlaceKey::BranchPlaceKey;
  /// Only where rows are of such functions: it is never what tells rows apart.
  uint64_t of_row(RowReader& row) override {
    return settings_.ipc ? place_of(row).frame.symbol.value : SymbolId::kNone;
  }
  void text(uint64_t value, std::string& out) const override {
    SymbolId symbol(static_cast<size_t>(value));
    std::optional<FunctionIpc> ipc;
    if (symbol.valid() && settings_.ipc) ipc = settings_.ipc(symbol);
    if (ipc)
      fmt::format_to(std::back_inserter(out), "{:<5.2f} [{:5.1f}%]", ipc->ipc, ipc->coverage);
    else
      out += '-';
  }
};

}  // namespace

KeyResult make_branch_target_key(const SortKeyInfo& info, const ProfileInput& input,
                                 const KeySettings& settings) {
  KeyResult own = info.make(input, settings);
  if (!own) return own;
  auto like = [&](std::unique_ptr<SortKey> key) {
    key->name = (*own)->name;
    key->title = (*own)->title;
    key->min_width = (*own)->min_width;
    return KeyResult(std::move(key));
  };
  if (info.name == "weight")
    return like(std::make_unique<BranchNumberKey<branch_weight, true>>(input, settings));
  if (info.name == "local_weight")
    return like(std::make_unique<BranchNumberKey<branch_weight, false>>(input, settings));
  if (info.name == "addr") return like(std::make_unique<TargetAddrKey>(input, settings));
  if (!(*own)->is_of_place()) return own;
  auto key = std::make_unique<TargetKey>(input);
  TRY(key->make(info, settings));
  return KeyResult(std::move(key));
}

KeyResult make_ipc_lbr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<IpcKey>(input, settings, "ipc_lbr", "IPC   [IPC Coverage]");
}
KeyResult make_dso_from_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchDsoKey<End::kFrom>>(input, settings, "dso_from", "Source Shared Object");
}
KeyResult make_dso_to_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchDsoKey<End::kTo>>(input, settings, "dso_to", "Target Shared Object");
}
KeyResult make_symbol_from_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchSymbolKey<End::kFrom>>(input, settings, "symbol_from", "Source Symbol");
}
KeyResult make_symbol_to_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchSymbolKey<End::kTo>>(input, settings, "symbol_to", "Target Symbol");
}
KeyResult make_addr_from_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchAddrKey<End::kFrom>>(input, settings, "addr_from", "Source Address");
}
KeyResult make_addr_to_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchAddrKey<End::kTo>>(input, settings, "addr_to", "Target Address");
}
KeyResult make_srcline_from_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchSrclineKey<End::kFrom>>(input, settings, "srcline_from",
                                                "From Source:Line");
}
KeyResult make_srcline_to_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<BranchSrclineKey<End::kTo>>(input, settings, "srcline_to", "To Source:Line");
}
KeyResult make_mispredict_key(const ProfileInput& input, const KeySettings& settings) {
  return make_flag_key<misprediction_of>(input, settings, "mispredict", "Branch Mispredicted",
                                         {"N/A", "N", "Y"});
}
KeyResult make_in_tx_key(const ProfileInput& input, const KeySettings& settings) {
  return make_flag_key<transaction_of>(input, settings, "in_tx", "Branch in transaction",
                                       {".", "T", "T"});
}
KeyResult make_abort_key(const ProfileInput& input, const KeySettings& settings) {
  return make_flag_key<abort_of>(input, settings, "abort", "Transaction abort", {".", "A", "A"});
}
KeyResult make_cycles_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CyclesKey>(input, settings, "cycles", "Basic Block Cycles");
}

}  // namespace sonde
