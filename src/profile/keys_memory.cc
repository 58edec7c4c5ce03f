// Sort keys of memory samples (--mem-mode): the data address, and what its access met, from
// PERF_SAMPLE_DATA_SRC.
#include "profile/key_tools.h"

namespace sonde {
namespace {

/// Fields of perf_mem_data_src, lowest bit first (include/uapi/linux/perf_event.h).
struct DataSource {
  uint64_t bits;
  [[nodiscard]] uint64_t level() const { return bits >> 5 & 0x3fff; }
  [[nodiscard]] uint64_t snoop() const { return bits >> 19 & 0x1f; }
  [[nodiscard]] uint64_t lock() const { return bits >> 24 & 3; }
  [[nodiscard]] uint64_t tlb() const { return bits >> 26 & 0x7f; }
  [[nodiscard]] uint64_t level_number() const { return bits >> 33 & 0xf; }
  [[nodiscard]] bool remote() const { return (bits >> 37 & 1) != 0; }
  [[nodiscard]] uint64_t snoop_more() const { return bits >> 38 & 3; }
  [[nodiscard]] uint64_t blocked() const { return bits >> 40 & 7; }
  [[nodiscard]] uint64_t hops() const { return bits >> 43 & 7; }
};

constexpr uint64_t kHit = 2;
constexpr uint64_t kMiss = 4;

void append_words(std::string& out, uint64_t mask, std::span<const std::string_view> words,
                  bool& first) {
  for (size_t i = 0; i < words.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (!first) out += " or ";
    first = false;
    out += words[i];
  }
}

void append_outcome(std::string& out, uint64_t mask) {
  if (out.empty()) out = "N/A";
  if ((mask & kHit) != 0) out += " hit";
  if ((mask & kMiss) != 0) out += " miss";
}

std::string tlb_text(DataSource source) {
  constexpr std::array<std::string_view, 7> kWords = {"N/A", "HIT",    "MISS", "L1",
                                                      "L2",  "Walker", "Fault"};
  std::string out;
  bool first = true;
  append_words(out, source.tlb() & ~(kHit | kMiss), kWords, first);
  append_outcome(out, source.tlb());
  return out;
}

std::string_view level_number_name(uint64_t number) {
  switch (number) {
    case 0xb:
      return "Any cache";
    case 0xc:
      return "LFB";
    case 0xd:
      return "RAM";
    case 0xe:
      return "PMEM";
    case 0xf:
      return "N/A";
    default:
      return {};
  }
}

std::string level_text(DataSource source) {
  constexpr std::array<std::string_view, 14> kWords = {"N/A",
                                                       "HIT",
                                                       "MISS",
                                                       "L1",
                                                       "LFB",
                                                       "L2",
                                                       "L3",
                                                       "Local RAM",
                                                       "Remote RAM (1 hop)",
                                                       "Remote RAM (2 hops)",
                                                       "Remote Cache (1 hop)",
                                                       "Remote Cache (2 hops)",
                                                       "I/O",
                                                       "Uncached"};
  constexpr std::array<std::string_view, 5> kHops = {"N/A", "core, same node", "node, same socket",
                                                     "socket, same board", "board"};
  std::string out = source.remote() ? "Remote " : "";
  bool first = true;
  if (source.hops() != 0 && source.hops() < kHops.size()) {
    out += kHops[source.hops()];
    out += ' ';
  } else {
    append_words(out, source.level() & ~(kHit | kMiss), kWords, first);
  }
  if (uint64_t number = source.level_number(); number != 0) {
    if (!first) out += " or ";
    std::string_view name = level_number_name(number);
    out += name.empty() ? fmt::format("L{}", number) : std::string(name);
  }
  append_outcome(out, source.level());
  return out;
}

std::string snoop_text(DataSource source) {
  constexpr std::array<std::string_view, 5> kWords = {"N/A", "None", "Hit", "Miss", "HitM"};
  constexpr std::array<std::string_view, 2> kMore = {"Fwd", "Peer"};
  std::string out;
  bool first = true;
  append_words(out, source.snoop(), kWords, first);
  append_words(out, source.snoop_more(), kMore, first);
  return out.empty() ? "N/A" : out;
}

std::string lock_text(DataSource source) {
  if ((source.lock() & 1) != 0) return "N/A";
  return (source.lock() & 2) != 0 ? "Yes" : "No";
}

std::string blocked_text(DataSource source) {
  if ((source.blocked() & 1) != 0) return "N/A";
  std::string out;
  if ((source.blocked() & 2) != 0) out += " Data";
  if ((source.blocked() & 4) != 0) out += " Addr";
  return out;
}

/// One field of the data source. Values with more bits set stand first.
template <std::string (*Text)(DataSource), uint64_t kMask>
class SourceKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return row.details().data_src & kMask; }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(b, a); }
  void text(uint64_t value, std::string& out) const override { out += Text({value}); }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

template <std::string (*Text)(DataSource), uint64_t kMask>
MadeKey make_source_key(const ProfileInput& input, const KeySettings& settings,
                        std::string_view name, std::string_view title, size_t min_width) {
  MadeKey made = make_key<SourceKey<Text, kMask>>(input, settings, name, title);
  (*made)->min_width = min_width;
  return made;
}

constexpr uint64_t kLevelMask = 0x3fffULL << 5 | 0xfULL << 33 | 1ULL << 37 | 7ULL << 43;
constexpr uint64_t kSnoopMask = 0x1fULL << 19 | 3ULL << 38;
constexpr uint64_t kLockMask = 3ULL << 24;
constexpr uint64_t kTlbMask = 0x7fULL << 26;
constexpr uint64_t kBlockedMask = 7ULL << 40;

/// What lies at a sample's data address.
class DataKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;

 protected:
  struct Place {
    Frame frame;
    uint64_t address;
  };
  uint32_t place_of(RowReader& row, uint64_t address) {
    Frame frame = input_.details.resolve(row.sample(), address);
    uint32_t id = ids_.intern(
        {frame.dso.value, frame.symbol.value, address, static_cast<uint64_t>(frame.level)});
    if (id == places_.size()) places_.push_back({frame, address});
    return id;
  }
  [[nodiscard]] const Place& place(uint64_t id) const { return places_[id]; }
  void append_place(const Place& place, std::string& out) const {
    fmt::format_to(std::back_inserter(out), "[{}] ", static_cast<char>(place.frame.level));
    if (place.frame.symbol.valid())
      fmt::format_to(std::back_inserter(out), "{}+{:#x}", input_.symbols.name(place.frame.symbol),
                     place.frame.address - place.frame.symbol_start);
    else
      append_address(place.frame.dso.valid() ? place.frame.address : place.address, out);
  }

 private:
  Interner ids_{4};
  std::vector<Place> places_;
};

template <bool kInstruction>
class DataSymbolKey final : public DataKey {
 public:
  DataSymbolKey(const ProfileInput& input, const KeySettings& settings) : DataKey(input, settings) {
    min_width = kUnresolvedWidth;
  }
  uint64_t of_row(RowReader& row) override {
    return place_of(row, kInstruction ? row.details().ip : row.details().addr);
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return three_way(static_cast<int64_t>(place(a).address),
                     static_cast<int64_t>(place(b).address));
  }
  void text(uint64_t value, std::string& out) const override { append_place(place(value), out); }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    SymbolId symbol = place(value).frame.symbol;
    return symbol.valid() ? input_.symbols.name(symbol).size() + 4 + 16 + 2 : kUnresolvedWidth;
  }
};

class DataDsoKey final : public KeyOfInput {
 public:
  DataDsoKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {
    min_width = kUnresolvedDsoWidth;
    cuts = true;
  }
  uint64_t of_row(RowReader& row) override {
    return input_.details.resolve(row.sample(), row.details().addr).dso.value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return compare_dso_names(input_, dso_of(a), dso_of(b), settings_.verbose);
  }
  void text(uint64_t value, std::string& out) const override {
    out += input_.dso_name(dso_of(value));
  }

 private:
  static DsoId dso_of(uint64_t value) {
    DsoId dso;
    dso.value = static_cast<uint32_t>(value);
    return dso;
  }
};

/// The cache line of the data address; user lines of different objects stay apart.
class CachelineKey final : public DataKey {
 public:
  CachelineKey(const ProfileInput& input, const KeySettings& settings) : DataKey(input, settings) {
    min_width = kUnresolvedWidth;
  }
  uint64_t of_row(RowReader& row) override {
    return place_of(row, row.details().addr & ~(kLineBytes - 1));
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return three_way(static_cast<int64_t>(place(a).address),
                     static_cast<int64_t>(place(b).address));
  }
  void text(uint64_t value, std::string& out) const override { append_place(place(value), out); }

 private:
  static constexpr uint64_t kLineBytes = 64;
};

class PhysicalKey final : public KeyOfInput {
 public:
  PhysicalKey(const ProfileInput& input, const KeySettings& settings)
      : KeyOfInput(input, settings) {
    min_width = kUnresolvedWidth;
  }
  uint64_t of_row(RowReader& row) override { return row.details().phys_addr; }
  void text(uint64_t value, std::string& out) const override {
    fmt::format_to(std::back_inserter(out), "[.] 0x{:016x}", value);
  }
};

class DataPageSizeKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return row.details().data_page_size; }
  void text(uint64_t value, std::string& out) const override { out += page_size_text(value); }
};

}  // namespace

MadeKey make_symbol_daddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataSymbolKey<false>>(input, settings, "symbol_daddr", "Data Symbol");
}
MadeKey make_symbol_iaddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataSymbolKey<true>>(input, settings, "symbol_iaddr", "Code Symbol");
}
MadeKey make_dso_daddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataDsoKey>(input, settings, "dso_daddr", "Data Object");
}
MadeKey make_locked_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<lock_text, kLockMask>(input, settings, "locked", "Locked", 6);
}
MadeKey make_tlb_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<tlb_text, kTlbMask>(input, settings, "tlb", "TLB access", 22);
}
MadeKey make_mem_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<level_text, kLevelMask>(input, settings, "mem", "Memory access", 39);
}
MadeKey make_snoop_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<snoop_text, kSnoopMask>(input, settings, "snoop", "Snoop", 12);
}
MadeKey make_blocked_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<blocked_text, kBlockedMask>(input, settings, "blocked", "Blocked", 10);
}
MadeKey make_dcacheline_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CachelineKey>(input, settings, "dcacheline", "Data Cacheline");
}
MadeKey make_phys_daddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<PhysicalKey>(input, settings, "phys_daddr", "Data Physical Address");
}
MadeKey make_data_page_size_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataPageSizeKey>(input, settings, "data_page_size", "Data Page Size");
}

}  // namespace sonde
