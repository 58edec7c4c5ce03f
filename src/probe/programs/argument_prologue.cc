#include "probe/programs/argument_prologue.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"

namespace sonde {
namespace {

/// A value: an origin, then memory that pointers lead to, then bits of what is there.
struct FetchedValue {
  enum class Origin : uint8_t {
    kConstant,
    kRegister,    // number: where it is in struct pt_regs
    kFromOrigin,  // number: how far from the probed instruction
  };
  struct Step {
    int64_t offset = 0;
    bool user = false;
  };
  Origin origin = Origin::kConstant;
  int64_t number = 0;
  std::vector<Step> steps = {};  // innermost first
  uint32_t bits = 64;            // of the register or memory
  uint32_t shift = 0, width = 64;
  bool is_signed = false;
};

/// Where struct pt_regs has a register (asm/ptrace.h of the machine), by the tracer's name for it.
std::optional<int16_t> register_offset(std::string_view name, uint16_t machine) {
  static constexpr std::array<std::string_view, 21> kX86 = {
      "r15", "r14", "r13", "r12", "bp",      "bx", "r11", "r10",   "r9", "r8", "ax",
      "cx",  "dx",  "si",  "di",  "orig_ax", "ip", "cs",  "flags", "sp", "ss"};
  if (machine == EM_X86_64) {
    const auto* found = std::ranges::find(kX86, name);
    if (found == kX86.end()) return std::nullopt;
    return static_cast<int16_t>((found - kX86.begin()) * 8);
  }
  if (name == "lr") return 30 * 8;
  if (name == "sp") return 31 * 8;
  if (name == "pc") return 32 * 8;
  if (name == "pstate") return 33 * 8;
  if (!name.starts_with('x')) return std::nullopt;
  auto number = parse_number(name.substr(1));
  if (!number || *number > 30) return std::nullopt;
  return static_cast<int16_t>(*number * 8);
}

/// The registers of a machine by their purpose.
struct MachineRegisters {
  std::string_view instruction, stack, result;
  std::array<std::string_view, 8> parameters;  // of functions of the kernel
};

const MachineRegisters* registers_of(uint16_t machine) {
  static constexpr MachineRegisters kX86 = {"ip", "sp", "ax", {"di", "si", "dx", "cx", "r8", "r9"}};
  static constexpr MachineRegisters kArm64 = {
      "pc", "sp", "x0", {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"}};
  if (machine == EM_X86_64) return &kX86;
  return machine == EM_AARCH64 ? &kArm64 : nullptr;
}

/// Reads "size=+8(%di):u32".
class FetchReader {
 public:
  FetchReader(std::string_view argument, const ProbePlace& place, const PrologueSetting& setting,
              const MachineRegisters& registers)
      : argument_(argument), place_(place), setting_(setting), registers_(registers) {}

  Result<FetchedValue> read() {
    std::string_view text = argument_;
    // A name has none of the letters that begin what is fetched.
    size_t equals = text.find_first_of("=%$@\\+-(");
    if (equals != std::string_view::npos && text[equals] == '=') text.remove_prefix(equals + 1);
    size_t colon = text.rfind(':');
    bool is_module = text.starts_with('@') && text.find(':') == colon && !is_type(text, colon);
    if (colon != std::string_view::npos && !is_module) {
      TRY(read_type(text.substr(colon + 1)));
      text = text.substr(0, colon);
    }
    TRY(read_place(text));
    // Those that were read first are reached last.
    std::ranges::reverse(value_.steps);
    return std::move(value_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view why) const {
    return fail(ErrorCode::kUnsupported, "'{}' cannot be an argument of a BPF program: {}",
                argument_, why);
  }

  static bool is_type(std::string_view text, size_t colon) {
    if (colon == std::string_view::npos || colon + 1 >= text.size()) return false;
    std::string_view type = text.substr(colon + 1);
    return std::string_view("suxb").contains(type[0]) && type.size() > 1 && is_ascii_digit(type[1]);
  }

  Result<> read_type(std::string_view type) {
    if (type.ends_with("string")) return refuse("it is text; pass the pointer to it, as in ':x64'");
    if (type.contains('[')) return refuse("it is an array; name an element of it");
    if (type.starts_with('b')) return read_bits(type.substr(1));
    auto bits = parse_number(type.substr(std::min<size_t>(type.size(), 1)));
    bool is_known = bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64);
    if (!is_known || !std::string_view("sux").contains(type[0]))
      return refuse(fmt::format("'{}' is no type of a number: s32, u8, x64, b3@2/32 are", type));
    value_.bits = value_.width = static_cast<uint32_t>(*bits);
    value_.is_signed = type[0] == 's';
    return {};
  }

  /// "3@2/32": three bits, from the third of 32
  Result<> read_bits(std::string_view type) {
    size_t at = std::min(type.find('@'), type.size());
    size_t slash = std::min(type.find('/'), type.size());
    auto width = parse_number(type.substr(0, at));
    auto shift = at < slash ? parse_number(type.substr(at + 1, slash - at - 1)) : std::nullopt;
    auto bits = slash < type.size() ? parse_number(type.substr(slash + 1)) : std::nullopt;
    bool is_size = bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64);
    if (!width || !shift || !is_size || *width == 0 || *width > *bits || *shift > *bits - *width)
      return refuse(fmt::format("'b{}' is no bit field: b3@2/32 is", type));
    value_.width = static_cast<uint32_t>(*width);
    value_.shift = static_cast<uint32_t>(*shift);
    value_.bits = static_cast<uint32_t>(*bits);
    return {};
  }

  /// "+8(…)", innermost last
  Result<> read_place(std::string_view text) {
    constexpr size_t kMaxSteps = 16;
    while (text.starts_with('+') || text.starts_with('-')) {
      bool is_negative = text[0] == '-';
      text.remove_prefix(1);
      bool user = text.starts_with('u') || !place_.in_kernel();
      if (text.starts_with('u')) text.remove_prefix(1);
      size_t open = text.find('(');
      auto number = parse_number(text.substr(0, std::min(open, text.size())));
      if (!number || open == std::string_view::npos || !text.ends_with(')'))
        return refuse("expected +OFFSET(WHAT)");
      if (value_.steps.size() == kMaxSteps)
        return refuse("it is reached through too many pointers");
      uint64_t offset = is_negative ? -*number : *number;
      value_.steps.push_back({static_cast<int64_t>(offset), user});
      text = text.substr(open + 1, text.size() - open - 2);
    }
    return read_origin(text);
  }

  Result<> read_origin(std::string_view text) {
    std::string_view rest = text.substr(std::min<size_t>(text.size(), 1));
    if (text.starts_with('%')) return of_register(rest);
    if (text.starts_with('\\')) return read_constant(rest);
    if (text.starts_with('@')) return at_address(rest);
    if (text.starts_with('$')) return read_special(rest);
    return refuse(
        "expected a register (%di), memory (+8(%di), @symbol), $retval or a number (\\7)");
  }

  Result<> of_register(std::string_view name) {
    auto offset = register_offset(name, setting_.machine);
    if (!offset) return refuse(fmt::format("'%{}' is no register of the context", name));
    value_.origin = FetchedValue::Origin::kRegister;
    value_.number = *offset;
    return {};
  }

  Result<> read_constant(std::string_view text) {
    bool is_negative = text.starts_with('-');
    auto number = parse_number(text.substr(is_negative ? 1 : 0));
    if (!number) return refuse("only numbers are constants");
    value_.number = static_cast<int64_t>(is_negative ? -*number : *number);
    return {};
  }

  /// "+0x4010" of the probed file; "jiffies", "jiffies+8", "0xffff…" of the kernel
  Result<> at_address(std::string_view text) {
    value_.steps.push_back({0, !place_.in_kernel()});
    if (text.starts_with('+')) {
      auto number = parse_number(text.substr(1));
      if (!number || place_.in_kernel()) return refuse("@+OFFSET is a place in a program's file");
      if (place_.at_return) return refuse("at a return, it is not known where the file is");
      value_.origin = FetchedValue::Origin::kFromOrigin;
      value_.number = static_cast<int64_t>(*number - place_.offset.value);
      return {};
    }
    if (!place_.in_kernel()) return refuse("@SYMBOL is a place in the kernel");
    if (auto number = parse_number(text)) {
      value_.number = static_cast<int64_t>(*number);
      return {};
    }
    size_t sign = std::min(text.find_first_of("+-"), text.size());
    uint64_t offset = 0;
    if (sign < text.size()) {
      auto number = parse_number(text.substr(sign + 1));
      if (!number) return refuse("expected @SYMBOL+OFFSET");
      offset = text[sign] == '-' ? -*number : *number;
    }
    std::string_view symbol = text.substr(0, sign);
    uint64_t address = setting_.symbol_address ? setting_.symbol_address(symbol) : 0;
    if (address == 0) return refuse(fmt::format("the kernel has no symbol '{}'", symbol));
    value_.number = static_cast<int64_t>(address + offset);
    return {};
  }

  Result<> read_special(std::string_view name) {
    if (name == "retval") {
      if (!place_.at_return) return refuse("there is a returned value only at FUNCTION%return");
      return of_register(registers_.result);
    }
    if (name == "stack") return of_register(registers_.stack);
    if (name.starts_with("stack")) {
      auto word = parse_number(name.substr(5));
      if (!word || *word > 1 << 16) return refuse("expected $stackN");
      value_.steps.push_back({static_cast<int64_t>(*word * 8), !place_.in_kernel()});
      return of_register(registers_.stack);
    }
    if (name.starts_with("arg")) {
      auto number = parse_number(name.substr(3));
      bool is_known = number && *number >= 1 && *number <= registers_.parameters.size() &&
                      !registers_.parameters[*number - 1].empty();
      if (!is_known || !place_.in_kernel())
        return refuse("$argN is a function's parameter in a register, of the kernel only");
      return of_register(registers_.parameters[*number - 1]);
    }
    return refuse("programs find it with a helper function, if at all");
  }

  std::string_view argument_;
  const ProbePlace& place_;
  const PrologueSetting& setting_;
  const MachineRegisters& registers_;
  FetchedValue value_;
};

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
  const MachineRegisters* registers = registers_of(setting.machine);
  if (registers == nullptr)
    return fail(ErrorCode::kUnsupported,
                "arguments for BPF programs are fetched on x86-64 and arm64 only: read them from "
                "the context, a struct pt_regs");
  PrologueWriter writer(*register_offset(registers->instruction, setting.machine));
  for (const std::string& argument : place.arguments)
    writer.fetch(TRY(FetchReader(argument, place, setting, *registers).read()));
  return std::move(writer).finish();
}

}  // namespace sonde
