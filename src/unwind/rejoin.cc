#include "unwind/rejoin.h"

#include "perfdata/header/features.h"
#include "unwind/stack_unwinder.h"

namespace sonde {
namespace {

/// Register numbers of perf_regs.h.
struct Pointers {
  uint32_t frame, stack;
};
constexpr Pointers kX86{6, 7};
constexpr Pointers kArm64{29, 31};

}  // namespace

std::span<const uint64_t> rest_of_chain(const Sample& sample, abi::Arch arch,
                                        uint64_t last_stack_pointer,
                                        std::span<const uint64_t> frame_pointers) {
  bool is_arm = arch == abi::Arch::kArm64;
  if (!is_arm && arch != abi::Arch::kX86_64 && arch != abi::Arch::kX86) return {};
  const Pointers& pointers = is_arm ? kArm64 : kX86;
  bool is_narrow = sample.regs_user.abi == abi::kRegsAbi32;
  uint64_t word_bytes = is_narrow ? 4 : 8;
  std::optional<uint64_t> stack = sample.regs_user.get(pointers.stack);
  std::optional<uint64_t> frame = sample.regs_user.get(pointers.frame);
  if (!stack || !frame || *frame < *stack) return {};
  auto word_at = [&](uint64_t address) -> std::optional<uint64_t> {
    uint64_t offset = address - *stack;
    if (offset > sample.stack_user.size() || sample.stack_user.size() - offset < word_bytes)
      return std::nullopt;
    const std::byte* at = sample.stack_user.data() + offset;
    return is_narrow ? load<uint32_t>(at, sample.order) : load<uint64_t>(at, sample.order);
  };
  // The first address is the sample's own ip.
  for (size_t i = 1; i < frame_pointers.size(); ++i) {
    if (*frame >= last_stack_pointer) return frame_pointers.subspan(i);
    std::optional<uint64_t> next = word_at(*frame), back = word_at(*frame + word_bytes);
    if (!next || !back || (*back & kUserAddressBits) != (frame_pointers[i] & kUserAddressBits) ||
        *next <= *frame)
      return {};
    frame = next;
  }
  return {};
}

std::span<const uint64_t> rest_of_walked(std::span<const uint64_t> unwound,
                                         std::span<const uint64_t> walked) {
  bool is_in_loop = false;  // of an interpreter, whose frames are not in `walked`
  for (uint64_t address : unwound) {
    bool is_interpreted = !walked.empty() && walked.front() >= kInterpretedBase;
    if (!walked.empty() && walked.front() == address) {
      walked = walked.subspan(1);
      is_in_loop = false;
    } else if (is_interpreted) {
      while (!walked.empty() && walked.front() >= kInterpretedBase) walked = walked.subspan(1);
      is_in_loop = true;
    } else if (!is_in_loop) {
      return {};
    }
  }
  return walked;
}

}  // namespace sonde
