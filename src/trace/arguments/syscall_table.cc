#include "trace/arguments/syscall_table.h"

#include <algorithm>

#include "abi/syscalls.h"
#include "base/check.h"
#include "base/text.h"

namespace sonde {
namespace {

struct Described {
  std::string_view name;
  ResultType result;
  uint32_t groups;
  uint8_t arg_count;
  std::array<SyscallArg, 6> args;
};

template <typename... Args>
constexpr Described described(std::string_view name, ResultType result, uint32_t groups,
                              Args... args) {
  static_assert(sizeof...(args) <= 6);
  return {name, result, groups, sizeof...(args), {args...}};
}

constexpr SyscallArg value(ArgType type, std::string_view name, WordSet words = WordSet::k_none) {
  return {.name = name, .type = type, .words = words};
}
constexpr SyscallArg points_to(ArgType type, std::string_view name, MemoryShape shape,
                               bool at_entry, bool at_exit, uint8_t length_arg = 0) {
  return {.name = name,
          .type = type,
          .shape = shape,
          .at_entry = at_entry,
          .at_exit = at_exit,
          .length_arg = length_arg};
}

// In a namespace of their own, because some group names are functions elsewhere (stat, signal).
namespace calls {

#define GROUP(name, bit) [[maybe_unused]] constexpr uint32_t name = k_group_##name;
#include "trace/arguments/syscall_groups.def"
#undef GROUP

#define T(type, name) value(ArgType::k_##type, name)
#define F(words, name) value(ArgType::k_flags, name, WordSet::k_##words)
#define E(words, name) value(ArgType::k_choice, name, WordSet::k_##words)
#define PATH(name) points_to(ArgType::k_path, name, MemoryShape::kString, true, false)
#define TEXT(name) points_to(ArgType::k_string, name, MemoryShape::kString, true, false)
#define STRINGS(type, name) \
  points_to(ArgType::k_##type, name, MemoryShape::kStringArray, true, false)
#define IN(type, name) points_to(ArgType::k_##type, name, MemoryShape::kFixed, true, false)
#define OUT(type, name) points_to(ArgType::k_##type, name, MemoryShape::kFixed, false, true)
#define INOUT(type, name) points_to(ArgType::k_##type, name, MemoryShape::kFixed, true, true)
#define IN_N(type, name, n) \
  points_to(ArgType::k_##type, name, MemoryShape::kCounted, true, false, n)
#define INOUT_N(type, name, n) \
  points_to(ArgType::k_##type, name, MemoryShape::kCounted, true, true, n)
#define OUT_R(type, name) points_to(ArgType::k_##type, name, MemoryShape::kResult, false, true)
#define OUT_P(type, name, n) \
  points_to(ArgType::k_##type, name, MemoryShape::kPointed, false, true, n)
#define VEC_IN(type, name, n) \
  points_to(ArgType::k_##type, name, MemoryShape::kIovec, true, false, n)
#define VEC_OUT(type, name, n) \
  points_to(ArgType::k_##type, name, MemoryShape::kIovec, false, true, n)
#define MSG_IN(name) points_to(ArgType::k_msghdr, name, MemoryShape::kMsghdr, true, false)
#define MSG_OUT(name) points_to(ArgType::k_msghdr, name, MemoryShape::kMsghdr, false, true)
#define MMSG_IN(name, n) points_to(ArgType::k_mmsghdr, name, MemoryShape::kMmsghdr, true, false, n)
#define MMSG_OUT(name, n) points_to(ArgType::k_mmsghdr, name, MemoryShape::kMmsghdr, false, true, n)
#define CALL(name, result, groups, ...) \
  described(#name, ResultType::k_##result, groups __VA_OPT__(, ) __VA_ARGS__),
constexpr Described kDescribed[] = {
#include "trace/arguments/syscall_args.def"
};
#undef CALL
#undef T
#undef F
#undef E
#undef PATH
#undef TEXT
#undef STRINGS
#undef IN
#undef OUT
#undef INOUT
#undef IN_N
#undef INOUT_N
#undef OUT_R
#undef OUT_P
#undef VEC_IN
#undef VEC_OUT
#undef MSG_IN
#undef MSG_OUT
#undef MMSG_IN
#undef MMSG_OUT

}  // namespace calls

struct TypeSize {
  uint16_t bytes, bytes_32;
};
constexpr TypeSize kTypeSizes[] = {
#define ARG_TYPE(name, bytes, bytes_32) {bytes, bytes_32},
#include "trace/arguments/arg_types.def"
#undef ARG_TYPE
};

constexpr std::pair<std::string_view, uint32_t> kGroups[] = {
#define GROUP(name, bit) {#name, k_group_##name},
#include "trace/arguments/syscall_groups.def"
#undef GROUP
    {"net", k_group_network},
};

uint16_t element_bytes(ArgType type, SyscallAbi abi) {
  // struct epoll_event is packed on x86 only; arm64 uses the generic struct stat.
  bool is_arm = abi == SyscallAbi::kArm64 || abi == SyscallAbi::kArm;
  if (is_arm && (type == ArgType::k_epoll_event || type == ArgType::k_epoll_events)) return 16;
  if (abi == SyscallAbi::kArm64 && type == ArgType::k_stat) return 128;
  const TypeSize& size = kTypeSizes[static_cast<size_t>(type)];
  return is_32_bit(abi) ? size.bytes_32 : size.bytes;
}

// Arguments of 64 bits, which take two registers in a 32-bit program.
bool is_wide(const SyscallArg& arg) {
  return arg.type == ArgType::k_offset || arg.type == ArgType::k_uint64;
}

uint16_t bounded(size_t bytes) {
  return static_cast<uint16_t>(std::min<size_t>(bytes, UINT16_MAX));
}

uint8_t elements(uint16_t count) {
  return static_cast<uint8_t>(std::min<uint16_t>(count, UINT8_MAX));
}

void set_bounds(CaptureRule& rule, const SyscallArg& arg, const CaptureLimits& limits) {
  switch (rule.shape) {
    case MemoryShape::kFixed:
      rule.max_bytes = rule.element_bytes;
      break;
    case MemoryShape::kStringArray: {
      bool is_counted = arg.type == ArgType::k_envp;
      rule.max_bytes = is_counted ? 0 : limits.string_bytes;
      rule.max_elements = elements(is_counted ? limits.variables : limits.strings);
      break;
    }
    case MemoryShape::kIovec:
    case MemoryShape::kMsghdr:
    case MemoryShape::kMmsghdr:
      rule.max_bytes = limits.string_bytes;
      rule.max_elements = elements(limits.buffers);
      break;
    case MemoryShape::kString:
    case MemoryShape::kCounted:
    case MemoryShape::kResult:
    case MemoryShape::kPointed:
    case MemoryShape::kNone:
      if (arg.type == ArgType::k_path)
        rule.max_bytes = limits.path_bytes;
      else if (arg.type == ArgType::k_sockaddr)
        rule.max_bytes = 128;  // struct sockaddr_storage
      else if (arg.type == ArgType::k_dirents || arg.type == ArgType::k_dirents64)
        rule.max_bytes = 4096;  // they are counted; entries that are cut off could not be
      else if (arg.type == ArgType::k_cpu_set)
        rule.max_bytes = 128;
      else if (rule.element_bytes > 1)
        rule.max_bytes = bounded(static_cast<size_t>(rule.element_bytes) * limits.array_elements);
      else
        rule.max_bytes = limits.string_bytes;
  }
}

}  // namespace

size_t register_of(const Syscall& call, size_t arg, SyscallAbi abi) {
  if (!is_32_bit(abi)) return arg;
  size_t at = 0;
  for (size_t i = 0;; i++) {
    bool wide = is_wide(call.args[i]);
    // EABI: a pair starts at an even register.
    if (wide && abi == SyscallAbi::kArm) at += at % 2;
    if (i >= arg) return at;
    at += wide ? 2 : 1;
  }
}

uint8_t descriptor_registers(const Syscall& call, SyscallAbi abi) {
  unsigned bits = 0;
  for (size_t i = 0; i < call.arg_count; i++) {
    ArgType type = call.args[i].type;
    bool is_descriptor =
        type == ArgType::k_fd || type == ArgType::k_dirfd || type == ArgType::k_map_fd;
    size_t at = register_of(call, i, abi);
    if (is_descriptor && at < 6) bits |= 1U << at;
  }
  return static_cast<uint8_t>(bits);
}

std::vector<CaptureRule> capture_rules(const Syscall& call, SyscallAbi abi,
                                       const CaptureLimits& limits) {
  std::vector<CaptureRule> rules;
  for (bool at_exit : {false, true}) {
    for (size_t i = 0; i < call.arg_count; i++) {
      const SyscallArg& arg = call.args[i];
      if (arg.shape == MemoryShape::kNone || !(at_exit ? arg.at_exit : arg.at_entry)) continue;
      size_t from = register_of(call, i, abi), length = register_of(call, arg.length_arg, abi);
      uint16_t bytes = element_bytes(arg.type, abi);
      if (bytes == 0 && arg.shape != MemoryShape::kString &&
          arg.shape != MemoryShape::kStringArray) {
        if (arg.type != ArgType::k_path) continue;  // a layout that we do not read
        bytes = 1;
      }
      if (from >= 6 || length >= 6) continue;
      CaptureRule rule{.arg = static_cast<uint8_t>(from),
                       .at_exit = at_exit,
                       .shape = arg.shape,
                       .length_arg = static_cast<uint8_t>(length),
                       .pointer_bytes = static_cast<uint8_t>(is_32_bit(abi) ? 4 : 8),
                       .element_bytes = std::max<uint16_t>(bytes, 1)};
      set_bounds(rule, arg, limits);
      rules.push_back(rule);
    }
  }
  return rules;
}

const SyscallTable& SyscallTable::get() {
  static const SyscallTable table;
  return table;
}

SyscallTable::SyscallTable() {
  for (const abi::SyscallInfo& info : abi::syscalls()) {
    const auto* found = std::ranges::find(calls::kDescribed, info.name, &Described::name);
    CHECK(found != std::end(calls::kDescribed));
    Syscall call{.name = info.name,
                 .kernel_name = info.kernel_name,
                 .result = found->result,
                 .groups = found->groups,
                 .arg_count = found->arg_count,
                 .args = found->args,
                 .numbers = {info.x86_64, info.i386, info.generic, info.arm}};
    calls_.push_back(call);
    for (size_t abi = 0; abi < by_number_.size(); abi++) {
      if (call.numbers[abi] < 0) continue;
      auto number = static_cast<size_t>(call.numbers[abi]);
      if (by_number_[abi].size() <= number) by_number_[abi].resize(number + 1);
      by_number_[abi][number] = static_cast<uint16_t>(calls_.size());
    }
  }
}

const Syscall* SyscallTable::find(SyscallAbi abi, uint32_t number) const {
  const std::vector<uint16_t>& table = by_number_[static_cast<size_t>(abi)];
  if (number >= table.size() || table[number] == 0) return nullptr;
  return &calls_[table[number] - 1U];
}

const Syscall* SyscallTable::find(std::string_view name) const {
  for (auto field : {&Syscall::name, &Syscall::kernel_name}) {
    auto found = std::ranges::find(calls_, name, field);
    if (found != calls_.end()) return &*found;
  }
  return nullptr;
}

std::vector<const Syscall*> SyscallTable::match(std::string_view pattern, SyscallAbi abi) const {
  bool is_group = pattern.starts_with('%');
  if (is_group) pattern.remove_prefix(1);
  std::vector<const Syscall*> found;
  auto add_if = [&](auto&& matches) {
    for (const Syscall& call : calls_)
      if (call.number(abi) >= 0 && matches(call)) found.push_back(&call);
  };
  if (!is_group && has_glob(pattern)) {
    add_if([&](const Syscall& call) { return glob_match(pattern, call.name); });
    return found;
  }
  if (!is_group) add_if([&](const Syscall& call) { return call.name == pattern; });
  if (!is_group && found.empty())
    add_if([&](const Syscall& call) { return call.kernel_name == pattern; });
  const auto* group =
      std::ranges::find(kGroups, pattern, &std::pair<std::string_view, uint32_t>::first);
  if (found.empty() && group != std::end(kGroups))
    add_if([&](const Syscall& call) { return (call.groups & group->second) != 0; });
  return found;
}

std::vector<std::string_view> SyscallTable::group_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, bits] : kGroups) names.push_back(name);
  return names;
}

}  // namespace sonde
