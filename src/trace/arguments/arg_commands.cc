// Arguments whose bits combine several values, or whose meaning depends on a command.
#include "trace/arguments/arg_context.h"

namespace sonde {

void print_mmap_flags(ArgContext& context) {
  constexpr uint64_t kTypeMask = 0xf, kHugeMask = 0x3f, kHugeTlb = 0x40000;
  constexpr unsigned kHugeShift = 26;
  auto flags = static_cast<uint32_t>(context.value);
  append_choice(context, WordSet::k_map_type, flags & kTypeMask);
  uint64_t huge = (flags & kHugeTlb) != 0 ? (flags >> kHugeShift) & kHugeMask : 0;
  uint64_t rest = flags & ~kTypeMask & ~(huge << kHugeShift);
  if (rest != 0) {
    context.out += '|';
    append_flags(context, WordSet::k_map, rest);
  }
  if (huge == 0) return;
  context.out += '|';
  append_unsigned(context.out, huge);
  context.out += "<<MAP_HUGE_SHIFT";
}

void print_memfd_flags(ArgContext& context) {
  constexpr unsigned kHugeShift = 26;
  auto flags = static_cast<uint32_t>(context.value);
  uint64_t huge = flags >> kHugeShift;
  append_flags(context, WordSet::k_memfd, flags & ((1U << kHugeShift) - 1));
  if (huge == 0) return;
  context.out += '|';
  append_unsigned(context.out, huge);
  context.out += "<<MFD_HUGE_SHIFT";
}

void print_clone_flags(ArgContext& context) {
  // The low byte is the signal that the parent gets when the child exits.
  constexpr uint64_t kSignalMask = 0xff;
  uint64_t flags = static_cast<uint32_t>(context.value) & ~kSignalMask,
           signal = context.value & kSignalMask;
  if (flags != 0 || signal == 0) append_flags(context, WordSet::k_clone, flags);
  if (signal == 0) return;
  if (flags != 0) context.out += '|';
  append_signal(context.out, signal);
}

// clone(2): whether the flags make the kernel look at the argument.
bool clone_uses(const ArgContext& context) {
  constexpr uint64_t kPidfd = 0x1000, kTls = 0x80000, kParent = 0x100000,
                     kChild = 0x200000 | 0x1000000;
  uint64_t flags = context.argument(0);
  std::string_view name = context.arg().name;
  if (name == "parent_tidptr") return (flags & (kParent | kPidfd)) != 0;
  return (flags & (name == "tls" ? kTls : kChild)) != 0;
}

void print_clone_pointer(ArgContext& context) {
  append_pointer(context.out, context.value);
}

void print_mremap_address(ArgContext& context) {
  append_pointer(context.out, context.value);
}

namespace {

constexpr uint64_t kFutexPrivate = 128, kFutexRealtime = 256;
constexpr uint64_t kFutexCommands = ~(kFutexPrivate | kFutexRealtime) & UINT32_MAX;

enum FutexCommand : uint8_t {
  kWait = 0,
  kWake = 1,
  kRequeue = 3,
  kCmpRequeue = 4,
  kWakeOp = 5,
  kLockPi = 6,
  kUnlockPi = 7,
  kTrylockPi = 8,
  kWaitBitset = 9,
  kWakeBitset = 10,
  kWaitRequeuePi = 11,
  kCmpRequeuePi = 12,
  kLockPi2 = 13,
};

}  // namespace

// futex(2): which arguments an operation uses. Operations with a second futex take a count in place
// of the timeout.
bool futex_uses(uint64_t op, size_t argument) {
  constexpr size_t kTimeout = 3, kSecond = 4, kThird = 5;
  switch (op & kFutexCommands) {
    case kWait:
    case kLockPi:
    case kLockPi2:
      return argument == kTimeout;
    case kWake:
    case kUnlockPi:
    case kTrylockPi:
      return false;
    case kWaitBitset:
      return argument == kTimeout || argument == kThird;
    case kWakeBitset:
      return argument == kThird;
    case kRequeue:
      return argument == kTimeout || argument == kSecond;
    default:
      return true;
  }
}

void print_futex_op(ArgContext& context) {
  auto op = static_cast<uint32_t>(context.value);
  uint64_t command = op & kFutexCommands;
  bool is_short = context.is_perf() && !context.style.show_prefixes;
  append_choice(context, WordSet::k_futex, command);
  // The kernel's headers define names for commands including the flag, and strace uses them.
  if ((op & kFutexPrivate) != 0) context.out += context.is_perf() ? "|" : "_PRIVATE";
  if ((op & kFutexPrivate) != 0 && context.is_perf())
    context.out += is_short ? "PRIVATE_FLAG" : "FUTEX_PRIVATE_FLAG";
  if ((op & kFutexRealtime) != 0)
    context.out += is_short ? "|CLOCK_REALTIME" : "|FUTEX_CLOCK_REALTIME";
}

void print_futex_arg(ArgContext& context) {
  constexpr size_t kThird = 5;
  if (context.index != kThird) return append_pointer(context.out, context.value);
  uint64_t command = context.argument(1) & kFutexCommands;
  auto value = static_cast<uint32_t>(context.value);
  bool is_mask = command == kWaitBitset || command == kWakeBitset;
  if (!is_mask || value != UINT32_MAX)
    append_hex(context.out, value);
  else
    context.out +=
        context.is_perf() && !context.style.show_prefixes ? "MATCH_ANY" : "FUTEX_BITSET_MATCH_ANY";
}

namespace {

void print_futex_time(ArgContext& context, bool has_words_of_32) {
  switch (context.argument(1) & kFutexCommands) {
    case kRequeue:
    case kCmpRequeue:
    case kCmpRequeuePi:
    case kWakeOp:
      return append_unsigned(context.out, static_cast<uint32_t>(context.value));
    default:
      print_structure(context, has_words_of_32 ? 8 : 16, [&](std::string& out, ByteCursor& cursor) {
        append_time(out, cursor, has_words_of_32, "tv_nsec");
      });
  }
}

}  // namespace

void print_futex_timeout(ArgContext& context) {
  print_futex_time(context, context.is_32());
}
void print_futex_timeout64(ArgContext& context) {
  print_futex_time(context, false);
}

void print_personality(ArgContext& context) {
  constexpr uint32_t kTypeMask = 0xff, kAsk = UINT32_MAX;
  auto value = static_cast<uint32_t>(context.value);
  if (value == kAsk) return append_hex(context.out, value);
  append_choice(context, WordSet::k_personality, value & kTypeMask);
  if ((value & ~kTypeMask) == 0) return;
  context.out += '|';
  append_flags(context, WordSet::k_personality_flags, value & ~kTypeMask);
}

void print_ioprio(ArgContext& context) {
  constexpr unsigned kClassShift = 13;
  auto value = static_cast<uint32_t>(context.value);
  context.out += "IOPRIO_PRIO_VALUE(";
  append_full_choice(context.out, WordSet::k_ioprio_class, value >> kClassShift);
  context.out += ", ";
  append_unsigned(context.out, value & ((1U << kClassShift) - 1));
  context.out += ')';
}

void print_ipc_key(ArgContext& context) {
  auto key = static_cast<uint32_t>(context.value);
  if (key == 0)
    context.out += "IPC_PRIVATE";
  else
    append_hex(context.out, key);
}

void print_ipc_flags(ArgContext& context) {
  // The low bits are permissions.
  constexpr uint64_t kMode = 0777;
  uint64_t flags = static_cast<uint32_t>(context.value) & ~kMode;
  if (flags != 0) {
    append_flags(context, WordSet::k_ipc_get, flags);
    context.out += '|';
  }
  append_file_mode(context.out, context.value & kMode);
}

bool makes_device(uint64_t mode) {
  constexpr uint64_t kType = 0170000, kCharacter = 0020000, kBlock = 0060000;
  return (mode & kType) == kCharacter || (mode & kType) == kBlock;
}

}  // namespace sonde
