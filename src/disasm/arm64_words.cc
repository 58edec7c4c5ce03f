#include "disasm/arm64_words.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

namespace sonde::disasm {
namespace {

constexpr uint32_t kZeroRegister = 31;

uint32_t bits(uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1u << count) - 1);
}
bool bit(uint32_t word, unsigned at) {
  return (word >> at & 1) != 0;
}

std::string general(uint32_t number, bool is_64_bit) {
  char kind = is_64_bit ? 'x' : 'w';
  return number == kZeroRegister ? fmt::format("{}zr", kind) : fmt::format("{}{}", kind, number);
}
std::string base(uint32_t number) {
  return number == kZeroRegister ? "sp" : fmt::format("x{}", number);
}

/// "al" + "b": memory order, then the width if less than a register's.
std::string endings(bool acquires, bool releases, uint32_t size) {
  constexpr std::array<std::string_view, 4> kWidths = {"b", "h", "", ""};
  return fmt::format("{}{}{}", acquires ? "a" : "", releases ? "l" : "", kWidths[size]);
}

/// CAS, CASP: compare and swap.
std::optional<std::string> compare_and_swap(uint32_t word) {
  bool acquires = bit(word, 22), releases = bit(word, 15);
  uint32_t old = bits(word, 16, 5), at = bits(word, 5, 5), made = bits(word, 0, 5);
  if ((word & 0x3fa07c00) == 0x08a07c00) {
    uint32_t size = bits(word, 30, 2);
    return fmt::format("cas{}\t{}, {}, [{}]", endings(acquires, releases, size),
                       general(old, size == 3), general(made, size == 3), base(at));
  }
  if ((word & 0xbfa07c00) != 0x08207c00 || old % 2 != 0 || made % 2 != 0) return std::nullopt;
  bool wide = bit(word, 30);
  return fmt::format("casp{}\t{}, {}, {}, {}, [{}]", endings(acquires, releases, 2),
                     general(old, wide), general(old + 1, wide), general(made, wide),
                     general(made + 1, wide), base(at));
}

/// LD<op>, its alias ST<op> if the old value is discarded, SWP, LDAPR.
std::optional<std::string> atomic(uint32_t word) {
  constexpr std::array<std::string_view, 8> kOperations = {"add",  "clr",  "eor",  "set",
                                                           "smax", "smin", "umax", "umin"};
  if ((word & 0x3f200c00) != 0x38200000) return std::nullopt;
  uint32_t size = bits(word, 30, 2), operation = bits(word, 12, 3);
  bool acquires = bit(word, 23), releases = bit(word, 22), wide = size == 3;
  std::string with = general(bits(word, 16, 5), wide), to = general(bits(word, 0, 5), wide);
  std::string at = base(bits(word, 5, 5));
  if (!bit(word, 15)) {
    if (!acquires && bits(word, 0, 5) == kZeroRegister)
      return fmt::format("st{}{}\t{}, [{}]", kOperations[operation], endings(false, releases, size),
                         with, at);
    return fmt::format("ld{}{}\t{}, {}, [{}]", kOperations[operation],
                       endings(acquires, releases, size), with, to, at);
  }
  if (operation == 0)
    return fmt::format("swp{}\t{}, {}, [{}]", endings(acquires, releases, size), with, to, at);
  if (operation == 4 && acquires && !releases && bits(word, 16, 5) == kZeroRegister)
    return fmt::format("ldapr{}\t{}, [{}]", endings(false, false, size), to, at);
  return std::nullopt;
}

std::optional<std::string> hint(uint32_t word) {
  if ((word & 0xfffff01f) != 0xd503201f) return std::nullopt;
  switch (bits(word, 5, 7)) {
#define NAME(number, text) \
  case number:             \
    return text
    NAME(0x00, "nop");
    NAME(0x01, "yield");
    NAME(0x02, "wfe");
    NAME(0x03, "wfi");
    NAME(0x04, "sev");
    NAME(0x05, "sevl");
    NAME(0x06, "dgh");
    NAME(0x07, "xpaclri");
    NAME(0x08, "pacia1716");
    NAME(0x0a, "pacib1716");
    NAME(0x0c, "autia1716");
    NAME(0x0e, "autib1716");
    NAME(0x10, "esb");
    NAME(0x11, "psb\tcsync");
    NAME(0x12, "tsb\tcsync");
    NAME(0x14, "csdb");
    NAME(0x18, "paciaz");
    NAME(0x19, "paciasp");
    NAME(0x1a, "pacibz");
    NAME(0x1b, "pacibsp");
    NAME(0x1c, "autiaz");
    NAME(0x1d, "autiasp");
    NAME(0x1e, "autibz");
    NAME(0x1f, "autibsp");
    NAME(0x20, "bti");
    NAME(0x22, "bti\tc");
    NAME(0x24, "bti\tj");
    NAME(0x26, "bti\tjc");
#undef NAME
    default:
      return std::nullopt;
  }
}

std::string move(std::string_view to, uint64_t value) {
  return fmt::format("mov\t{}, #{:#x}", to, value);
}

/// MOVZ and MOVN: 16 bits, shifted.
std::optional<std::string> move_wide(uint32_t word) {
  uint32_t kind = word & 0x7f800000;
  if (kind != 0x52800000 && kind != 0x12800000) return std::nullopt;
  bool wide = bit(word, 31), is_inverted = kind == 0x12800000;
  uint32_t shift = 16 * bits(word, 21, 2), immediate = bits(word, 5, 16);
  if ((!wide && shift > 16) || (immediate == 0 && shift != 0)) return std::nullopt;
  if (is_inverted && !wide && immediate == 0xffff) return std::nullopt;
  uint64_t value = uint64_t{immediate} << shift;
  if (is_inverted) value = ~value;
  return move(general(bits(word, 0, 5), wide), wide ? value : static_cast<uint32_t>(value));
}

/// The mask encoded by N:imms:immr (DecodeBitMasks): ones, rotated, in equal elements.
std::optional<uint64_t> bit_mask(bool n, uint32_t ones, uint32_t rotation, bool wide) {
  uint32_t marks = (n ? 64u : 0u) | (~ones & 63u);
  if (marks < 2) return std::nullopt;
  unsigned size = std::bit_floor(marks);
  if (size == 64 && !wide) return std::nullopt;
  unsigned count = (ones & (size - 1)) + 1, turn = rotation & (size - 1);
  if (count == size) return std::nullopt;
  uint64_t element = (uint64_t{1} << count) - 1;
  uint64_t all = size == 64 ? UINT64_MAX : (uint64_t{1} << size) - 1;
  if (turn != 0) element = (element >> turn | element << (size - turn)) & all;
  for (unsigned width = size; width < 64; width *= 2) element |= element << width;
  return wide ? element : static_cast<uint32_t>(element);
}

bool is_16_bits_shifted(uint64_t value, bool wide) {
  for (unsigned shift = 0; shift < (wide ? 64 : 32); shift += 16)
    if ((value & ~(uint64_t{0xffff} << shift)) == 0) return true;
  return false;
}

/// ORR of a mask and zero; what movz or movn can express keeps its name.
std::optional<std::string> move_mask(uint32_t word) {
  bool wide = bit(word, 31);
  if ((word & 0x7f800000) != 0x32000000 || bits(word, 5, 5) != kZeroRegister) return std::nullopt;
  auto mask = bit_mask(bit(word, 22), bits(word, 10, 6), bits(word, 16, 6), wide);
  if (!mask) return std::nullopt;
  uint64_t inverted = wide ? ~*mask : static_cast<uint32_t>(~*mask);
  if (is_16_bits_shifted(*mask, wide) || is_16_bits_shifted(inverted, wide)) return std::nullopt;
  uint32_t to = bits(word, 0, 5);
  if (to == kZeroRegister) return move(wide ? "sp" : "wsp", *mask);
  return move(general(to, wide), *mask);
}

}  // namespace

std::optional<std::string> arm64_word(uint32_t word) {
  for (auto* known : {compare_and_swap, atomic, hint, move_wide, move_mask})
    if (auto text = known(word)) return text;
  return std::nullopt;
}

}  // namespace sonde::disasm
