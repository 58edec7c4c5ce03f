// fcntl, ioctl, prctl: multiplexed calls, selected by a command.
#include <algorithm>

#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

enum Fcntl : uint32_t {  // linux/fcntl.h
  kDupfd = 0,
  kGetfd = 1,
  kSetfd = 2,
  kGetfl = 3,
  kSetfl = 4,
  kGetlk = 5,
  kSetlk = 6,
  kSetlkw = 7,
  kGetown = 9,
  kGetsig = 11,
  kOfdGetlk = 36,
  kOfdSetlkw = 38,
  kGetlease = 1025,
  kDupfdCloexec = 1030,
  kGetpipeSz = 1032,
  kAddSeals = 1033,
  kGetSeals = 1034,
};

bool is_lock(uint32_t command) {
  return (command >= kGetlk && command <= kSetlkw) ||
         (command >= kOfdGetlk && command <= kOfdSetlkw);
}

// struct flock of 64-bit programs: two shorts, then offsets.
void print_flock(ArgContext& context) {
  print_structure(context, 32, [&](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    text.choice("l_type", WordSet::k_lock_type, cursor.u16())
        .choice("l_whence", WordSet::k_whence, cursor.u16());
    cursor.skip(4);
    text.number("l_start", static_cast<int64_t>(cursor.u64()))
        .number("l_len", static_cast<int64_t>(cursor.u64()));
    auto pid = static_cast<int32_t>(cursor.u32());
    bool is_answer = context.argument(1) == kGetlk || context.argument(1) == kOfdGetlk;
    if (is_answer && context.has_succeeded()) text.number("l_pid", pid);
    text.end();
  });
}

void print_file_flags(ArgContext& context, uint64_t flags) {
  ArgContext inside = context;
  inside.value = flags;
  print_open_flags(inside);
}

}  // namespace

bool fcntl_uses_argument(uint64_t command) {
  switch (command) {
    case kGetfd:
    case kGetfl:
    case kGetown:
    case kGetsig:
    case kGetlease:
    case kGetpipeSz:
    case kGetSeals:
      return false;
    default:
      return true;
  }
}

void print_fcntl_arg(ArgContext& context) {
  auto command = static_cast<uint32_t>(context.argument(1));
  auto value = static_cast<uint32_t>(context.value);
  if (is_lock(command)) return print_flock(context);
  switch (command) {
    case kSetfd:
      return append_flags(context, WordSet::k_fd_flags, value);
    case kSetfl:
      return print_file_flags(context, value);
    case kAddSeals:
      return append_flags(context, WordSet::k_seals, value);
    case kDupfd:
    case kDupfdCloexec:
      return append_decimal(context.out, static_cast<int32_t>(value));
    default:
      if (context.value <= INT32_MAX)
        append_unsigned(context.out, context.value);
      else
        append_hex(context.out, context.value);
  }
}

void append_fcntl_result(ArgContext& context) {
  auto command = static_cast<uint32_t>(context.argument(1));
  auto result = static_cast<uint64_t>(context.event.result);
  bool is_flags = command == kGetfl || (command == kGetfd && result != 0) || command == kGetSeals;
  if (!context.event.has_entry || (!is_flags && command != kDupfd && command != kDupfdCloexec))
    return append_decimal(context.out, context.event.result);
  if (!is_flags) return append_returned_fd(context, static_cast<int32_t>(result));
  if (!context.is_perf()) {
    append_hex(context.out, result);
    context.out += " (flags ";
  }
  if (command == kGetfl)
    print_file_flags(context, result);
  else
    append_flags(context, command == kGetfd ? WordSet::k_fd_flags : WordSet::k_seals, result);
  if (!context.is_perf()) context.out += ')';
}

void print_ioctl_command(ArgContext& context) {
  auto command = static_cast<uint32_t>(context.value);
  std::string_view word = word_of(WordSet::k_ioctl, command);
  if (!word.empty()) {
    context.out += word;
    return;
  }
  // asm-generic/ioctl.h: number, type, size, and direction of the argument.
  constexpr uint32_t kWrite = 1, kRead = 2;
  uint32_t direction = command >> 30;
  bool is_short = context.is_perf() && !context.style.show_prefixes;
  context.out += context.is_perf() ? "(" : "_IOC(";
  if (direction == 0 && !context.is_perf()) context.out += "_IOC_NONE";
  if ((direction & kRead) != 0) context.out += is_short ? "READ" : "_IOC_READ";
  if (direction == (kRead | kWrite)) context.out += '|';
  if ((direction & kWrite) != 0) context.out += is_short ? "WRITE" : "_IOC_WRITE";
  if (direction != 0 || !context.is_perf()) context.out += ", ";
  append_hex(context.out, (command >> 8) & 0xff);
  context.out += ", ";
  append_hex(context.out, command & 0xff);
  context.out += ", ";
  append_hex(context.out, (command >> 16) & 0x3fff);
  context.out += ')';
}

namespace {

enum class IoctlArg : uint8_t { kPointer, kInt, kNumber, kWindow, kTerminal };

struct IoctlType {
  uint32_t command;
  IoctlArg arg;
  bool is_written;  // by the kernel
};
// asm-generic/ioctls.h; the argument of any other command is printed as an address.
constexpr IoctlType kIoctlTypes[] = {
    {0x5401, IoctlArg::kTerminal, true},  // TCGETS
    {0x5402, IoctlArg::kTerminal, false},   {0x5403, IoctlArg::kTerminal, false},
    {0x5404, IoctlArg::kTerminal, false},   {0x5413, IoctlArg::kWindow, true},   // TIOCGWINSZ
    {0x5414, IoctlArg::kWindow, false},     {0x541b, IoctlArg::kInt, true},      // FIONREAD
    {0x5421, IoctlArg::kInt, false},                                             // FIONBIO
    {0x5452, IoctlArg::kInt, false},                                             // FIOASYNC
    {0x540f, IoctlArg::kInt, true},                                              // TIOCGPGRP
    {0x5410, IoctlArg::kInt, false},        {0x5429, IoctlArg::kInt, true},      // TIOCGSID
    {0x5411, IoctlArg::kInt, true},                                              // TIOCOUTQ
    {0x80045430, IoctlArg::kInt, true},                                          // TIOCGPTN
    {0x40045431, IoctlArg::kInt, false},    {0x540b, IoctlArg::kNumber, false},  // TCFLSH
    {0x40049409, IoctlArg::kNumber, false},                                      // FICLONE
    {0x2400, IoctlArg::kNumber, false},  // PERF_EVENT_IOC_ENABLE
    {0x2401, IoctlArg::kNumber, false},     {0x2403, IoctlArg::kNumber, false},
};

void print_window(ArgContext& context, Bytes bytes) {
  ByteCursor cursor(bytes);
  uint16_t rows = cursor.u16(), columns = cursor.u16();
  StructText text(context.out);
  text.count("ws_row", rows)
      .count("ws_col", columns)
      .count("ws_xpixel", cursor.u16())
      .count("ws_ypixel", cursor.u16());
  text.end();
}

// struct termios of asm-generic/termbits.h: the speed, and the modes that people usually look for.
void print_terminal(ArgContext& context, Bytes bytes) {
  struct Speed {
    uint32_t bits, baud;
  };
  constexpr Speed kSpeeds[] = {{0, 0},           {0x7, 300},       {0x9, 1200},
                               {0xb, 2400},      {0xc, 4800},      {0xd, 9600},
                               {0xe, 19200},     {0xf, 38400},     {0x1001, 57600},
                               {0x1002, 115200}, {0x1003, 230400}, {0x1007, 921600}};
  constexpr uint32_t kSpeedMask = 0x100f, kOpost = 1, kIsig = 1, kIcanon = 2, kEcho = 8;
  ByteCursor cursor(bytes);
  cursor.skip(4);
  uint32_t output = cursor.u32(), control = cursor.u32(), local = cursor.u32();
  std::string& out = context.out;
  uint32_t speed = control & kSpeedMask;
  const Speed* found = std::ranges::find(kSpeeds, speed, &Speed::bits);
  out += "{B";
  if (found == std::end(kSpeeds))
    append_hex(out, speed);
  else
    append_unsigned(out, found->baud);
  auto add = [&](std::string_view mode, bool is_on) {
    out += is_on ? " " : " -";
    out += mode;
  };
  add("opost", (output & kOpost) != 0);
  add("isig", (local & kIsig) != 0);
  add("icanon", (local & kIcanon) != 0);
  add("echo", (local & kEcho) != 0);
  out += " ...}";
}

}  // namespace

void print_ioctl_arg(ArgContext& context) {
  auto command = static_cast<uint32_t>(context.argument(1));
  IoctlType type{command, IoctlArg::kPointer, false};
  for (const IoctlType& known : kIoctlTypes)
    if (known.command == command) type = known;
  if (type.arg == IoctlArg::kNumber)
    return append_decimal(context.out, static_cast<int32_t>(context.value));
  size_t bytes = type.arg == IoctlArg::kWindow ? 8 : type.arg == IoctlArg::kTerminal ? 16 : 4;
  const ArgMemory* memory = context.memory(0, type.is_written);
  bool is_there = memory != nullptr && memory->bytes.size() >= bytes &&
                  (!type.is_written || context.has_succeeded());
  if (type.arg == IoctlArg::kPointer || !is_there) {
    bool is_null = context.value == 0 && !context.is_perf();
    return is_null ? append_hex(context.out, 0) : append_pointer(context.out, context.value);
  }
  if (type.arg == IoctlArg::kWindow) return print_window(context, memory->bytes);
  if (type.arg == IoctlArg::kTerminal) return print_terminal(context, memory->bytes);
  context.out += '[';
  append_decimal(context.out, static_cast<int32_t>(ByteCursor(memory->bytes).u32()));
  context.out += ']';
}

namespace {

enum class PrctlArg : uint8_t { kNumber, kSignal, kName, kNameOut, kCapability, kDumpable };

struct PrctlType {
  uint32_t option;
  uint8_t count;  // number of arguments that the kernel uses
  PrctlArg arg;
};
// prctl(2); options not listed here keep all four.
constexpr PrctlType kPrctlTypes[] = {
    {1, 1, PrctlArg::kSignal},                                   // PR_SET_PDEATHSIG
    {3, 0, PrctlArg::kNumber},                                   // PR_GET_DUMPABLE
    {4, 1, PrctlArg::kDumpable},                                 // PR_SET_DUMPABLE
    {7, 0, PrctlArg::kNumber},                                   // PR_GET_KEEPCAPS
    {8, 1, PrctlArg::kNumber},                                   // PR_SET_KEEPCAPS
    {15, 1, PrctlArg::kName},                                    // PR_SET_NAME
    {16, 1, PrctlArg::kNameOut},                                 // PR_GET_NAME
    {21, 0, PrctlArg::kNumber},                                  // PR_GET_SECCOMP
    {23, 1, PrctlArg::kCapability},                              // PR_CAPBSET_READ
    {24, 1, PrctlArg::kCapability},                              // PR_CAPBSET_DROP
    {27, 0, PrctlArg::kNumber},                                  // PR_GET_SECUREBITS
    {28, 1, PrctlArg::kNumber},                                  // PR_SET_SECUREBITS
    {29, 1, PrctlArg::kNumber},                                  // PR_SET_TIMERSLACK
    {30, 0, PrctlArg::kNumber},                                  // PR_GET_TIMERSLACK
    {31, 0, PrctlArg::kNumber},                                  // PR_TASK_PERF_EVENTS_DISABLE
    {32, 0, PrctlArg::kNumber},     {36, 1, PrctlArg::kNumber},  // PR_SET_CHILD_SUBREAPER
};

const PrctlType* prctl_type(uint64_t option) {
  for (const PrctlType& known : kPrctlTypes)
    if (known.option == static_cast<uint32_t>(option)) return &known;
  return nullptr;
}

void print_task_name(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr) return append_pointer(context.out, context.value);
  constexpr size_t kNameBytes = 16;  // TASK_COMM_LEN
  Bytes name = memory->bytes.first(std::min(memory->bytes.size(), kNameBytes));
  std::string_view text = as_text(name);
  size_t end = text.find('\0');
  append_quoted(context.out, name.first(std::min(end, name.size())), end == std::string_view::npos);
}

}  // namespace

bool prctl_uses(uint64_t option, size_t argument) {
  const PrctlType* type = prctl_type(option);
  return type == nullptr || argument <= type->count;
}

void print_prctl_arg(ArgContext& context) {
  const PrctlType* type = prctl_type(context.argument(0));
  switch (type == nullptr || context.index != 1 ? PrctlArg::kNumber : type->arg) {
    case PrctlArg::kSignal:
      return print_signal(context);
    case PrctlArg::kName:
    case PrctlArg::kNameOut:
      return print_task_name(context);
    case PrctlArg::kCapability:
      return append_full_choice(context.out, WordSet::k_capability, context.value);
    case PrctlArg::kDumpable:
      return append_full_choice(context.out, WordSet::k_prctl_dumpable, context.value);
    case PrctlArg::kNumber:
      if (context.value <= INT32_MAX)
        append_unsigned(context.out, context.value);
      else
        append_hex(context.out, context.value);
  }
}

}  // namespace sonde
