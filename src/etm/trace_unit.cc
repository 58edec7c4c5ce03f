#include "etm/trace_unit.h"

#include <array>

namespace sonde::etm {
namespace {

constexpr uint64_t kMagicEtm3 = 0x3030303030303030;
constexpr uint64_t kMagicEtm4 = 0x4040404040404040;
constexpr uint64_t kMagicEte = 0x5050505050505050;
constexpr size_t kEtm4Registers = 7;  // of version 0 of the header, which doesn't tell
constexpr size_t kTraceIdBits = 0x7f;

// The order of a unit's registers.
enum Register : uint8_t { kConfig, kTraceId, kId0, kId1, kId2, kId8, kAuthStatus, kDevArch };
constexpr size_t kTimeSource = 7, kTimeSourceOfEte = 8;  // not in all files
constexpr uint64_t kVirtualTime = 1;

class Words {
 public:
  explicit Words(std::span<const uint64_t> words) : words_(words) {}
  uint64_t next() {
    if (at_ == words_.size()) return is_short_ = true, 0;
    return words_[at_++];
  }
  std::span<const uint64_t> take(uint64_t count) {
    if (count > words_.size() - at_) return is_short_ = true, std::span<const uint64_t>();
    auto taken = words_.subspan(at_, static_cast<size_t>(count));
    at_ += taken.size();
    return taken;
  }
  [[nodiscard]] bool is_short() const { return is_short_; }

 private:
  std::span<const uint64_t> words_;
  size_t at_ = 0;
  bool is_short_ = false;
};

TraceUnit unit_of(TraceUnit::Kind kind, uint64_t cpu, std::span<const uint64_t> registers) {
  auto at = [&](Register which) {
    return which < registers.size() ? static_cast<uint32_t>(registers[which]) : 0;
  };
  bool is_ete = kind == TraceUnit::Kind::kEte;
  size_t time_source = is_ete ? kTimeSourceOfEte : kTimeSource;
  return {.kind = kind,
          .cpu = static_cast<uint32_t>(cpu),
          .config = at(kConfig),
          .trace_id = static_cast<uint8_t>(at(kTraceId) & kTraceIdBits),
          .id = {at(kId0), at(kId1), at(kId2)},
          .id8 = at(kId8),
          .architecture = is_ete ? at(kDevArch) : 0,
          .has_virtual_times =
              time_source < registers.size() && registers[time_source] == kVirtualTime};
}

}  // namespace

Result<TraceUnits> parse_trace_units(std::span<const uint64_t> words) {
  Words rest(words);
  uint64_t version = rest.next();
  uint64_t pmu_and_count = rest.next();
  TraceUnits found;
  found.pmu_type = static_cast<uint32_t>(pmu_and_count >> 32);
  found.is_snapshot = rest.next() != 0;
  auto count = static_cast<uint32_t>(pmu_and_count);
  for (uint32_t i = 0; i < count && !rest.is_short(); ++i) {
    uint64_t magic = rest.next();
    uint64_t cpu = rest.next();
    if (magic == kMagicEtm3)
      return fail(ErrorCode::kUnsupported,
                  "CPU {} has an ETMv3 or PTM, whose traces are not decoded: only those of ETMv4 "
                  "and ETE",
                  cpu);
    if (!rest.is_short() && magic != kMagicEtm4 && magic != kMagicEte)
      return fail(ErrorCode::kCorrupt, "trace unit {}: unknown magic number {:#x}", i, magic);
    auto registers = rest.take(version == 0 ? kEtm4Registers : rest.next());
    found.units.push_back(unit_of(
        magic == kMagicEte ? TraceUnit::Kind::kEte : TraceUnit::Kind::kEtm4, cpu, registers));
  }
  if (rest.is_short())
    return fail(ErrorCode::kCorrupt, "the record of {} trace units ends within unit {}", count,
                found.units.empty() ? 0 : found.units.size() - 1);
  return found;
}

}  // namespace sonde::etm
