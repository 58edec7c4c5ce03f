#include "probe/programs/argument_prologue.h"

#include <limits>

namespace sonde {
namespace {

/// The instructions. Register 6 has the context, which survives calls of helpers; register 3 is the
/// value at work; below the frame pointer are a word to read to, and the arguments.
class PrologueWriter {
 public:
  explicit PrologueWriter(int16_t instruction_pointer) : instruction_pointer_(instruction_pointer) {
    move(BPF_REG_6, BPF_REG_1);
  }

  void fetch(const FetchedValue& value) {
    begin(value);
    for (size_t i = 0; i < value.steps.size(); ++i) {
      bool is_last = i + 1 == value.steps.size();
      read_memory(value.steps[i], is_last ? value.bits : 64);
    }
    take_bits(value);
    emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_3, slot(count_++));
  }

  std::vector<bpf_insn> finish() && {
    for (size_t i = 0; i < count_; ++i)
      emit(BPF_LDX | BPF_MEM | BPF_DW, parameter(i), BPF_REG_10, slot(i));
    set(BPF_REG_2, 0);
    if (!failing_.empty()) finish_failure();
    move(BPF_REG_1, BPF_REG_6);
    return std::move(code_);
  }

 private:
  static constexpr int16_t kWord = -8;
  static int16_t slot(size_t argument) { return static_cast<int16_t>(-16 - 8 * int(argument)); }
  static uint8_t parameter(size_t argument) { return static_cast<uint8_t>(BPF_REG_3 + argument); }

  void emit(int code, uint8_t to, uint8_t from, int16_t offset, int32_t number = 0) {
    bpf_insn made{};
    made.code = static_cast<uint8_t>(code);
    made.dst_reg = to & 0xf;
    made.src_reg = from & 0xf;
    made.off = offset;
    made.imm = number;
    code_.push_back(made);
  }

  void move(uint8_t to, uint8_t from) { emit(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0); }

  void set(uint8_t to, int64_t number) {
    if (number >= std::numeric_limits<int32_t>::min() &&
        number <= std::numeric_limits<int32_t>::max())
      return emit(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, static_cast<int32_t>(number));
    auto bits = static_cast<uint64_t>(number);
    emit(BPF_LD | BPF_IMM | BPF_DW, to, 0, 0, static_cast<int32_t>(bits));
    emit(0, 0, 0, 0, static_cast<int32_t>(bits >> 32));
  }

  void add(int64_t number) {
    if (number == 0) return;
    set(BPF_REG_2, number);
    emit(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_3, BPF_REG_2, 0);
  }

  void shift(int operation, uint32_t bits) {
    if (bits != 0) emit(BPF_ALU64 | operation | BPF_K, BPF_REG_3, 0, 0, static_cast<int32_t>(bits));
  }

  void begin(const FetchedValue& value) {
    using Origin = FetchedValue::Origin;
    if (value.origin == Origin::kConstant) return set(BPF_REG_3, value.number);
    bool is_register = value.origin == Origin::kRegister;
    int16_t offset = is_register ? static_cast<int16_t>(value.number) : instruction_pointer_;
    emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_3, BPF_REG_6, offset);
    if (!is_register) add(value.number);
  }

  /// Register 3 becomes what `step` leads to, without a sign.
  void read_memory(const FetchedValue::Step& step, uint32_t bits) {
    add(step.offset);
    move(BPF_REG_1, BPF_REG_10);
    emit(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, kWord);
    set(BPF_REG_2, bits / 8);
    emit(BPF_JMP | BPF_CALL, 0, 0, 0,
         step.user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
    failing_.push_back(code_.size());
    emit(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 0, 0);
    int size = bits == 8 ? BPF_B : bits == 16 ? BPF_H : bits == 32 ? BPF_W : BPF_DW;
    emit(BPF_LDX | BPF_MEM | size, BPF_REG_3, BPF_REG_10, kWord);
  }

  void take_bits(const FetchedValue& value) {
    if (value.width == 64) return;
    shift(BPF_LSH, 64 - value.shift - value.width);
    shift(value.is_signed ? BPF_ARSH : BPF_RSH, 64 - value.width);
  }

  /// Where an argument could not be read: behind the jump over it.
  void finish_failure() {
    emit(BPF_JMP | BPF_JA, 0, 0, static_cast<int16_t>(count_ + 1));
    for (size_t from : failing_) code_[from].off = static_cast<int16_t>(code_.size() - from - 1);
    set(BPF_REG_2, 1);
    for (size_t i = 0; i < count_; ++i) set(parameter(i), 0);
  }

  std::vector<bpf_insn> code_;
  std::vector<size_t> failing_;  // jumps to be taken when memory cannot be read
  size_t count_ = 0;
  int16_t instruction_pointer_;
};

}  // namespace

Result<std::vector<bpf_insn>> argument_prologue(const ProbePlace& place,
                                                const PrologueSetting& setting) {
  if (place.arguments.empty()) return std::vector<bpf_insn>();
  if (place.arguments.size() > kMaxProgramArguments)
    return fail(ErrorCode::kUnsupported,
                "a BPF program takes {} arguments, and the probe has {}: read the others from its "
                "context, a struct pt_regs",
                kMaxProgramArguments, place.arguments.size());
  PrologueWriter writer(instruction_pointer_offset(setting.machine));
  for (const std::string& argument : place.arguments)
    writer.fetch(TRY(parse_fetched_value(argument, place, setting)));
  return std::move(writer).finish();
}

}  // namespace sonde
