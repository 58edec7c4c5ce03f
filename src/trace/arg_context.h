// What a printer of an argument works with: the value, the other arguments, the memory that was
// captured, and the few ways in which text is put together. For the files arg_*.cc alone; everybody
// else calls append_arguments (arg_text.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "trace/arg_text.h"
#include "trace/syscall_table.h"

namespace sonde {

struct ArgContext {
  std::string& out;
  const SyscallEvent& event;
  const Syscall& call;
  FdNames& fds;
  const ArgStyle& style;
  size_t index = 0;    // which argument
  uint64_t value = 0;  // its own

  [[nodiscard]] const SyscallArg& arg() const { return call.args[index]; }
  [[nodiscard]] bool is_perf() const { return style.spelling == ArgSpelling::kPerf; }
  [[nodiscard]] bool is_32() const { return is_32_bit(event.abi); }
  [[nodiscard]] bool has_succeeded() const { return event.has_exit && event.result >= 0; }
  /// The value of argument `i`.
  [[nodiscard]] uint64_t argument(size_t i) const;
  /// A piece of what this argument led to: as the kernel left it if `at_exit`. Null: it was not
  /// captured, or could not be read.
  [[nodiscard]] const ArgMemory* memory(uint8_t part, bool at_exit) const;
  /// The piece that the argument's type promises: of the exit, if the call writes it and has ended,
  /// else of the entry.
  [[nodiscard]] const ArgMemory* memory(uint8_t part = 0) const;
  /// Its first `bytes` bytes; empty if there are fewer.
  [[nodiscard]] Bytes structure(size_t bytes) const;
};

/// The value of argument `i`, widened as the program's words are: two registers of a 32-bit program
/// make one 64-bit value.
uint64_t argument_value(const SyscallEvent& event, const Syscall& call, size_t i);

using ArgPrinter = void (*)(ArgContext&);
#define ARG_TYPE(name, bytes, bytes_32) void print_##name(ArgContext& context);
#include "trace/arg_types.def"
#undef ARG_TYPE

void append_decimal(std::string& out, int64_t value);
void append_unsigned(std::string& out, uint64_t value);
void append_hex(std::string& out, uint64_t value);    // 0x1f; 0 is 0
void append_octal(std::string& out, uint64_t value);  // 0644; 0 is 0
/// An address; "NULL" is none.
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
/// "PROT_READ|PROT_WRITE|0x80", or without prefixes as the style says; "0", or the word for it,
/// where no bit is set.
void append_flags(ArgContext& context, WordSet set, uint64_t value);
/// "SEEK_SET"; a value without a name as strace writes it, 0x9 /* SEEK_??? */, or as perf does, the
/// number.
void append_choice(ArgContext& context, WordSet set, uint64_t value);
/// The same with the full names, whatever the style: inside structures.
void append_full_flags(std::string& out, WordSet set, uint64_t value);
void append_full_choice(std::string& out, WordSet set, uint64_t value);
/// One word as the style wants it.
void append_word(ArgContext& context, WordSet set, std::string_view name);

/// "text", with C's escapes; "..." behind it if `is_cut`.
void append_quoted(std::string& out, Bytes bytes, bool is_cut);
/// What was captured of a buffer that has `length` bytes.
void append_buffer(ArgContext& context, const ArgMemory& memory, uint64_t length);

/// The fields of a structure: {tv_sec=1, tv_nsec=2}. Begins with the brace; `end` closes it.
class StructText {
 public:
  explicit StructText(std::string& out) : out_(out) { out_ += '{'; }
  /// "name=", behind a comma where something stands before it.
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

/// Words of a program: 8 bytes, or 4 of a 32-bit one.
[[nodiscard]] uint64_t read_word(ByteCursor& cursor, bool is_32);
[[nodiscard]] int64_t read_signed_word(ByteCursor& cursor, bool is_32);

/// Prints with `print(out, cursor)` the structure that the argument points to; an address where it
/// was not captured, or is shorter than `bytes`.
template <typename Print>
void print_structure(ArgContext& context, size_t bytes, Print print) {
  Bytes structure = context.structure(bytes);
  if (structure.empty()) return append_pointer(context.out, context.value);
  ByteCursor cursor(structure);
  print(context.out, cursor);
}

/// Prints the elements between [ and ] with `print(out, cursor)`: as many as were captured, and ",
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

/// {tv_sec=1, tv_nsec=2}, of words of `is_32`; also timeval by `fraction`.
void append_time(std::string& out, ByteCursor& cursor, bool is_32, std::string_view fraction);
/// A signal's name; its number where it has none.
void append_signal(std::string& out, uint64_t signal);
/// [USR1 CHLD], or ~[RTMIN] where most are in it.
void append_sigset(std::string& out, uint64_t mask);
/// S_IFREG|0644
void append_file_mode(std::string& out, uint64_t mode);
/// A file's or a task's name, escaped but not quoted.
void append_name(std::string& out, std::string_view name);
/// 7, or 7</etc/passwd>
void append_fd(ArgContext& context, int32_t fd);
// Which arguments a command has (arg_commands.cc).
[[nodiscard]] bool prctl_uses(uint64_t option, size_t argument);
[[nodiscard]] bool futex_uses(uint64_t op, size_t argument);
[[nodiscard]] bool clone_uses(const ArgContext& context);
[[nodiscard]] bool fcntl_uses_argument(uint64_t command);
/// Whether a node of this mode has a device number.
[[nodiscard]] bool makes_device(uint64_t mode);
/// fcntl's result: flags, or a descriptor, by its command.
void append_fcntl_result(ArgContext& context);
/// poll's and select's: a timeout, or what is ready.
void append_ready_result(ArgContext& context);
/// {sa_family=AF_INET, …}
void append_sockaddr(std::string& out, Bytes bytes);

}  // namespace sonde
