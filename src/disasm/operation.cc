#include "disasm/operation.h"

#include "disasm/arm64_operation.h"
#include "disasm/x86_operation.h"

namespace sonde::disasm {
namespace {

constexpr uint64_t bits(std::initializer_list<unsigned> registers) {
  uint64_t mask = 0;
  for (unsigned reg : registers) mask |= uint64_t{1} << reg;
  return mask;
}

// System V ABI, AMD64 supplement, figure 3.4: rax, rdx, rcx, rsi, rdi and r8 to r11; section 3.2.3.
constexpr CallingConvention kX86_64{.stack_pointer = 7,
                                    .result = 0,
                                    .result_place = 5,
                                    .returns_place = true,
                                    .largest_result = 16,
                                    .lost_in_calls = bits({0, 1, 2, 4, 5, 8, 9, 10, 11}),
                                    .stack_at_entry = -8,
                                    .pointer_size = 8};
// Intel386 supplement: eax, ecx, edx.
constexpr CallingConvention kX86{.stack_pointer = 4,
                                 .result = 0,
                                 .result_place = kNoRegister,
                                 .returns_place = false,
                                 .largest_result = 0,
                                 .lost_in_calls = bits({0, 1, 2}),
                                 .stack_at_entry = -4,
                                 .pointer_size = 4};
// Procedure Call Standard for the Arm 64-bit Architecture, section 6.1: x0 to x18, x30; 6.9.
constexpr CallingConvention kArm64{.stack_pointer = 31,
                                   .result = 0,
                                   .result_place = 8,
                                   .returns_place = false,
                                   .largest_result = 16,
                                   .lost_in_calls = 0x7ffff | uint64_t{1} << 30,
                                   .stack_at_entry = 0,
                                   .pointer_size = 8};

}  // namespace

struct OperationDecoder::State {
  std::optional<X86Operations> x86;
  std::optional<Arm64Operations> arm64;
  const CallingConvention* convention = nullptr;
};

OperationDecoder::OperationDecoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
OperationDecoder::OperationDecoder(OperationDecoder&&) noexcept = default;
OperationDecoder& OperationDecoder::operator=(OperationDecoder&&) noexcept = default;
OperationDecoder::~OperationDecoder() = default;

Result<OperationDecoder> OperationDecoder::make(abi::Arch arch, bool is_64_bit) {
  auto state = std::make_unique<State>();
  switch (arch) {
    case abi::Arch::kX86:
    case abi::Arch::kX86_64:
      state->x86.emplace(is_64_bit);
      state->convention = is_64_bit ? &kX86_64 : &kX86;
      break;
    case abi::Arch::kArm64:
      state->arm64 = TRY(Arm64Operations::make());
      state->convention = &kArm64;
      break;
    default:
      return fail(ErrorCode::kUnsupported,
                  "code for this machine is not decoded, only x86 and arm64");
  }
  return OperationDecoder(std::move(state));
}

Operation OperationDecoder::decode(Bytes bytes, uint64_t address) const {
  if (bytes.empty()) return {};
  return state_->x86 ? state_->x86->decode(bytes, address) : state_->arm64->decode(bytes, address);
}

const CallingConvention& OperationDecoder::convention() const {
  return *state_->convention;
}

}  // namespace sonde::disasm
