#include "unwind/stack_unwinder.h"

namespace sonde {

/// The register numbering of an architecture, in perf and in DWARF.
struct StackUnwinder::Machine {
  std::array<int8_t, 33> dwarf_of_perf;  // by perf's number; -1: not needed
  uint8_t instruction;                   // the DWARF column of the frame's ip
  uint8_t stack_pointer;
  uint8_t frame_pointer;
  uint8_t word_bytes;
  bool has_link_register;  // rules do not mention the instruction column
};

namespace {

constexpr int8_t kNone = -1;

using Numbers = std::array<int8_t, 33>;

/// perf_regs.h of x86: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 … R15.
constexpr Numbers x86_numbers(bool wide) {
  Numbers numbers{};
  numbers.fill(kNone);
  constexpr int8_t kWide[] = {0, 3, 2, 1, 4, 5, 6, 7, 16};
  constexpr int8_t kNarrow[] = {0, 3, 1, 2, 6, 7, 5, 4, 8};
  for (size_t i = 0; i < std::size(kWide); ++i) numbers[i] = wide ? kWide[i] : kNarrow[i];
  if (wide)
    for (int8_t i = 0; i < 8; ++i)
      numbers[static_cast<size_t>(16 + i)] = static_cast<int8_t>(8 + i);
  return numbers;
}

/// perf_regs.h of arm64: X0 … X29 LR SP PC; DWARF has no number for the PC, 32 is free.
constexpr Numbers arm64_numbers() {
  Numbers numbers{};
  for (int8_t i = 0; i < 33; ++i) numbers[static_cast<size_t>(i)] = i;
  return numbers;
}

/// The part of the stack that a sample carries.
class StackCopy final : public FrameMemory {
 public:
  StackCopy(uint64_t start, Bytes bytes, ByteOrder order)
      : start_(start), bytes_(bytes), order_(order) {}

  [[nodiscard]] std::optional<uint64_t> read(uint64_t address, uint32_t size) const override {
    uint64_t offset = address - start_;
    if (address < start_ || offset > bytes_.size() || bytes_.size() - offset < size)
      return std::nullopt;
    const std::byte* at = bytes_.data() + offset;
    switch (size) {
      case 8:
        return load<uint64_t>(at, order_);
      case 4:
        return load<uint32_t>(at, order_);
      case 2:
        return load<uint16_t>(at, order_);
      case 1:
        return load<uint8_t>(at, order_);
      default:
        return std::nullopt;
    }
  }
  [[nodiscard]] bool ends_before(uint64_t address) const {
    return address >= start_ + bytes_.size();
  }

 private:
  uint64_t start_;
  Bytes bytes_;
  ByteOrder order_;
};

}  // namespace

/// A frame during unwinding.
class StackUnwinder::Frame {
 public:
  Frame(const Machine& machine, const StackCopy& stack, ByteOrder order)
      : machine_(machine), stack_(stack), order_(order) {}

  FrameRegisters registers;

  [[nodiscard]] uint64_t ip() const { return registers.value[machine_.instruction]; }
  /// The address for looking up code: a return address belongs to the call before it.
  [[nodiscard]] uint64_t place() const { return is_exact_ ? ip() : ip() - 1; }

  /// Whether the place is where the thread was, rather than where a call returns to.
  [[nodiscard]] bool is_exact() const { return is_exact_; }

  /// Becomes the caller's frame. Returns kOutermost or another reason if there is none, and nothing
  /// on success.
  std::optional<ChainEnd> go_up(CodeMap& code) {
    UnwindPlace where = code.find(place());
    const UnwindRule* rule = where.cfi == nullptr ? nullptr : where.cfi->find(where.address);
    uint64_t before = registers.value[machine_.stack_pointer];
    uint64_t ip_before = ip();
    bool was_interrupted = rule != nullptr && rule->is_signal_frame;
    std::optional<ChainEnd> end;
    if (rule != nullptr) {
      end = by_rule(*where.cfi, *rule);
    } else if (!where.is_mapped) {
      end = ChainEnd::kNotMapped;
    } else if (where.is_vdso && machine_.has_link_register && by_signal_frame(code)) {
      was_interrupted = true;
    } else {
      end = by_frame_pointer(code);
    }
    if (end) return end;
    is_exact_ = was_interrupted;
    if (ip() == 0) return ChainEnd::kOutermost;
    // A frame that leads to itself: damaged, or arm64's outermost, which keeps its own address.
    if (ip() == ip_before && registers.value[machine_.stack_pointer] == before)
      return ChainEnd::kBadFrame;
    return std::nullopt;
  }

 private:
  std::optional<ChainEnd> by_rule(const CfiTable& table, const UnwindRule& rule) {
    std::optional<uint64_t> cfa = cfa_of(table, rule);
    if (!cfa) return ChainEnd::kBadFrame;
    // Rules refer to this frame's registers, so none may change before all are known.
    std::array<Change, kUnwindRegisters> changes;
    size_t count = 0;
    bool finds_return = machine_.has_link_register || rule.return_register != machine_.instruction;
    for (const SavedRegister& saved : table.saved(rule)) {
      if (saved.reg >= kUnwindRegisters || count == changes.size()) continue;
      bool is_return = saved.reg == rule.return_register;
      if (saved.how == SavedAs::kUndefined && is_return) return ChainEnd::kOutermost;
      std::optional<uint64_t> value = value_of(table, saved, *cfa);
      if (is_return && !value && saved.how != SavedAs::kUndefined)
        return stack_.ends_before(*cfa) || stack_.ends_before(*cfa + uint64_t(int64_t{saved.value}))
                   ? ChainEnd::kStackCopy
                   : ChainEnd::kBadFrame;
      finds_return = finds_return || is_return;
      changes[count++] = {saved.reg, value.has_value(), value.value_or(0)};
    }
    registers.set(machine_.stack_pointer, *cfa);
    for (const Change& change : std::span(changes).first(count)) {
      if (change.is_known)
        registers.set(change.reg, change.value);
      else
        registers.forget(change.reg);
    }
    if (!finds_return || !registers.has(rule.return_register)) return ChainEnd::kBadFrame;
    uint64_t back = registers.value[rule.return_register];
    if (rule.signs_return) back &= kUserAddressBits;
    registers.set(machine_.instruction, back);
    return std::nullopt;
  }
  struct Change {
    uint8_t reg;
    bool is_known;  // otherwise the register is lost
    uint64_t value;
  };

  [[nodiscard]] std::optional<uint64_t> cfa_of(const CfiTable& table,
                                               const UnwindRule& rule) const {
    if (rule.cfa_from == CfaFrom::kExpression)
      return evaluate_cfi(table.expression(rule.cfa_value), order_, machine_.word_bytes, registers,
                          stack_, std::nullopt);
    if (!registers.has(rule.cfa_register)) return std::nullopt;
    return word(registers.value[rule.cfa_register] +
                static_cast<uint64_t>(int64_t{rule.cfa_value}));
  }

  [[nodiscard]] std::optional<uint64_t> value_of(const CfiTable& table, const SavedRegister& saved,
                                                 uint64_t cfa) const {
    uint64_t sum = word(cfa + static_cast<uint64_t>(int64_t{saved.value}));
    switch (saved.how) {
      case SavedAs::kAtCfa:
        return stack_.read(sum, machine_.word_bytes);
      case SavedAs::kCfaPlus:
        return sum;
      case SavedAs::kInRegister: {
        auto other = static_cast<uint32_t>(saved.value);
        return registers.has(other) ? std::optional(registers.value[other]) : std::nullopt;
      }
      case SavedAs::kExpression:
      case SavedAs::kValueExpression: {
        std::optional<uint64_t> result = evaluate_cfi(table.expression(saved.value), order_,
                                                      machine_.word_bytes, registers, stack_, cfa);
        if (!result || saved.how == SavedAs::kValueExpression) return result;
        return stack_.read(*result, machine_.word_bytes);
      }
      case SavedAs::kSame:
        return registers.has(saved.reg) ? std::optional(registers.value[saved.reg]) : std::nullopt;
      case SavedAs::kUndefined:
        break;
    }
    return std::nullopt;
  }

  /// Generated code without call frame information mostly keeps the frame pointer: it points to the
  /// caller's frame pointer, which is followed by the return address.
  std::optional<ChainEnd> by_frame_pointer(CodeMap& code) {
    uint32_t word_bytes = machine_.word_bytes;
    if (!registers.has(machine_.frame_pointer)) return ChainEnd::kNoRule;
    uint64_t frame = registers.value[machine_.frame_pointer];
    uint64_t sp = registers.value[machine_.stack_pointer];
    // Both psABIs mark the outermost frame this way; the kernel starts programs with it.
    if (frame == 0) return ChainEnd::kOutermost;
    if (frame < sp || frame % word_bytes != 0) return ChainEnd::kNoRule;
    if (stack_.ends_before(frame))
      return frame - sp < kMaxFrameSize ? ChainEnd::kStackCopy : ChainEnd::kNoRule;
    std::optional<uint64_t> next_frame = stack_.read(frame, word_bytes);
    std::optional<uint64_t> back = stack_.read(frame + word_bytes, word_bytes);
    if (!next_frame || !back) return ChainEnd::kStackCopy;
    if (*back == 0) return ChainEnd::kOutermost;
    if (machine_.has_link_register) *back &= kUserAddressBits;  // it may be signed
    if (!code.find(*back - 1).is_mapped) return ChainEnd::kNoRule;
    FrameRegisters caller = registers;
    caller.set(machine_.frame_pointer, *next_frame);
    caller.set(machine_.stack_pointer, frame + uint64_t{2} * word_bytes);
    caller.set(machine_.instruction, *back);
    registers = caller;
    return std::nullopt;
  }

  /// arm64's kernel gives no information for the one function in its vdso to which signal handlers
  /// return, so that nobody takes it for a called function. The interrupted registers are in the
  /// signal frame, on top of the stack (struct rt_sigframe in arch/arm64/kernel/signal.c: siginfo,
  /// then ucontext).
  bool by_signal_frame(CodeMap& code) {
    constexpr uint64_t kRegisters = 128 + 176 + 8;  // x0 …, in uc_mcontext after fault_address
    constexpr uint32_t kGeneral = 31;
    uint64_t base = registers.value[machine_.stack_pointer] + kRegisters;
    FrameRegisters interrupted;
    for (uint32_t i = 0; i <= kGeneral + 1; ++i) {
      std::optional<uint64_t> value = stack_.read(base + uint64_t{8} * i, 8);
      if (!value) return false;
      // x0 … x30, sp, pc: also DWARF's numbers, and ours for the pc.
      interrupted.set(i, *value);
    }
    if (!code.find(interrupted.value[machine_.instruction]).is_mapped) return false;
    registers = interrupted;
    return true;
  }

  [[nodiscard]] uint64_t word(uint64_t value) const {
    return machine_.word_bytes == 4 ? value & UINT32_MAX : value;
  }

  // The most that may be between stack pointer and frame pointer; beyond that it is some number.
  static constexpr uint64_t kMaxFrameSize = uint64_t{16} << 20;

  const Machine& machine_;
  const StackCopy& stack_;
  ByteOrder order_;
  bool is_exact_ = true;
};

bool StackUnwinder::knows(abi::Arch arch) {
  return arch == abi::Arch::kX86_64 || arch == abi::Arch::kX86 || arch == abi::Arch::kArm64;
}

const StackUnwinder::Machine* StackUnwinder::machine_of(const Sample& sample) const {
  static constexpr Machine kX86_64{x86_numbers(true), 16, 7, 6, 8, false};
  static constexpr Machine kX86{x86_numbers(false), 8, 4, 5, 4, false};
  static constexpr Machine kArm64{arm64_numbers(), 32, 31, 29, 8, true};
  switch (arch_) {
    case abi::Arch::kX86_64:
      return sample.regs_user.abi == abi::kRegsAbi32 ? &kX86 : &kX86_64;
    case abi::Arch::kX86:
      return &kX86;
    case abi::Arch::kArm64:
      return sample.regs_user.abi == abi::kRegsAbi32 ? nullptr : &kArm64;
    default:
      return nullptr;
  }
}

ChainEnd StackUnwinder::unwind(const Sample& sample, CodeMap& code, size_t limit,
                               std::vector<uint64_t>& addresses) {
  const Machine* machine = machine_of(sample);
  if (machine == nullptr || sample.regs_user.abi == abi::kRegsAbiNone || sample.stack_user.empty())
    return ChainEnd::kNoRegisters;
  FrameRegisters registers;
  size_t word = 0;
  for (uint64_t left = sample.regs_user.mask; left != 0; left &= left - 1, ++word) {
    auto number = static_cast<size_t>(__builtin_ctzll(left));
    if (word >= sample.regs_user.words.size()) break;
    if (number < machine->dwarf_of_perf.size() && machine->dwarf_of_perf[number] != kNone)
      registers.set(static_cast<uint32_t>(machine->dwarf_of_perf[number]),
                    sample.regs_user.words[word]);
  }
  if (!registers.has(machine->instruction) || !registers.has(machine->stack_pointer))
    return ChainEnd::kNoRegisters;
  StackCopy stack(registers.value[machine->stack_pointer], sample.stack_user, sample.order);
  Frame frame(*machine, stack, sample.order);
  frame.registers = registers;
  for (size_t depth = 0; depth < limit; ++depth) {
    addresses.push_back(frame.place());
    uint64_t below =
        std::exchange(last_stack_pointer_, frame.registers.value[machine->stack_pointer]);
    uint64_t at = frame.ip();
    std::optional<ChainEnd> end = frame.go_up(code);
    if (!end) {
      // Nothing called the code that a handler returns to: it is at its own start.
      if (frame.is_exact()) addresses.back() = at;
      continue;
    }
    // What was taken for a return address is none; the thread's own position is a fact.
    if (*end == ChainEnd::kNotMapped && depth > 0) {
      addresses.pop_back();
      last_stack_pointer_ = below;
    }
    return *end;
  }
  return ChainEnd::kLimit;
}

}  // namespace sonde
