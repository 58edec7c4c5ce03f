// Signal sets, handlers, and the data that a signal carries.
#include <bit>

#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

constexpr unsigned kSignals = 64;

// USR1, RTMIN, RT_1: a signal's name in a set.
void append_short_signal(std::string& out, unsigned signal) {
  std::string name;
  append_signal(name, signal);
  constexpr std::string_view kPrefix = "SIG";
  out += std::string_view(name).substr(name.starts_with(kPrefix) ? kPrefix.size() : 0);
}

}  // namespace

void append_sigset(std::string& out, uint64_t mask) {
  // A nearly full set is written as its complement.
  bool is_inverted = std::popcount(mask) >= static_cast<int>(kSignals * 2 / 3);
  if (is_inverted) {
    out += '~';
    mask = ~mask;
  }
  out += '[';
  bool is_first = true;
  for (unsigned signal = 1; signal <= kSignals; signal++) {
    if ((mask >> (signal - 1) & 1) == 0) continue;
    if (!is_first) out += ' ';
    is_first = false;
    append_short_signal(out, signal);
  }
  out += ']';
}

void print_sigset(ArgContext& context) {
  print_structure(context, 8,
                  [](std::string& out, ByteCursor& cursor) { append_sigset(out, cursor.u64()); });
}

void print_sigset_pair(ArgContext& context) {
  // The argument of pselect6: the address of the set, and its size.
  print_structure(context, context.is_32() ? 8 : 16, [&](std::string& out, ByteCursor& cursor) {
    uint64_t address = read_word(cursor, context.is_32());
    StructText(out)
        .pointer("sigmask", address)
        .count("sigsetsize", read_word(cursor, context.is_32()))
        .end();
  });
}

namespace {

void append_handler(std::string& out, uint64_t handler) {
  constexpr uint64_t kDefault = 0, kIgnore = 1;
  if (handler == kDefault)
    out += "SIG_DFL";
  else if (handler == kIgnore)
    out += "SIG_IGN";
  else
    append_hex(out, handler);
}

}  // namespace

// struct sigaction as the kernel has it (asm/signal.h): x86 and arm have the restorer, arm64 does
// not.
void print_sigaction(ArgContext& context) {
  bool is_32 = context.is_32(), has_restorer = context.event.abi != SyscallAbi::kArm64;
  size_t bytes = is_32 ? 20 : has_restorer ? 32 : 24;
  print_structure(context, bytes, [&](std::string& out, ByteCursor& cursor) {
    constexpr uint64_t kSigInfo = 4, kRestorer = 0x4000000;
    uint64_t handler = read_word(cursor, is_32), flags = read_word(cursor, is_32);
    uint64_t restorer = has_restorer ? read_word(cursor, is_32) : 0;
    uint64_t mask = cursor.u64();
    StructText text(out);
    append_handler(text.field((flags & kSigInfo) != 0 ? "sa_sigaction" : "sa_handler"), handler);
    append_sigset(text.field("sa_mask"), mask);
    text.flags("sa_flags", WordSet::k_sigaction_flags, flags & UINT32_MAX);
    if ((flags & kRestorer) != 0) text.pointer("sa_restorer", restorer);
    text.end();
  });
}

void print_stack(ArgContext& context) {
  bool is_32 = context.is_32();
  print_structure(context, is_32 ? 12 : 24, [&](std::string& out, ByteCursor& cursor) {
    uint64_t address = read_word(cursor, is_32);
    uint32_t flags = cursor.u32();
    if (!is_32) cursor.skip(4);
    StructText text(out);
    text.pointer("ss_sp", address).flags("ss_flags", WordSet::k_sigaltstack, flags);
    text.count("ss_size", read_word(cursor, is_32)).end();
  });
}

namespace {

// Of waitid and SIGCHLD: which child ended, and how. The status is an exit code or a signal.
void append_child(StructText& text, ByteCursor& cursor, uint32_t code, bool has_times, bool is_32) {
  constexpr uint32_t kExited = 1;
  text.number("si_pid", static_cast<int32_t>(cursor.u32())).count("si_uid", cursor.u32());
  uint32_t status = cursor.u32();
  if (code == kExited)
    text.number("si_status", static_cast<int32_t>(status));
  else
    append_signal(text.field("si_status"), status);
  if (!has_times) return;
  if (!is_32) cursor.skip(4);
  int64_t user = read_signed_word(cursor, is_32);
  text.number("si_utime", user).number("si_stime", read_signed_word(cursor, is_32));
}

}  // namespace

// siginfo_t (asm-generic/siginfo.h): number, error and code, followed, word-aligned, by what the
// code calls for.
void print_siginfo(ArgContext& context) {
  bool is_32 = context.is_32();
  print_structure(context, 128, [&](std::string& out, ByteCursor& cursor) {
    constexpr uint32_t kChild = 17, kUser = 0;
    uint32_t signal = cursor.u32();
    cursor.skip(4);
    uint32_t code = cursor.u32();
    if (!is_32) cursor.skip(4);
    if (signal == 0) {
      out += "{}";
      return;
    }
    StructText text(out);
    append_signal(text.field("si_signo"), signal);
    if (signal == kChild && code != kUser) {
      text.choice("si_code", WordSet::k_cld_code, code);
      append_child(text, cursor, code, context.call.name != "waitid", is_32);
    } else {
      text.number("si_code", static_cast<int32_t>(code));
      text.number("si_pid", static_cast<int32_t>(cursor.u32())).count("si_uid", cursor.u32());
    }
    text.end();
  });
}

// struct sigevent: what to do when a timer expires.
void print_sigevent(ArgContext& context) {
  print_structure(context, 64, [](std::string& out, ByteCursor& cursor) {
    constexpr uint32_t kSignal = 0, kThread = 4;
    uint64_t value = cursor.u64();
    uint32_t signal = cursor.u32(), notify = cursor.u32();
    auto thread = static_cast<int32_t>(cursor.u32());
    StructText text(out);
    StructText inside(text.field("sigev_value"));
    inside.number("sival_int", static_cast<int32_t>(value)).pointer("sival_ptr", value).end();
    if (notify == kSignal || notify == kThread) append_signal(text.field("sigev_signo"), signal);
    text.choice("sigev_notify", WordSet::k_sigevent, notify);
    if (notify == kThread) text.number("sigev_notify_thread_id", thread);
    text.end();
  });
}

}  // namespace sonde
