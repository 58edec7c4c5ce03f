#include "perfdata/header/bpf_code.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr size_t kHeader = 16;  // info_len, data_len, arrays
// Offsets in struct bpf_prog_info.
constexpr size_t kCodeLength = 16, kCode = 24;
constexpr size_t kFunctionCount = 104, kLengthCount = 108, kAddresses = 112, kLengths = 120;
constexpr size_t kInfoLeast = 128;

Bytes part(Bytes data, uint64_t offset, uint64_t size) {
  if (offset > data.size() || size > data.size() - offset) return {};
  return data.subspan(offset, size);
}

}  // namespace

Bytes bpf_code(Bytes stored, ByteOrder order, uint64_t address, uint64_t size) {
  if (stored.size() < kHeader) return {};
  size_t info_size = load<uint32_t>(&stored[0], order);
  if (info_size < kInfoLeast || info_size > stored.size() - kHeader) return {};
  Bytes info = stored.subspan(kHeader, info_size);
  Bytes data = stored.subspan(kHeader + info_size);
  uint64_t count = load<uint32_t>(&info[kFunctionCount], order);
  if (count == 0 || count != load<uint32_t>(&info[kLengthCount], order)) return {};
  Bytes addresses = part(data, load<uint64_t>(&info[kAddresses], order), count * 8);
  Bytes lengths = part(data, load<uint64_t>(&info[kLengths], order), count * 4);
  Bytes code =
      part(data, load<uint64_t>(&info[kCode], order), load<uint32_t>(&info[kCodeLength], order));
  if (addresses.empty() || lengths.empty()) return {};
  uint64_t before = 0;  // functions are contiguous
  for (size_t i = 0; i < count; ++i) {
    uint64_t start = load<uint64_t>(&addresses[i * 8], order);
    uint64_t length = load<uint32_t>(&lengths[i * 4], order);
    if (start <= address && address - start < length) {
      uint64_t distance = address - start;
      return part(code, before + distance, std::min(size, length - distance));
    }
    before += length;
  }
  return {};
}

Bytes bpf_code(const Features& features, ByteOrder order, uint64_t address, uint64_t size) {
  for (const BpfProgram& program : features.bpf_programs)
    if (Bytes code = bpf_code(program.info, order, address, size); !code.empty()) return code;
  return {};
}

}  // namespace sonde
