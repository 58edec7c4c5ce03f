#include "dwarf/cfi_expression.h"

#include <dwarf.h>

#include "elf/leb128.h"

namespace sonde {
namespace {

constexpr size_t kMaxStackDepth = 64;
constexpr int kMaxSteps = 1000;  // expressions may jump backwards

class Evaluator {
 public:
  Evaluator(Bytes code, ByteOrder order, uint8_t address_size, const FrameRegisters& registers,
            const FrameMemory& memory)
      : code_(code),
        order_(order),
        address_size_(address_size),
        registers_(registers),
        memory_(memory) {}

  std::optional<uint64_t> run(std::optional<uint64_t> first) {
    if (first) push(*first);
    ByteCursor in(code_, order_);
    for (int step = 0; in.left() > 0; ++step) {
      if (step == kMaxSteps || !execute(in) || !in.ok()) return std::nullopt;
    }
    if (depth_ == 0) return std::nullopt;
    return address_size_ == 4 ? top() & UINT32_MAX : top();
  }

 private:
  bool push(uint64_t value) {
    if (depth_ == kMaxStackDepth) return false;
    stack_[depth_++] = value;
    return true;
  }
  uint64_t& top() { return stack_[depth_ - 1]; }
  [[nodiscard]] bool has(size_t count) const { return depth_ >= count; }

  bool push_register(uint64_t reg, int64_t offset) {
    if (reg >= kUnwindRegisters || !registers_.has(static_cast<uint32_t>(reg))) return false;
    return push(registers_.value[reg] + static_cast<uint64_t>(offset));
  }

  bool load(uint32_t size) {
    if (!has(1) || size == 0 || size > 8) return false;
    std::optional<uint64_t> value = memory_.read(top(), size);
    if (value) top() = *value;
    return value.has_value();
  }

  bool jump(ByteCursor& in, int16_t by) {
    int64_t target = static_cast<int64_t>(in.position()) + by;
    if (target < 0 || target > static_cast<int64_t>(code_.size())) return false;
    in = ByteCursor(code_, order_);
    in.skip(static_cast<uint64_t>(target));
    return true;
  }

  template <typename Operation>
  bool binary(const Operation& operation) {
    if (!has(2)) return false;
    uint64_t right = stack_[--depth_];
    top() = static_cast<uint64_t>(operation(top(), right));
    return true;
  }
  template <typename Operation>
  bool compare(const Operation& operation) {
    return binary([&](uint64_t a, uint64_t b) {
      return operation(static_cast<int64_t>(a), static_cast<int64_t>(b)) ? 1 : 0;
    });
  }

  bool execute(ByteCursor& in) {
    uint8_t op = in.u8();
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) return push(op - DW_OP_lit0);
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
      return push_register(op - DW_OP_breg0, sleb128(in));
    switch (op) {
      case DW_OP_nop:
        return true;
      case DW_OP_bregx: {
        uint64_t reg = uleb128(in);
        return push_register(reg, sleb128(in));
      }
      case DW_OP_deref:
        return load(address_size_);
      case DW_OP_deref_size:
        return load(in.u8());
      case DW_OP_skip:
        return jump(in, static_cast<int16_t>(in.u16()));
      case DW_OP_bra: {
        auto by = static_cast<int16_t>(in.u16());
        if (!has(1)) return false;
        return stack_[--depth_] == 0 || jump(in, by);
      }
      default:
        return execute_constant(in, op);
    }
  }

  bool execute_constant(ByteCursor& in, uint8_t op) {
    switch (op) {
      case DW_OP_const1u:
        return push(in.u8());
      case DW_OP_const1s:
        return push(static_cast<uint64_t>(int64_t{static_cast<int8_t>(in.u8())}));
      case DW_OP_const2u:
        return push(in.u16());
      case DW_OP_const2s:
        return push(static_cast<uint64_t>(int64_t{static_cast<int16_t>(in.u16())}));
      case DW_OP_const4u:
        return push(in.u32());
      case DW_OP_const4s:
        return push(static_cast<uint64_t>(int64_t{static_cast<int32_t>(in.u32())}));
      case DW_OP_const8u:
      case DW_OP_const8s:
        return push(in.u64());
      case DW_OP_constu:
        return push(uleb128(in));
      case DW_OP_consts:
        return push(static_cast<uint64_t>(sleb128(in)));
      default:
        return execute_stack(in, op);
    }
  }

  bool execute_stack(ByteCursor& in, uint8_t op) {
    auto pick = [this](size_t index) { return has(index + 1) && push(stack_[depth_ - 1 - index]); };
    switch (op) {
      case DW_OP_dup:
        return pick(0);
      case DW_OP_over:
        return pick(1);
      case DW_OP_pick:
        return pick(in.u8());
      case DW_OP_drop:
        if (!has(1)) return false;
        --depth_;
        return true;
      case DW_OP_swap:
        if (!has(2)) return false;
        std::swap(stack_[depth_ - 1], stack_[depth_ - 2]);
        return true;
      case DW_OP_rot:
        if (!has(3)) return false;
        std::swap(stack_[depth_ - 1], stack_[depth_ - 2]);
        std::swap(stack_[depth_ - 2], stack_[depth_ - 3]);
        return true;
      default:
        return execute_arithmetic(in, op);
    }
  }

  bool execute_arithmetic(ByteCursor& in, uint8_t op) {
    using U = uint64_t;
    using S = int64_t;
    switch (op) {
      case DW_OP_plus_uconst: {
        uint64_t addend = uleb128(in);
        if (!has(1)) return false;
        top() += addend;
        return true;
      }
      case DW_OP_neg:
        if (has(1)) top() = U{0} - top();
        return has(1);
      case DW_OP_not:
        if (has(1)) top() = ~top();
        return has(1);
      case DW_OP_abs:
        if (has(1) && static_cast<S>(top()) < 0) top() = U{0} - top();
        return has(1);
      case DW_OP_and:
        return binary([](U a, U b) { return a & b; });
      case DW_OP_or:
        return binary([](U a, U b) { return a | b; });
      case DW_OP_xor:
        return binary([](U a, U b) { return a ^ b; });
      case DW_OP_plus:
        return binary([](U a, U b) { return a + b; });
      case DW_OP_minus:
        return binary([](U a, U b) { return a - b; });
      case DW_OP_mul:
        return binary([](U a, U b) { return a * b; });
      case DW_OP_div:
        if (!has(1) || top() == 0) return false;
        // The smallest number has no quotient by -1; dividing by -1 is negation.
        return binary([](U a, U b) {
          return static_cast<S>(b) == -1 ? U{0} - a
                                         : static_cast<U>(static_cast<S>(a) / static_cast<S>(b));
        });
      case DW_OP_mod:
        if (!has(1) || top() == 0) return false;
        return binary([](U a, U b) { return a % b; });
      case DW_OP_shl:
        return binary([](U a, U b) { return b < 64 ? a << b : 0; });
      case DW_OP_shr:
        return binary([](U a, U b) { return b < 64 ? a >> b : 0; });
      case DW_OP_shra:
        return binary(
            [](U a, U b) { return static_cast<U>(static_cast<S>(a) >> (b < 63 ? b : 63)); });
      case DW_OP_eq:
        return compare([](S a, S b) { return a == b; });
      case DW_OP_ne:
        return compare([](S a, S b) { return a != b; });
      case DW_OP_lt:
        return compare([](S a, S b) { return a < b; });
      case DW_OP_le:
        return compare([](S a, S b) { return a <= b; });
      case DW_OP_gt:
        return compare([](S a, S b) { return a > b; });
      case DW_OP_ge:
        return compare([](S a, S b) { return a >= b; });
      default:
        return false;
    }
  }

  Bytes code_;
  ByteOrder order_;
  uint8_t address_size_;
  const FrameRegisters& registers_;
  const FrameMemory& memory_;
  std::array<uint64_t, kMaxStackDepth> stack_{};
  size_t depth_ = 0;
};

}  // namespace

std::optional<uint64_t> evaluate_cfi(Bytes expression, ByteOrder order, uint8_t address_size,
                                     const FrameRegisters& registers, const FrameMemory& memory,
                                     std::optional<uint64_t> cfa) {
  return Evaluator(expression, order, address_size, registers, memory).run(cfa);
}

}  // namespace sonde
