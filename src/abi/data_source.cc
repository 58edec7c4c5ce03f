#include "abi/data_source.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace sonde::abi {
namespace {

constexpr uint64_t bits(uint64_t data_src, unsigned shift, unsigned width) {
  return (data_src >> shift) & ((uint64_t{1} << width) - 1);
}

constexpr std::string_view kOps[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
constexpr std::string_view kLevels[] = {"N/A",
                                        "HIT",
                                        "MISS",
                                        "L1",
                                        "LFB/MAB",
                                        "L2",
                                        "L3",
                                        "Local RAM",
                                        "Remote RAM (1 hop)",
                                        "Remote RAM (2 hops)",
                                        "Remote Cache (1 hop)",
                                        "Remote Cache (2 hops)",
                                        "I/O",
                                        "Uncached"};
constexpr std::string_view kSnoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
constexpr std::string_view kTlbs[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
constexpr std::string_view kHops[] = {"N/A", "core, same node", "node, same socket",
                                      "socket, same board", "board"};

// A value's index in each of these is what memory_aspect_value returns.
constexpr std::string_view kOpValues[] = {"Load", "Store", "Ld+St", "Pfetch", "Exec", "Other"};
constexpr std::string_view kCacheValues[] = {"L1", "L2", "L3", "L4", "L1-buf", "L2-buf", "Other"};
constexpr std::string_view kMemoryValues[] = {"RAM", "MSC", "Uncach", "CXL", "IO", "PMEM", "Other"};
constexpr std::string_view kSnoopValues[] = {"Hit", "HitM", "Miss", "Other"};
constexpr std::string_view kTlbValues[] = {"L1-Hit", "L2-Hit", "L?-Hit", "Miss", "Other"};

constexpr MemoryAspectText kAspects[kMemoryAspects] = {
    {"op", "Mem Op", kOpValues},         {"cache", "Cache", kCacheValues},
    {"memory", "Memory", kMemoryValues}, {"snoop", "Snoop", kSnoopValues},
    {"dtlb", "D-TLB", kTlbValues},
};

/// The index of the first value, or that of "Other", the last one.
template <size_t kCount>
size_t index_of(uint64_t value, const uint64_t (&values)[kCount]) {
  for (size_t i = 0; i < kCount; ++i)
    if (values[i] == value) return i;
  return kCount;
}

size_t op_value(uint64_t ops) {
  constexpr uint64_t kLoad = 2, kStore = 4, kPrefetch = 8, kExec = 16;
  size_t exact = index_of(ops, {kLoad, kStore, kLoad | kStore});
  if (exact < 3) return exact;
  return (ops & kPrefetch) != 0 ? 3 : (ops & kExec) != 0 ? 4 : 5;
}

size_t tlb_value(uint64_t tlb) {
  constexpr uint64_t kHit = 2, kMiss = 4, kL1 = 8, kL2 = 16;
  size_t exact = index_of(tlb, {kHit | kL1, kHit | kL2, kHit | kL1 | kL2});
  if (exact < 3) return exact;
  return (tlb & kMiss) != 0 ? 3 : 4;
}

/// Names of the set bits among `names`, from bit `from` on.
std::string joined(uint64_t value, std::span<const std::string_view> names, size_t from,
                   std::string_view separator) {
  std::string text;
  for (size_t i = from; i < names.size(); ++i) {
    if ((value >> i & 1) == 0) continue;
    if (!text.empty()) text += separator;
    text += names[i];
  }
  return text;
}

std::string level_number(uint64_t number) {
  switch (number) {
    case 0x9:
      return "CXL";
    case 0xa:
      return "I/O";
    case 0xb:
      return "Any cache";
    case 0xc:
      return "LFB/MAB";
    case 0xd:
      return "RAM";
    case 0xe:
      return "PMEM";
    case 0xf:
      return "N/A";
    default:
      return fmt::format("L{}", number);
  }
}

}  // namespace

std::string memory_op_text(uint64_t data_src) {
  std::string text = joined(bits(data_src, 0, 5), kOps, 1, "");
  return text.empty() ? "N/A" : text;
}

std::string memory_level_text(uint64_t data_src) {
  constexpr uint64_t kHit = 2;
  constexpr uint64_t kMiss = 4;
  uint64_t level = bits(data_src, 5, 14);
  uint64_t number = bits(data_src, 33, 4);
  uint64_t hops = bits(data_src, 43, 3);
  std::string text;
  if (bits(data_src, 37, 1) != 0) text = "Remote ";
  bool has_hops = hops != 0 && hops < std::size(kHops);
  if (has_hops) text += fmt::format("{} ", kHops[hops]);

  // Both the old bits and the newer number may give the level; both are shown, as in perf. Hops
  // replace the old bits.
  if (has_hops) level &= kHit | kMiss;
  std::string levels = (level & 1) != 0 ? "N/A" : "";
  auto add = [&levels](const std::string& name) {
    if (name.empty()) return;
    if (!levels.empty()) levels += " or ";
    levels += name;
  };
  add(joined(level, kLevels, 3, " or "));
  if (number != 0) add(level_number(number));
  text += levels;
  if (text.empty()) text = "N/A";
  if ((level & kHit) != 0) text += " hit";
  if ((level & kMiss) != 0) text += " miss";
  return text;
}

std::string memory_snoop_text(uint64_t data_src) {
  constexpr uint64_t kForward = 1;
  constexpr uint64_t kPeer = 2;
  std::string text = joined(bits(data_src, 19, 5), kSnoops, 1, " or ");
  uint64_t extended = bits(data_src, 38, 2);
  for (auto [bit, name] : {std::pair(kForward, "Fwd"), std::pair(kPeer, "Peer")})
    if ((extended & bit) != 0) text += (text.empty() ? "" : " or ") + std::string(name);
  return text.empty() ? "N/A" : text;
}

std::string memory_tlb_text(uint64_t data_src) {
  constexpr uint64_t kHit = 2;
  constexpr uint64_t kMiss = 4;
  uint64_t tlb = bits(data_src, 26, 7);
  std::string text = joined(tlb, kTlbs, 3, " or ");
  if (text.empty()) text = "N/A";
  if ((tlb & kHit) != 0) text += " hit";
  if ((tlb & kMiss) != 0) text += " miss";
  return text;
}

std::string memory_lock_text(uint64_t data_src) {
  uint64_t lock = bits(data_src, 24, 2);
  return (lock & 1) != 0 ? "N/A" : (lock & 2) != 0 ? "Yes" : "No";
}

std::string memory_block_text(uint64_t data_src) {
  uint64_t block = bits(data_src, 40, 3);
  std::string text;
  if ((block & 2) != 0) text += " Data";
  if ((block & 4) != 0) text += " Addr";
  return text.empty() ? " N/A" : text;
}

std::string data_source_text(uint64_t data_src) {
  return fmt::format("|OP {}|LVL {}|SNP {}|TLB {}|LCK {}|BLK {}", memory_op_text(data_src),
                     memory_level_text(data_src), memory_snoop_text(data_src),
                     memory_tlb_text(data_src), memory_lock_text(data_src),
                     memory_block_text(data_src));
}

const MemoryAspectText& memory_aspect_text(MemoryAspect aspect) {
  return kAspects[static_cast<size_t>(aspect)];
}

size_t memory_aspect_value(MemoryAspect aspect, uint64_t data_src) {
  constexpr uint64_t kSnoopHit = 4, kSnoopMiss = 8, kSnoopHitModified = 16;
  uint64_t level = bits(data_src, 33, 4);  // PERF_MEM_LVLNUM_*
  switch (aspect) {
    case MemoryAspect::kOperation:
      return op_value(bits(data_src, 0, 5));
    case MemoryAspect::kCache:
      return index_of(level, {1, 2, 3, 4, 0xc, 5});
    case MemoryAspect::kMemory:
      return index_of(level, {0xd, 6, 8, 9, 0xa, 0xe});
    case MemoryAspect::kSnoop:
      return index_of(bits(data_src, 19, 5), {kSnoopHit, kSnoopHitModified, kSnoopMiss});
    case MemoryAspect::kTlb:
      return tlb_value(bits(data_src, 26, 7));
  }
  return 0;
}

}  // namespace sonde::abi
