#include <algorithm>
#include <bit>

#include "perfdata/records/attr_codec.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

constexpr size_t kPaddedBuildId = 24;  // 20 bytes, then their count, then padding
constexpr size_t kBuildIdBytes = 20;

ByteCursor payload(const RecordView& record) {
  return ByteCursor(record.payload, record.order);
}

template <typename Record>
std::optional<Record> if_whole(const ByteCursor& in, Record record) {
  if (!in.ok()) return std::nullopt;
  return record;
}

/// All whole words that are left.
WordView rest_as_words(ByteCursor& in) {
  return WordView(in.take(in.left() / 8 * 8), in.order());
}

/// Takes `count` items of `words_each` words; the cursor is not ok if they don't fit.
WordView take_words(ByteCursor& in, uint64_t count, size_t words_each) {
  size_t item_size = words_each * sizeof(uint64_t);
  if (!in.fits(count, item_size)) {
    in.skip(UINT64_MAX);
    return {};
  }
  return WordView(in.take(count * item_size), in.order());
}

bool read_cpu_list(ByteCursor& in, CpuMapRecord& map) {
  uint16_t count = in.u16();
  if (!in.fits(count, sizeof(uint16_t))) return false;
  for (uint16_t i = 0; i < count; ++i)
    map.cpus.push_back(static_cast<int16_t>(in.u16()));  // 0xffff: any CPU
  return in.ok();
}

bool read_cpu_mask(ByteCursor& in, CpuMapRecord& map) {
  uint16_t count = in.u16();
  uint16_t word_size = in.u16();
  if (word_size != 4 && word_size != 8) return false;
  if (word_size == 8) in.skip(4);  // words of eight bytes are aligned
  if (!in.fits(count, word_size)) return false;
  for (int word = 0; word < count; ++word) {
    uint64_t bits = word_size == 4 ? in.u32() : in.u64();
    for (; bits != 0; bits &= bits - 1)
      map.cpus.push_back(word * word_size * 8 + std::countr_zero(bits));
  }
  return in.ok();
}

bool read_cpu_range(ByteCursor& in, CpuMapRecord& map) {
  bool any_cpu = in.u8() != 0;
  in.skip(1);
  int first = in.u16();
  int last = in.u16();
  if (!in.ok()) return false;
  if (any_cpu) map.cpus.push_back(-1);
  for (int cpu = first; cpu <= last; ++cpu) map.cpus.push_back(cpu);
  return true;
}

bool read_cpu_map(ByteCursor& in, CpuMapRecord& map) {
  enum : uint16_t { kList = 0, kMask = 1, kRange = 2 };
  switch (in.u16()) {
    case kList:
      return read_cpu_list(in, map);
    case kMask:
      return read_cpu_mask(in, map);
    case kRange:
      return read_cpu_range(in, map);
    default:
      return false;
  }
}

}  // namespace

std::optional<int> counted_cpu(uint32_t recorded, std::span<const int> map,
                               std::span<const int> own) {
  int cpu = static_cast<int>(recorded);
  auto has = [cpu](std::span<const int> cpus) {
    return std::ranges::find(cpus, cpu) != cpus.end();
  };
  bool has_place = recorded < map.size();
  bool is_number = (has_place && map[recorded] == cpu) || has(map) || has(own);
  if (is_number) return cpu;
  if (has_place) return map[recorded];
  return std::nullopt;
}

template <>
std::optional<HeaderAttrRecord> decode_user(const RecordView& record) {
  auto attr = decode_attr(record.payload, record.order);
  if (!attr || attr->size > record.payload.size()) return std::nullopt;
  ByteCursor in = payload(record);
  in.skip(attr->size);
  return if_whole(in, HeaderAttrRecord{*attr, rest_as_words(in)});
}

template <>
std::optional<EventTypeRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  uint64_t id = in.u64();
  return if_whole(in, EventTypeRecord{id, in.fixed_string(in.left())});
}

template <>
std::optional<TracingDataRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  TracingDataRecord tracing{in.u32()};
  return if_whole(in, tracing);
}

template <>
std::optional<IdIndexRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  IdIndexRecord index;
  uint64_t count = in.u64();
  index.entries = take_words(in, count, 4);
  if (in.fits(count, sizeof(IdIndexRecord::Guest))) index.guests = take_words(in, count, 2);
  return if_whole(in, index);
}

template <>
std::optional<AuxtraceInfoRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  AuxtraceInfoRecord info{};
  info.type = in.u32();
  in.skip(4);
  info.priv = rest_as_words(in);
  return if_whole(in, info);
}

template <>
std::optional<AuxtraceRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  AuxtraceRecord trace{};
  trace.size = in.u64();
  trace.offset = in.u64();
  trace.reference = in.u64();
  trace.index = in.u32();
  trace.tid = in.u32();
  trace.cpu = in.u32();
  return if_whole(in, trace);
}

template <>
std::optional<AuxtraceErrorRecord> decode_user(const RecordView& record) {
  constexpr size_t kMessageSize = 64;
  ByteCursor in = payload(record);
  AuxtraceErrorRecord error{};
  error.type = in.u32();
  error.code = in.u32();
  error.cpu = in.u32();
  error.pid = in.u32();
  error.tid = in.u32();
  error.format = in.u32();
  error.ip = in.u64();
  if (error.format != 0) {
    error.time = in.u64();
    error.message = in.fixed_string(std::min(kMessageSize, in.left()));
  } else {  // the first format had no time
    error.message = in.fixed_string(std::min(kMessageSize, in.left()));
  }
  if (error.format >= 2 && in.left() >= 8) {
    error.machine_pid = in.u32();
    error.vcpu = in.u32();
  }
  return if_whole(in, error);
}

template <>
std::optional<ThreadMapRecord> decode_user(const RecordView& record) {
  constexpr size_t kCommSize = 16;
  ByteCursor in = payload(record);
  ThreadMapRecord map;
  uint64_t count = in.u64();
  if (!in.fits(count, sizeof(uint64_t) + kCommSize)) return std::nullopt;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t tid = in.u64();
    map.threads.push_back({tid, in.fixed_string(kCommSize)});
  }
  return if_whole(in, std::move(map));
}

template <>
std::optional<CpuMapRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  CpuMapRecord map;
  if (!read_cpu_map(in, map)) return std::nullopt;
  return map;
}

template <>
std::optional<StatConfigRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  uint64_t count = in.u64();
  return if_whole(in, StatConfigRecord{take_words(in, count, 2)});
}

template <>
std::optional<StatRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  StatRecord stat{};
  stat.id = in.u64();
  stat.cpu = in.u32();
  stat.thread = in.u32();
  stat.value = in.u64();
  stat.enabled = in.u64();
  stat.running = in.u64();
  return if_whole(in, stat);
}

template <>
std::optional<StatRoundRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  StatRoundRecord round{};
  round.type = in.u64();
  round.time = in.u64();
  return if_whole(in, round);
}

template <>
std::optional<EventUpdateRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  EventUpdateRecord update{};
  update.kind = static_cast<EventUpdateKind>(in.u64());
  update.id = in.u64();
  switch (update.kind) {
    case EventUpdateKind::kUnit:
    case EventUpdateKind::kName:
      update.text = in.fixed_string(in.left());
      break;
    case EventUpdateKind::kScale:
      update.scale = std::bit_cast<double>(in.u64());
      break;
    case EventUpdateKind::kCpus:
      if (!read_cpu_map(in, update.cpus)) return std::nullopt;
      break;
    case EventUpdateKind::kInterpretedFiles:
      update.files = in.take(in.left());
      break;
    default:
      return std::nullopt;
  }
  return if_whole(in, std::move(update));
}

template <>
std::optional<TimeConvRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  TimeConvRecord conv{};
  conv.shift = in.u64();
  conv.multiplier = in.u64();
  conv.zero = in.u64();
  conv.has_cycles = in.left() >= 2 * sizeof(uint64_t) + 2;
  if (conv.has_cycles) {
    conv.cycles = in.u64();
    conv.mask = in.u64();
    conv.cap_user_time_zero = in.u8();
    conv.cap_user_time_short = in.u8();
  }
  return if_whole(in, conv);
}

template <>
std::optional<HeaderFeatureRecord> decode_user(const RecordView& record) {
  ByteCursor in = payload(record);
  uint64_t feature = in.u64();
  return if_whole(in, HeaderFeatureRecord{feature, in.rest()});
}

template <>
std::optional<BpfMetadataRecord> decode_user(const RecordView& record) {
  constexpr size_t kNameSize = 512, kKeySize = 64, kValueSize = 256;
  ByteCursor in = payload(record);
  BpfMetadataRecord metadata;
  metadata.program = in.fixed_string(kNameSize);
  uint64_t count = in.u64();
  if (!in.fits(count, kKeySize + kValueSize)) return std::nullopt;
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view key = in.fixed_string(kKeySize);
    metadata.entries.emplace_back(key, in.fixed_string(kValueSize));
  }
  return if_whole(in, std::move(metadata));
}

std::optional<BuildIdEntry> decode_build_id(const RecordView& record) {
  ByteCursor in = payload(record);
  BuildIdEntry entry;
  entry.pid = static_cast<int32_t>(in.u32());
  Bytes field = in.take(kPaddedBuildId);
  if (!in.ok()) return std::nullopt;
  size_t size = kBuildIdBytes;
  if ((record.misc & kMiscBuildIdSize) != 0)
    size = std::min(std::to_integer<size_t>(field[kBuildIdBytes]), kBuildIdBytes);
  entry.build_id = as_text(field.first(size));
  entry.misc = record.misc & static_cast<uint16_t>(~kMiscBuildIdSize);
  Bytes rest = in.rest();
  std::string_view text = as_text(rest);
  entry.path = text.substr(0, text.find('\0'));
  constexpr size_t kIdentitySize = 24;
  if (rest.size() < entry.path.size() + 1 + kIdentitySize) return entry;
  ByteCursor behind(rest.last(kIdentitySize), in.order());
  if (behind.u64() != kFileIdentityMagic) return entry;
  entry.file.major = behind.u32();
  entry.file.minor = behind.u32();
  entry.file.inode = behind.u64();
  return entry;
}

}  // namespace sonde
