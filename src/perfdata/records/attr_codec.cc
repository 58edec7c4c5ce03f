#include "perfdata/records/attr_codec.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace sonde {
namespace {

constexpr uint8_t kFlagWidths[] = {
#define ATTR_FLAG(name) 1,
#define ATTR_FLAG_BITS(name, bits) bits,
#include "abi/attr_flags.def"
#undef ATTR_FLAG
#undef ATTR_FLAG_BITS
};
constexpr size_t kSizeField = 4;  // offset of attr.size
constexpr uint32_t kAuxActionBits = 3;

/// aux_start_paused, aux_pause, aux_resume: three one-bit fields of a 32-bit word.
uint32_t mirror_aux_action(uint32_t word, bool from_big) {
  uint32_t mirrored = 0;
  for (uint32_t bit = 0; bit < kAuxActionBits; ++bit) {
    uint32_t from = from_big ? 31 - bit : bit;
    uint32_t to = from_big ? bit : 31 - bit;
    mirrored |= ((word >> from) & 1) << to;
  }
  return mirrored;
}

}  // namespace

uint64_t attr_flag_word(const abi::EventAttr& attr, ByteOrder order) {
  uint64_t word = 0;
  uint32_t shift = 0;
#define ATTR_FLAG(name)                              \
  word |= static_cast<uint64_t>(attr.name) << shift; \
  shift += 1;
#define ATTR_FLAG_BITS(name, bits)                   \
  word |= static_cast<uint64_t>(attr.name) << shift; \
  shift += bits;
#include "abi/attr_flags.def"
#undef ATTR_FLAG
#undef ATTR_FLAG_BITS
  return order == ByteOrder::kBig ? mirror_bit_fields(word, kFlagWidths, false) : word;
}

void set_attr_flag_word(abi::EventAttr& attr, uint64_t word, ByteOrder order) {
  if (order == ByteOrder::kBig) word = mirror_bit_fields(word, kFlagWidths, true);
#define ATTR_FLAG(name)  \
  attr.name = word & 1u; \
  word >>= 1;
#define ATTR_FLAG_BITS(name, bits)                  \
  attr.name = word & ((uint64_t{1} << (bits)) - 1); \
  word >>= bits;
#include "abi/attr_flags.def"
#undef ATTR_FLAG
#undef ATTR_FLAG_BITS
}

std::optional<abi::EventAttr> decode_attr(Bytes bytes, ByteOrder order) {
  if (bytes.size() < abi::kAttrSizeVer0) return std::nullopt;
  uint32_t size = load<uint32_t>(bytes.data() + kSizeField, order);
  if (size == 0) size = abi::kAttrSizeVer0;
  if (size < abi::kAttrSizeVer0) return std::nullopt;

  std::array<std::byte, abi::kAttrSizeVer8> known{};
  std::ranges::copy(bytes.first(std::min<size_t>({size, bytes.size(), known.size()})),
                    known.begin());
  ByteCursor in(known, order);
  abi::EventAttr attr;
  attr.type = in.u32();
  in.u32();
  attr.size = size;
  attr.config = in.u64();
  attr.sample_period = in.u64();
  attr.sample_type = in.u64();
  attr.read_format = in.u64();
  set_attr_flag_word(attr, in.u64(), order);
  attr.wakeup_events = in.u32();
  attr.bp_type = in.u32();
  attr.bp_addr = in.u64();
  attr.bp_len = in.u64();
  attr.branch_sample_type = in.u64();
  attr.sample_regs_user = in.u64();
  attr.sample_stack_user = in.u32();
  attr.clockid = static_cast<int32_t>(in.u32());
  attr.sample_regs_intr = in.u64();
  attr.aux_watermark = in.u32();
  attr.sample_max_stack = in.u16();
  attr.reserved_2 = in.u16();
  attr.aux_sample_size = in.u32();
  attr.aux_action = in.u32();
  if (order == ByteOrder::kBig) attr.aux_action = mirror_aux_action(attr.aux_action, true);
  attr.sig_data = in.u64();
  attr.config3 = in.u64();
  CHECK(in.ok() && in.left() == 0);
  return attr;
}

void encode_attr(const abi::EventAttr& attr, uint32_t size, ByteBuilder& out) {
  ByteBuilder whole(out.order());
  whole.u32(attr.type);
  whole.u32(size);
  whole.u64(attr.config);
  whole.u64(attr.sample_period);
  whole.u64(attr.sample_type);
  whole.u64(attr.read_format);
  whole.u64(attr_flag_word(attr, out.order()));
  whole.u32(attr.wakeup_events);
  whole.u32(attr.bp_type);
  whole.u64(attr.bp_addr);
  whole.u64(attr.bp_len);
  whole.u64(attr.branch_sample_type);
  whole.u64(attr.sample_regs_user);
  whole.u32(attr.sample_stack_user);
  whole.u32(static_cast<uint32_t>(attr.clockid));
  whole.u64(attr.sample_regs_intr);
  whole.u32(attr.aux_watermark);
  whole.u16(attr.sample_max_stack);
  whole.u16(attr.reserved_2);
  whole.u32(attr.aux_sample_size);
  whole.u32(out.order() == ByteOrder::kBig ? mirror_aux_action(attr.aux_action, false)
                                           : attr.aux_action);
  whole.u64(attr.sig_data);
  whole.u64(attr.config3);
  CHECK(whole.size() == abi::kAttrSizeVer8);

  size_t known = std::min<size_t>(size, whole.size());
  out.bytes(whole.view().first(known));
  out.zeros(size - known);
}

}  // namespace sonde
