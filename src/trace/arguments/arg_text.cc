#include "trace/arguments/arg_text.h"

#include <cstring>

#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

constexpr ArgPrinter kPrinters[] = {
#define ARG_TYPE(name, bytes, bytes_32) print_##name,
#include "trace/arguments/arg_types.def"
#undef ARG_TYPE
};

// What perf omits from its lines. A name tells the reader something, so enumerators are kept even
// if zero.
bool is_left_out(const ArgContext& context) {
  if (!context.is_perf() || context.style.show_zeros) return false;
  if (context.value == 0)
    return context.arg().type != ArgType::k_choice && context.arg().words != WordSet::k_prot;
  bool is_of_a_file =
      context.arg().type == ArgType::k_map_fd || context.arg().type == ArgType::k_map_offset;
  constexpr uint64_t kMapAnonymous = 0x20;
  return is_of_a_file && (context.argument(3) & kMapAnonymous) != 0;
}

// Whether the call looks at the argument at all: a mode only matters if the call creates a file, an
// argument of a command only if the command takes it.
bool is_used(const ArgContext& context) {
  constexpr uint64_t kCreates = 0x40 | 0x400000;  // O_CREAT, O_TMPFILE
  switch (context.arg().type) {
    case ArgType::k_open_mode:
      return (context.argument(context.index - 1) & kCreates) != 0;
    case ArgType::k_prctl_arg:
      return prctl_uses(context.argument(0), context.index);
    case ArgType::k_futex_timeout:
    case ArgType::k_futex_timeout64:
    case ArgType::k_futex_arg:
      return futex_uses(context.argument(1), context.index);
    case ArgType::k_fcntl_arg:
      return fcntl_uses_argument(context.argument(1));
    case ArgType::k_clone_pointer:
      return clone_uses(context);
    case ArgType::k_mremap_address: {
      constexpr uint64_t kFixed = 2 | 4;  // MREMAP_FIXED, MREMAP_DONTUNMAP
      return (context.argument(context.index - 1) & kFixed) != 0;
    }
    case ArgType::k_dev:
      return context.call.name == "ustat" || makes_device(context.argument(context.index - 1));
    case ArgType::k_offset_high:
      return context.is_perf();
    case ArgType::k_int:
      // membarrier's CPU
      return context.arg().name != "cpu_id" || context.argument(1) != 0;
    default:
      return true;
  }
}

void append_error(std::string& out, int64_t result) {
  auto number = static_cast<int>(-result);
  out += "-1 ";
  const char* name = strerrorname_np(number);
  if (name == nullptr) {
    append_decimal(out, number);
    return;
  }
  out += name;
  out += " (";
  out += strerrordesc_np(number);
  out += ')';
}

void append_pid_result(ArgContext& context) {
  append_decimal(context.out, context.event.result);
  if (!context.is_perf() || context.event.result <= 0) return;
  std::string_view comm = context.fds.comm(static_cast<int32_t>(context.event.result));
  if (comm.empty()) return;
  context.out += " (";
  append_name(context.out, comm);
  context.out += ')';
}

/// --force-btf: enumerators, and structures that were captured. What the kernel's types do not
/// describe, the layouts of 32-bit programs among it, is left to the argument's own printer.
bool print_by_types(ArgContext& context, BtfText* types) {
  if (types == nullptr || !context.style.by_types || context.is_32()) return false;
  std::string_view declared = types->declared(context.call.name, context.index);
  std::string_view name = types->enumerator(declared, context.value);
  context.out += name;
  if (!name.empty()) return true;
  const ArgMemory* memory = context.memory();
  if (memory == nullptr || context.arg().shape != MemoryShape::kFixed) return false;
  return types->append_pointed(declared, memory->bytes,
                               {context.style.show_names, context.style.show_zeros}, context.out);
}

}  // namespace

uint64_t argument_value(const SyscallEvent& event, const Syscall& call, size_t i) {
  size_t at = register_of(call, i, event.abi);
  if (at >= event.args.size()) return 0;
  uint64_t low = event.args[at];
  if (!is_32_bit(event.abi)) return low;
  low &= UINT32_MAX;
  bool is_wide = call.args[i].type == ArgType::k_offset || call.args[i].type == ArgType::k_uint64;
  if (is_wide) return at + 1 < event.args.size() ? low | event.args[at + 1] << 32 : low;
  return low;
}

uint64_t ArgContext::argument(size_t i) const {
  return argument_value(event, call, i);
}

const ArgMemory* ArgContext::memory(uint8_t part, bool at_exit) const {
  size_t at = register_of(call, index, event.abi);
  for (const ArgMemory& piece : event.memory)
    if (piece.arg == at && piece.part == part && piece.at_exit == at_exit)
      return piece.is_fault ? nullptr : &piece;
  return nullptr;
}

const ArgMemory* ArgContext::memory(uint8_t part) const {
  if (arg().at_exit && has_succeeded())
    if (const ArgMemory* piece = memory(part, true)) return piece;
  return arg().at_entry ? memory(part, false) : nullptr;
}

Bytes ArgContext::structure(size_t bytes) const {
  const ArgMemory* piece = memory();
  if (piece == nullptr || bytes == 0 || piece->bytes.size() < bytes) return {};
  return piece->bytes.first(bytes);
}

void append_arguments(std::string& out, const SyscallEvent& event, const Syscall& call,
                      FdNames& fds, const ArgStyle& style, BtfText* types) {
  bool is_first = true;
  ArgContext context{.out = out, .event = event, .call = call, .fds = fds, .style = style};
  for (size_t i = 0; i < call.arg_count; i++) {
    context.index = i;
    context.value = context.argument(i);
    if (!is_used(context) || is_left_out(context)) continue;
    if (!is_first) out += ", ";
    is_first = false;
    if (context.is_perf() && style.show_names) {
      out += call.args[i].name;
      out += ": ";
    }
    if (!print_by_types(context, types)) kPrinters[static_cast<size_t>(call.args[i].type)](context);
  }
}

void append_result(std::string& out, const SyscallEvent& event, const Syscall& call, FdNames& fds,
                   const ArgStyle& style) {
  if (call.result == ResultType::k_nothing) {
    out += '?';
    return;
  }
  if (event.result < 0 && event.result >= -4095) return append_error(out, event.result);
  ArgContext context{.out = out, .event = event, .call = call, .fds = fds, .style = style};
  switch (call.result) {
    case ResultType::k_address:
      // Addresses of 32-bit programs arrive sign-extended.
      return append_hex(out, is_32_bit(event.abi) ? event.result & UINT32_MAX
                                                  : static_cast<uint64_t>(event.result));
    case ResultType::k_pid:
      return append_pid_result(context);
    case ResultType::k_mode:
      return append_file_mode(out, static_cast<uint64_t>(event.result) & 07777);
    case ResultType::k_fcntl:
      return append_fcntl_result(context);
    case ResultType::k_ready:
      return append_ready_result(context);
    default:
      return append_decimal(out, event.result);
  }
}

}  // namespace sonde
