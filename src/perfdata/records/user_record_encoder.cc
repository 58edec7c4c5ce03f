#include <bit>

#include "perfdata/records/attr_codec.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// Encodes a payload with `put` and frames it; leaves `out` alone if it is too long.
template <typename Put>
bool framed(uint32_t type, uint16_t misc, ByteBuilder& out, Put put) {
  ByteBuilder payload(out.order());
  put(payload);
  return encode_raw(type, misc, payload.view(), out);
}

void put_fixed_string(std::string_view text, size_t size, ByteBuilder& out) {
  text = text.substr(0, size - 1);
  out.text(text);
  out.zeros(size - text.size());
}

void put_cpu_map(const CpuMapRecord& map, ByteBuilder& out) {
  constexpr uint16_t kListOfCpus = 0;
  constexpr size_t kTypeAndCount = 4;
  size_t size = kTypeAndCount + map.cpus.size() * 2;
  out.u16(kListOfCpus);
  out.u16(static_cast<uint16_t>(map.cpus.size()));
  for (int cpu : map.cpus) out.u16(static_cast<uint16_t>(cpu));
  out.zeros((8 - size % 8) % 8);
}

}  // namespace

bool encode(const HeaderAttrRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordHeaderAttr, 0, out, [&](ByteBuilder& payload) {
    encode_attr(record.attr, record.attr.size, payload);
    put_words(record.ids, payload);
  });
}

bool encode(const EventTypeRecord& record, ByteBuilder& out) {
  constexpr size_t kNameSize = 64;
  return framed(abi::kRecordHeaderEventType, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.id);
    put_fixed_string(record.name, kNameSize, payload);
  });
}

bool encode(const TracingDataRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordHeaderTracingData, 0, out, [&](ByteBuilder& payload) {
    payload.u32(record.size);
    payload.u32(0);
  });
}

bool encode(const IdIndexRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordIdIndex, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.size());
    put_words(record.entries, payload);
    put_words(record.guests, payload);
  });
}

bool encode(const AuxtraceInfoRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordAuxtraceInfo, 0, out, [&](ByteBuilder& payload) {
    payload.u32(record.type);
    payload.u32(0);
    put_words(record.priv, payload);
  });
}

bool encode(const AuxtraceRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordAuxtrace, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.size);
    payload.u64(record.offset);
    payload.u64(record.reference);
    payload.u32(record.index);
    payload.u32(record.tid);
    payload.u32(record.cpu);
    payload.u32(0);
  });
}

bool encode(const AuxtraceErrorRecord& record, ByteBuilder& out) {
  constexpr size_t kMessageSize = 64;
  return framed(abi::kRecordAuxtraceError, 0, out, [&](ByteBuilder& payload) {
    payload.u32(record.type);
    payload.u32(record.code);
    payload.u32(record.cpu);
    payload.u32(record.pid);
    payload.u32(record.tid);
    payload.u32(record.format);
    payload.u64(record.ip);
    // Format 0 had no time, format 1 no guest.
    if (record.format != 0) payload.u64(record.time);
    put_fixed_string(record.message, kMessageSize, payload);
    if (record.format < 2) return;
    payload.u32(record.machine_pid);
    payload.u32(record.vcpu);
  });
}

bool encode(const ThreadMapRecord& record, ByteBuilder& out) {
  constexpr size_t kCommSize = 16;
  return framed(abi::kRecordThreadMap, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.threads.size());
    for (const ThreadMapRecord::Entry& thread : record.threads) {
      payload.u64(thread.tid);
      put_fixed_string(thread.comm, kCommSize, payload);
    }
  });
}

bool encode(const CpuMapRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordCpuMap, 0, out,
                [&](ByteBuilder& payload) { put_cpu_map(record, payload); });
}

bool encode(const StatConfigRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordStatConfig, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.terms.size() / 2);
    put_words(record.terms, payload);
  });
}

bool encode(const StatRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordStat, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.id);
    payload.u32(record.cpu);
    payload.u32(record.thread);
    payload.u64(record.value);
    payload.u64(record.enabled);
    payload.u64(record.running);
  });
}

bool encode(const StatRoundRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordStatRound, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.type);
    payload.u64(record.time);
  });
}

bool encode(const EventUpdateRecord& record, ByteBuilder& out) {
  // perf reserves the size of its largest variant after the two variants with text or number.
  constexpr size_t kPerfsSlack = 16;
  return framed(abi::kRecordEventUpdate, 0, out, [&](ByteBuilder& payload) {
    payload.u64(static_cast<uint64_t>(record.kind));
    payload.u64(record.id);
    switch (record.kind) {
      case EventUpdateKind::kUnit:
      case EventUpdateKind::kName:
        payload.padded_string(record.text, 8);
        payload.zeros(kPerfsSlack);
        break;
      case EventUpdateKind::kScale:
        payload.u64(std::bit_cast<uint64_t>(record.scale));
        payload.zeros(kPerfsSlack);
        break;
      case EventUpdateKind::kCpus:
        put_cpu_map(record.cpus, payload);
        break;
      case EventUpdateKind::kInterpretedFiles:
        payload.bytes(record.files);
        break;
    }
  });
}

bool encode(const TimeConvRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordTimeConv, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.shift);
    payload.u64(record.multiplier);
    payload.u64(record.zero);
    if (!record.has_cycles) return;
    payload.u64(record.cycles);
    payload.u64(record.mask);
    payload.u8(record.cap_user_time_zero);
    payload.u8(record.cap_user_time_short);
    payload.zeros(6);
  });
}

bool encode(const HeaderFeatureRecord& record, ByteBuilder& out) {
  return framed(abi::kRecordHeaderFeature, 0, out, [&](ByteBuilder& payload) {
    payload.u64(record.feature);
    payload.bytes(record.content);
  });
}

bool encode(const BpfMetadataRecord& record, ByteBuilder& out) {
  constexpr size_t kProgramSize = 512, kKeySize = 64, kValueSize = 256;
  return framed(abi::kRecordBpfMetadata, 0, out, [&](ByteBuilder& payload) {
    put_fixed_string(record.program, kProgramSize, payload);
    payload.u64(record.entries.size());
    for (const auto& [key, value] : record.entries) {
      put_fixed_string(key, kKeySize, payload);
      put_fixed_string(value, kValueSize, payload);
    }
  });
}

bool encode(const BuildIdEntry& entry, uint32_t type, ByteBuilder& out) {
  constexpr size_t kRoom = 20, kPathAlignment = 64;
  std::string_view id = std::string_view(entry.build_id).substr(0, kRoom);
  return framed(type, entry.misc | kMiscBuildIdSize, out, [&](ByteBuilder& payload) {
    payload.u32(static_cast<uint32_t>(entry.pid));
    payload.text(id);
    payload.zeros(kRoom - id.size());
    payload.u8(static_cast<uint8_t>(id.size()));
    payload.zeros(3);
    payload.padded_string(entry.path, kPathAlignment);
    if (!entry.file.known()) return;
    payload.u64(kFileIdentityMagic);
    payload.u32(entry.file.major);
    payload.u32(entry.file.minor);
    payload.u64(entry.file.inode);
  });
}

void encode_empty(uint32_t type, ByteBuilder& out) {
  encode_raw(type, 0, {}, out);
}

}  // namespace sonde
