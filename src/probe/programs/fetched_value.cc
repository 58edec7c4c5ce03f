#include "probe/programs/fetched_value.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace sonde {
namespace {

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

}  // namespace

Result<FetchedValue> parse_fetched_value(std::string_view argument, const ProbePlace& place,
                                         const PrologueSetting& setting) {
  const MachineRegisters* registers = registers_of(setting.machine);
  if (registers == nullptr)
    return fail(ErrorCode::kUnsupported,
                "arguments for BPF programs are fetched on x86-64 and arm64 only: read them from "
                "the context, a struct pt_regs");
  return FetchReader(argument, place, setting, *registers).read();
}

int16_t instruction_pointer_offset(uint16_t machine) {
  const MachineRegisters* registers = registers_of(machine);
  return registers == nullptr ? int16_t{0} : *register_offset(registers->instruction, machine);
}

}  // namespace sonde
