#include "unwind/return_address.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace sonde {
namespace {

uint8_t byte_at(Bytes bytes, size_t index) {
  return std::to_integer<uint8_t>(bytes[index]);
}

bool begins_with(Bytes bytes, std::span<const uint8_t> wanted) {
  return bytes.size() >= wanted.size() &&
         std::memcmp(bytes.data(), wanted.data(), wanted.size()) == 0;
}

/// Bytes of `call *OPERAND` (FF /2), from FF on; 0 if this is none.
size_t indirect_call_bytes(Bytes code) {
  constexpr uint8_t kOpcode = 0xff;
  if (code.size() < 2 || byte_at(code, 0) != kOpcode) return 0;
  uint8_t operand = byte_at(code, 1);
  unsigned mode = operand >> 6, extension = (operand >> 3) & 7u, base = operand & 7u;
  if (extension != 2) return 0;
  if (mode == 3) return 2;
  size_t size = 2;
  if (base == 4) {  // a SIB byte, whose own base may be a displacement
    if (code.size() < 3) return 0;
    base = byte_at(code, 2) & 7u;
    ++size;
  }
  constexpr size_t kShort = 1, kLong = 4;
  if (mode == 1) return size + kShort;
  if (mode == 2 || base == 5) return size + kLong;
  return size;
}

/// A call in front of the address.
bool follows_call_on_x86(Bytes before) {
  constexpr size_t kDirectBytes = 5;
  constexpr uint8_t kDirect = 0xe8;
  if (before.size() >= kDirectBytes && byte_at(before, before.size() - kDirectBytes) == kDirect)
    return true;
  for (size_t size = 2; size <= std::min(before.size(), kCallBytes); ++size)
    if (indirect_call_bytes(before.last(size)) == size) return true;
  return false;
}

/// To where a signal's handler returns: rt_sigreturn (`mov $15,%rax; syscall`).
bool is_signal_return_on_x86(Bytes after) {
  constexpr std::array<uint8_t, 9> kReturn = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
  return begins_with(after, kReturn);
}

/// Go's runtime.goexit, to whose second instruction the first function of a goroutine returns: nop,
/// then a call.
bool is_end_of_goroutine_on_x86(Bytes before, Bytes after) {
  constexpr uint8_t kNop = 0x90, kCall = 0xe8;
  return !before.empty() && !after.empty() && byte_at(before, before.size() - 1) == kNop &&
         byte_at(after, 0) == kCall;
}

uint32_t word_at(Bytes bytes, size_t index) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + index, sizeof word);
  return word;
}

/// BL, BLR, and BLRAA and the like, which check a signature.
bool is_call_on_arm64(uint32_t instruction) {
  return (instruction & 0xfc000000u) == 0x94000000u || (instruction & 0xfffffc1fu) == 0xd63f0000u ||
         (instruction & 0xfefff800u) == 0xd63f0800u;
}

bool can_return_to_on_arm64(Bytes before, Bytes after) {
  constexpr size_t kWord = sizeof(uint32_t);
  constexpr uint32_t kSignalReturn[] = {0xd2801168u, 0xd4000001u};  // mov x8, #139; svc #0
  constexpr uint32_t kNop = 0xd503201fu;
  if (before.size() >= kWord) {
    uint32_t last = word_at(before, before.size() - kWord);
    if (is_call_on_arm64(last)) return true;
    // runtime.goexit, as above.
    if (last == kNop && after.size() >= kWord && is_call_on_arm64(word_at(after, 0))) return true;
  }
  return after.size() >= 2 * kWord && word_at(after, 0) == kSignalReturn[0] &&
         word_at(after, kWord) == kSignalReturn[1];
}

}  // namespace

bool can_return_to(abi::Arch arch, Bytes before, Bytes after) {
  switch (arch) {
    case abi::Arch::kX86_64:
      return follows_call_on_x86(before) || is_signal_return_on_x86(after) ||
             is_end_of_goroutine_on_x86(before, after);
    case abi::Arch::kArm64:
      return can_return_to_on_arm64(before, after);
    default:
      return true;
  }
}

}  // namespace sonde
