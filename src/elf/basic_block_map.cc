#include "elf/basic_block_map.h"

#include <elf.h>

#include <algorithm>

#include "elf/leb128.h"

namespace sonde {
namespace {

// llvm/BinaryFormat/ELF.h
constexpr uint32_t kBlockMap = 0x6fff4c0a;                // SHT_LLVM_BB_ADDR_MAP
constexpr uint32_t kBlockMapWithoutVersion = 0x6fff4c08;  // SHT_LLVM_BB_ADDR_MAP_V0

constexpr uint8_t kNewestVersion = 2;

enum Feature : uint8_t {
  kFunctionCounts = 1,
  kBlockFrequencies = 2,
  kBranchProbabilities = 4,
  kSeveralRanges = 8,
  kAllFeatures = 15,
};

enum BlockFlag : uint64_t { kHasReturn = 1, kIsLandingPad = 4 };

bool is_block_map(const ElfSection& section) {
  return section.type == kBlockMap || section.type == kBlockMapWithoutVersion;
}

}  // namespace

class BasicBlockReader {
 public:
  BasicBlockReader(const ElfFile& file, const ElfSection& section, BasicBlockMap& map)
      : file_(file),
        has_version_(section.type == kBlockMap),
        in_(file.content(section), file.order()),
        map_(map) {}

  Result<> read() {
    while (in_.left() > 0) TRY(read_function());
    return {};
  }

 private:
  [[nodiscard]] Error damaged() const {
    return {ErrorCode::kCorrupt, fmt::format("{}: its map of basic blocks is damaged at byte {}",
                                             file_.name(), in_.position())};
  }

  Result<> read_function() {
    if (has_version_) TRY(read_version());
    BasicBlockMap::Function function;
    function.first = static_cast<uint32_t>(map_.blocks_.size());
    uint64_t ranges = (features_ & kSeveralRanges) != 0 ? uleb128(in_) : 1;
    if (ranges == 0 || !in_.fits(ranges, 2)) return std::unexpected(damaged());
    for (uint64_t i = 0; i < ranges; ++i) {
      uint64_t base = file_.is_64bit() ? in_.u64() : in_.u32();
      if (i == 0) function.entry = ElfAddr(base);
      TRY(read_range(base));
    }
    function.count = static_cast<uint32_t>(map_.blocks_.size() - function.first);
    TRY(skip_counts(function.count));
    // Linkers write 0 for what they discarded.
    if (function.entry.value == 0)
      map_.blocks_.resize(function.first);
    else if (function.count > 0)
      map_.functions_.push_back(function);
    return {};
  }

  Result<> read_version() {
    version_ = in_.u8();
    features_ = in_.u8();
    if (!in_.ok()) return std::unexpected(damaged());
    if (version_ <= kNewestVersion && (features_ & ~kAllFeatures) == 0) return {};
    return fail(ErrorCode::kUnsupported,
                "{}: its map of basic blocks is of version {} with features {:#x}; known are "
                "versions up to {}, which LLVM 19 writes",
                file_.name(), version_, features_, kNewestVersion);
  }

  Result<> read_range(uint64_t base) {
    uint64_t count = uleb128(in_);
    // A block takes three bytes at least.
    if (!in_.fits(count, 3) || map_.blocks_.size() + count > UINT32_MAX)
      return std::unexpected(damaged());
    uint64_t at = base;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t id = version_ >= 2 ? uleb128(in_) : i;
      uint64_t offset = uleb128(in_), size = uleb128(in_), flags = uleb128(in_);
      uint64_t start = (version_ >= 1 ? at : base) + offset;
      if (!in_.ok() || id > UINT32_MAX || size > UINT32_MAX || start < base || start + size < start)
        return std::unexpected(damaged());
      map_.blocks_.push_back({.addr = ElfAddr(start),
                              .size = static_cast<uint32_t>(size),
                              .id = static_cast<uint32_t>(id),
                              .returns = (flags & kHasReturn) != 0,
                              .is_landing_pad = (flags & kIsLandingPad) != 0});
      at = start + size;
    }
    return {};
  }

  Result<> skip_counts(uint32_t blocks) {
    if ((features_ & kFunctionCounts) != 0) uleb128(in_);
    bool is_per_block = (features_ & (kBlockFrequencies | kBranchProbabilities)) != 0;
    for (uint32_t i = 0; is_per_block && in_.ok() && i < blocks; ++i) {
      if ((features_ & kBlockFrequencies) != 0) uleb128(in_);
      if ((features_ & kBranchProbabilities) == 0) continue;
      uint64_t successors = uleb128(in_);
      for (uint64_t s = 0; in_.ok() && s < successors; ++s) {
        uleb128(in_);  // the block's id
        uleb128(in_);  // the probability
      }
    }
    if (!in_.ok()) return std::unexpected(damaged());
    return {};
  }

  const ElfFile& file_;
  bool has_version_;
  uint8_t version_ = 0, features_ = 0;
  ByteCursor in_;
  BasicBlockMap& map_;
};

Result<BasicBlockMap> BasicBlockMap::read(const ElfFile& file) {
  BasicBlockMap map;
  if (std::ranges::none_of(file.sections(), is_block_map))
    return fail(ErrorCode::kNotFound,
                "{} has no map of its basic blocks: build it by clang with "
                "-fbasic-block-address-map (before version 19: -fbasic-block-sections=labels)",
                file.name());
  if (file.type() == ET_REL)
    return fail(ErrorCode::kUnsupported, "{} is not linked: its basic blocks have no addresses",
                file.name());
  for (const ElfSection& section : file.sections())
    if (is_block_map(section)) TRY(BasicBlockReader(file, section, map).read());
  return map;
}

}  // namespace sonde
