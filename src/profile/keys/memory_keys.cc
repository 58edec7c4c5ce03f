// Sort keys of memory samples (--mem-mode): the data address, and how the access was served, from
// PERF_SAMPLE_DATA_SRC.
#include <sys/mman.h>

#include "abi/data_source.h"
#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

/// One field of the data source, masked to the bits that distinguish rows; the text may use more
/// bits.
template <std::string (*Text)(uint64_t), uint64_t kMask>
class SourceKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return row.details().data_src & kMask; }
  void text(uint64_t value, std::string& out) const override { out += Text(value); }
  void text_of_row(uint64_t /*value*/, uint32_t first_sample, std::string& out) const override {
    Sample sample;
    input_.details.decode(first_sample, sample);
    out += Text(sample.data_src);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

template <std::string (*Text)(uint64_t), uint64_t kMask>
KeyResult make_source_key(const ProfileInput& input, const KeySettings& settings,
                          std::string_view name, std::string_view title, size_t min_width) {
  KeyResult made = make_key<SourceKey<Text, kMask>>(input, settings, name, title);
  (*made)->min_width = min_width;
  return made;
}

// Fields of union perf_mem_data_src (include/uapi/linux/perf_event.h).
constexpr uint64_t kLevelMask = 0x3fffULL << 5;
constexpr uint64_t kSnoopMask = 0x1fULL << 19;
constexpr uint64_t kLockMask = 3ULL << 24;
constexpr uint64_t kTlbMask = 0x7fULL << 26;
constexpr uint64_t kBlockedMask = 7ULL << 40;

/// What is at a sample's data address.
class DataKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return three_way(static_cast<int64_t>(place(a).address),
                     static_cast<int64_t>(place(b).address));
  }
  void text(uint64_t value, std::string& out) const override {
    append_place(place(value), static_cast<char>(place(value).frame.level), out);
  }

 protected:
  struct Place {
    Frame frame;
    uint64_t address;
  };
  uint32_t place_of(const Frame& frame, uint64_t address) {
    uint32_t id = ids_.intern(
        {frame.dso.value, frame.symbol.value, address, static_cast<uint64_t>(frame.level)});
    if (id == places_.size()) places_.push_back({frame, address});
    return id;
  }
  [[nodiscard]] const Place& place(uint64_t id) const { return places_[id]; }
  void append_place(const Place& place, char level, std::string& out) const {
    fmt::format_to(std::back_inserter(out), "[{}] ", level);
    SymbolId symbol = place.frame.symbol;
    if (!symbol.valid()) return append_address(place.address, out);
    out += input_.symbols.name(symbol);
    if (input_.symbols.is_data(symbol))
      fmt::format_to(std::back_inserter(out), "+{:#x}",
                     place.frame.address - place.frame.symbol_start);
  }
  /// The mode in which the sample was taken; perf shows it for data, too.
  [[nodiscard]] char level_of(uint32_t sample) const {
    return static_cast<char>(input_.frame(input_.samples.leaf[sample]).level);
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
    const Sample& sample = row.details();
    if (kInstruction)
      return place_of(input_.details.resolve_anywhere(row.sample(), sample.ip), sample.ip);
    return place_of(input_.details.resolve(row.sample(), sample.addr), sample.addr);
  }
  void text_of_row(uint64_t value, uint32_t first_sample, std::string& out) const override {
    append_place(place(value), level_of(first_sample), out);
  }
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
    return compare_dso_names(input_, dso_of(b), dso_of(a), settings_.verbose);
  }
  void text(uint64_t value, std::string& out) const override {
    out += input_.dso_name(dso_of(value));
  }
  [[nodiscard]] NameKind names() const override { return NameKind::kObject; }

 private:
  static DsoId dso_of(uint64_t value) {
    DsoId dso;
    dso.value = static_cast<uint32_t>(value);
    return dso;
  }
};

/// The cache line of the data address, with an 's' if other processes share it and an 'X' if
/// nothing is mapped. It is a line of a file or of the kernel wherever that is mapped; memory
/// without a file belongs to its process. A row shows the address that its first sample accessed.
class CachelineKey final : public DataKey {
 public:
  CachelineKey(const ProfileInput& input, const KeySettings& settings) : DataKey(input, settings) {
    min_width = kUnresolvedWidth;
  }
  uint64_t of_row(RowReader& row) override {
    Place data = data_of(row.sample(), row.details().addr);
    bool is_mapped = data.frame.dso.valid();
    FileIdentity file = is_mapped ? input_.dsos[data.frame.dso].file : FileIdentity();
    // In the order of comparison.
    return lines_.intern({input_.samples.cpu_mode[row.sample()], is_mapped ? 0U : 1U, file.major,
                          file.minor, file.inode,
                          owner_of(row.sample(), data.frame, row.details().addr), data.address});
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    auto left = lines_.at(static_cast<uint32_t>(a));
    auto right = lines_.at(static_cast<uint32_t>(b));
    for (size_t i = 0; i < left.size(); ++i)
      if (int order = three_way(left[i], right[i]); order != 0) return order;
    return 0;
  }
  void text(uint64_t value, std::string& out) const override {
    out += "[.] ";
    append_address(lines_.at(static_cast<uint32_t>(value)).back(), out);
  }
  void text_of_row(uint64_t /*value*/, uint32_t first_sample, std::string& out) const override {
    Sample sample;
    input_.details.decode(first_sample, sample);
    const Mapping* mapping = input_.details.mapping_at(first_sample, sample.addr);
    bool in_kernel = input_.samples.cpu_mode[first_sample] == abi::kMiscKernel;
    char level = level_of(first_sample);
    if (mapping == nullptr)
      level = 'X';
    else if (!in_kernel && mapping->shared && (mapping->protection & PROT_EXEC) == 0 &&
             mapping->inode != 0)
      level = 's';
    append_place(data_of(first_sample, sample.addr), level, out);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t first_sample) const override {
    Sample sample;
    input_.details.decode(first_sample, sample);
    SymbolId symbol = input_.details.resolve(first_sample, sample.addr).symbol;
    return symbol.valid() ? input_.symbols.name(symbol).size() + 4 + 16 + 2 + 1 : kUnresolvedWidth;
  }

 private:
  static constexpr uint64_t kLineBytes = 64;

  /// What is at the address, and the line's address in it.
  [[nodiscard]] Place data_of(uint32_t sample, uint64_t address) const {
    Frame frame = input_.details.resolve(sample, address);
    uint64_t shown = frame.dso.valid() ? frame.address : address;
    return {frame, shown & ~(kLineBytes - 1)};
  }

  /// The process whose memory it is, if it is not shared: no file, and not MAP_SHARED. 0 otherwise.
  [[nodiscard]] uint64_t owner_of(uint32_t sample, const Frame& frame, uint64_t address) const {
    if (!frame.dso.valid() || input_.samples.cpu_mode[sample] == abi::kMiscKernel) return 0;
    if (input_.dsos[frame.dso].file != FileIdentity()) return 0;
    const Mapping* mapping = input_.details.mapping_at(sample, address);
    return mapping != nullptr && mapping->shared ? 0 : input_.samples.pid[sample];
  }

  Interner lines_{7};
};

class PhysicalKey final : public KeyOfInput {
 public:
  PhysicalKey(const ProfileInput& input, const KeySettings& settings)
      : KeyOfInput(input, settings) {
    min_width = kUnresolvedWidth;
  }
  uint64_t of_row(RowReader& row) override { return row.details().phys_addr; }
  void text(uint64_t value, std::string& out) const override {
    out += "[.] ";
    append_address(value, out);
  }
  void text_of_row(uint64_t value, uint32_t first_sample, std::string& out) const override {
    FrameLevel level = input_.frame(input_.samples.leaf[first_sample]).level;
    fmt::format_to(std::back_inserter(out), "[{}] ", static_cast<char>(level));
    append_address(value, out);
  }
};

class DataPageSizeKey final : public KeyOfInput {
 public:
  DataPageSizeKey(const ProfileInput& input, const KeySettings& settings)
      : KeyOfInput(input, settings) {
    min_width = kUnresolvedWidth;
  }
  uint64_t of_row(RowReader& row) override { return row.details().data_page_size; }
  void text(uint64_t value, std::string& out) const override { out += page_size_text(value); }
};

}  // namespace

KeyResult make_symbol_daddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataSymbolKey<false>>(input, settings, "symbol_daddr", "Data Symbol");
}
KeyResult make_symbol_iaddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataSymbolKey<true>>(input, settings, "symbol_iaddr", "Code Symbol");
}
KeyResult make_dso_daddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataDsoKey>(input, settings, "dso_daddr", "Data Object");
}
KeyResult make_locked_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<abi::memory_lock_text, kLockMask>(input, settings, "locked", "Locked", 6);
}
KeyResult make_tlb_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<abi::memory_tlb_text, kTlbMask>(input, settings, "tlb", "TLB access", 22);
}
KeyResult make_mem_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<abi::memory_level_text, kLevelMask>(input, settings, "mem",
                                                             "Memory access", 24);
}
KeyResult make_snoop_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<abi::memory_snoop_text, kSnoopMask>(input, settings, "snoop", "Snoop", 12);
}
KeyResult make_blocked_key(const ProfileInput& input, const KeySettings& settings) {
  return make_source_key<abi::memory_block_text, kBlockedMask>(input, settings, "blocked",
                                                               "Blocked", 10);
}
KeyResult make_dcacheline_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CachelineKey>(input, settings, "dcacheline", "Data Cacheline");
}
KeyResult make_phys_daddr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<PhysicalKey>(input, settings, "phys_daddr", "Data Physical Address");
}
KeyResult make_data_page_size_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<DataPageSizeKey>(input, settings, "data_page_size", "Data Page Size");
}

}  // namespace sonde
