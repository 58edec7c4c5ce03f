// What an argument printer works with: the value, the other arguments, the captured memory, and the
// helpers that build text. For arg_*.cc only; everyone else calls append_arguments (arg_text.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "trace/arguments/arg_text.h"
#include "trace/arguments/syscall_table.h"

namespace sonde {

struct ArgContext {
  std::string& out;
  const SyscallEvent& event;
  const Syscall& call;
  FdNames& fds;
  const ArgStyle& style;
  size_t index = 0;    // index of the argument
  uint64_t value = 0;  // its value

  [[nodiscard]] const SyscallArg& arg() const { return call.args[index]; }
  [[nodiscard]] bool is_perf() const { return style.format == ArgFormat::kPerf; }
  [[nodiscard]] bool is_32() const { return is_32_bit(event.abi); }
  [[nodiscard]] bool has_succeeded() const { return event.has_exit && event.result >= 0; }
  /// The value of argument `i`.
  [[nodiscard]] uint64_t argument(size_t i) const;
  /// A piece of the memory that this argument points to: as the kernel left it if `at_exit`. Null
  /// if it was not captured or could not be read.
  [[nodiscard]] const ArgMemory* memory(uint8_t part, bool at_exit) const;
  /// The piece that the argument's type calls for: the one read at exit if the call writes it and
  /// has returned, otherwise the one read at entry.
  [[nodiscard]] const ArgMemory* memory(uint8_t part = 0) const;
  /// Its first `bytes` bytes; empty if there are fewer.
  [[nodiscard]] Bytes structure(size_t bytes) const;
};

/// The value of argument `i`, widened like the program's words: two registers of a 32-bit program
/// make one 64-bit value.
uint64_t argument_value(const SyscallEvent& event, const Syscall& call, size_t i);

using ArgPrinter = void (*)(ArgContext&);
#define ARG_TYPE(name, bytes, bytes_32) void print_##name(ArgContext& context);
#include "trace/arguments/arg_types.def"
#undef ARG_TYPE

void append_decimal(std::string& out, int64_t value);
void append_unsigned(std::string& out, uint64_t value);
void append_hex(std::string& out, uint64_t value);    // 0x1f; 0 is 0
void append_octal(std::string& out, uint64_t value);  // 0644; 0 is 0
/// An address; "NULL" if it is 0.
void append_pointer(std::string& out, uint64_t value);

struct Word {
  std::string_view name;
  uint64_t value;
};
struct Vocabulary {
  std::string_view prefix;
  std::span<const Word> words;
};
[[nodiscard]] const Vocabulary& vocabulary(WordSet set);
/// The name of `value`; empty if it has none.
[[nodiscard]] std::string_view word_of(WordSet set, uint64_t value);
/// "PROT_READ|PROT_WRITE|0x80", or without prefixes, depending on the style; if no bit is set, "0"
/// or the word for it.
void append_flags(ArgContext& context, WordSet set, uint64_t value);
/// "SEEK_SET"; a value without a name is written as strace does, 0x9 /* SEEK_??? */, or as perf
/// does, as a number.
void append_choice(ArgContext& context, WordSet set, uint64_t value);
/// The same with full names whatever the style: for use inside structures.
void append_full_flags(std::string& out, WordSet set, uint64_t value);
void append_full_choice(std::string& out, WordSet set, uint64_t value);
/// One word in the current style.
void append_word(ArgContext& context, WordSet set, std::string_view name);

/// "text", with C escapes; followed by "..." if `is_cut`.
void append_quoted(std::string& out, Bytes bytes, bool is_cut);
/// What was captured of a buffer of `length` bytes.
void append_buffer(ArgContext& context, const ArgMemory& memory, uint64_t length);

/// The fields of a structure: {tv_sec=1, tv_nsec=2}. Begins with the brace; `end` closes it.
class StructText {
 public:
  explicit StructText(std::string& out) : out_(out) { out_ += '{'; }
  /// "name=", preceded by a comma unless it is the first field.
  std::string& field(std::string_view name);
  StructText& number(std::string_view name, int64_t value);
  StructText& count(std::string_view name, uint64_t value);
  StructText& hex(std::string_view name, uint64_t value);
  StructText& pointer(std::string_view name, uint64_t value);
  StructText& flags(std::string_view name, WordSet set, uint64_t value);
  StructText& choice(std::string_view name, WordSet set, uint64_t value);
  /// ", ..."
  void cut();
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool is_first_ = true;
};

/// Words of a program: 8 bytes, or 4 for a 32-bit program.
[[nodiscard]] uint64_t read_word(ByteCursor& cursor, bool is_32);
[[nodiscard]] int64_t read_signed_word(ByteCursor& cursor, bool is_32);

/// Prints the structure that the argument points to with `print(out, cursor)`; prints the address
/// if it was not captured or is shorter than `bytes`.
template <typename Print>
void print_structure(ArgContext& context, size_t bytes, Print print) {
  Bytes structure = context.structure(bytes);
  if (structure.empty()) return append_pointer(context.out, context.value);
  ByteCursor cursor(structure);
  print(context.out, cursor);
}

/// Prints the elements between [ and ] with `print(out, cursor)`: as many as were captured, then ",
/// ..." for the rest.
template <typename Print>
void print_array(ArgContext& context, size_t element_bytes, uint64_t count, Print print) {
  const ArgMemory* memory = context.memory();
  uint64_t captured = memory == nullptr ? 0 : memory->bytes.size() / element_bytes;
  if (context.value == 0 || (captured == 0 && count != 0))
    return append_pointer(context.out, context.value);
  context.out += '[';
  ByteCursor cursor(memory == nullptr ? Bytes{} : memory->bytes);
  for (uint64_t i = 0; i < count && i < captured; i++) {
    if (i != 0) context.out += ", ";
    print(context.out, cursor);
  }
  context.out += captured < count ? ", ...]" : "]";
}

/// {tv_sec=1, tv_nsec=2}, in words as `is_32` says; `fraction` names the second field, so it does
/// timeval too.
void append_time(std::string& out, ByteCursor& cursor, bool is_32, std::string_view fraction);
/// A signal's name, or its number if it has none.
void append_signal(std::string& out, uint64_t signal);
/// [USR1 CHLD], or ~[RTMIN] if most signals are in the set.
void append_sigset(std::string& out, uint64_t mask);
/// S_IFREG|0644
void append_file_mode(std::string& out, uint64_t mode);
/// The name of a file or task, escaped but not quoted.
void append_name(std::string& out, std::string_view name);
/// A descriptor that the call returned: 7, or 7</etc/passwd>
void append_returned_fd(ArgContext& context, int32_t fd);
// Which arguments a command has (arg_commands.cc).
[[nodiscard]] bool prctl_uses(uint64_t option, size_t argument);
[[nodiscard]] bool futex_uses(uint64_t op, size_t argument);
[[nodiscard]] bool clone_uses(const ArgContext& context);
[[nodiscard]] bool fcntl_uses_argument(uint64_t command);
/// Whether a node of this mode has a device number.
[[nodiscard]] bool makes_device(uint64_t mode);
/// The result of fcntl: flags or a descriptor, depending on the command.
void append_fcntl_result(ArgContext& context);
/// The result of poll and select: a timeout, or the number of ready descriptors.
void append_ready_result(ArgContext& context);
/// {sa_family=AF_INET, …}
void append_sockaddr(std::string& out, Bytes bytes);

}  // namespace sonde
