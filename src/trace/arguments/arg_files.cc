// Descriptors, and how files are opened.
#include "trace/arguments/arg_context.h"

namespace sonde {

namespace {

void append_named_fd(ArgContext& context, int32_t fd, std::string_view name) {
  append_decimal(context.out, fd);
  if (name.empty()) return;
  context.out += '<';
  append_name(context.out, name);
  context.out += '>';
}

bool shows_name(const ArgContext& context, int32_t fd) {
  return fd >= 0 && context.is_perf();
}

}  // namespace

void append_returned_fd(ArgContext& context, int32_t fd) {
  append_named_fd(
      context, fd,
      shows_name(context, fd) ? context.fds.name(context.event.pid, fd) : std::string_view());
}

void print_fd(ArgContext& context) {
  auto fd = static_cast<int32_t>(context.value);
  size_t at = register_of(context.call, context.index, context.event.abi);
  append_named_fd(
      context, fd,
      shows_name(context, fd) ? context.fds.name(context.event, at, fd) : std::string_view());
}

void print_map_fd(ArgContext& context) {
  print_fd(context);
}

void print_dirfd(ArgContext& context) {
  constexpr int32_t kWorkingDirectory = -100;  // AT_FDCWD
  auto fd = static_cast<int32_t>(context.value);
  if (fd != kWorkingDirectory) return print_fd(context);
  context.out += context.is_perf() && !context.style.show_prefixes ? "CWD" : "AT_FDCWD";
}

namespace {

// open's flags are an enumerator (the access mode) plus flags. They differ on arm.
void append_open_flags(ArgContext& context, uint64_t flags) {
  bool is_arm = context.event.abi == SyscallAbi::kArm64 || context.event.abi == SyscallAbi::kArm;
  constexpr uint64_t kAccess = 3;
  append_word(context, WordSet::k_open_access, word_of(WordSet::k_open_access, flags & kAccess));
  if ((flags & ~kAccess) == 0) return;
  context.out += '|';
  append_flags(context, is_arm ? WordSet::k_open_flags_arm : WordSet::k_open_flags,
               flags & ~kAccess);
}

struct OpenHow {
  uint64_t flags, mode, resolve;
};

}  // namespace

void print_open_flags(ArgContext& context) {
  append_open_flags(context, static_cast<uint32_t>(context.value));
}

// Two of the flags form one three-valued field, whose default is zero.
void print_statx_flags(ArgContext& context) {
  constexpr uint32_t kSync = 0x6000;
  auto flags = static_cast<uint32_t>(context.value);
  if ((flags & kSync) == 0) append_word(context, WordSet::k_statx_flags, "AT_STATX_SYNC_AS_STAT");
  if (flags == 0) return;
  if ((flags & kSync) == 0) context.out += '|';
  append_flags(context, WordSet::k_statx_flags, flags);
}

void print_open_how(ArgContext& context) {
  print_structure(context, 24, [&](std::string& out, ByteCursor& cursor) {
    OpenHow how{cursor.u64(), cursor.u64(), cursor.u64()};
    constexpr uint64_t kCreates = 0x40 | 0x400000;
    StructText text(out);
    text.field("flags");
    ArgStyle full = context.style;
    full.show_prefixes = true;
    ArgContext inside{.out = out,
                      .event = context.event,
                      .call = context.call,
                      .fds = context.fds,
                      .style = full};
    append_open_flags(inside, how.flags);
    if ((how.flags & kCreates) != 0) append_file_mode(text.field("mode"), how.mode);
    text.flags("resolve", WordSet::k_resolve, how.resolve);
    text.end();
  });
}

// struct perf_event_attr: the fields that every version of it has had (linux/perf_event.h).
void print_perf_attr(ArgContext& context) {
  print_structure(context, 64, [](std::string& out, ByteCursor& cursor) {
    uint32_t type = cursor.u32(), size = cursor.u32();
    uint64_t config = cursor.u64(), period = cursor.u64(), sample_type = cursor.u64(),
             format = cursor.u64();
    constexpr uint64_t kDisabled = 1, kInherit = 2, kUsesFrequency = 1 << 10;
    uint64_t bits = cursor.u64();
    StructText text(out);
    text.choice("type", WordSet::k_perf_type, type).hex("size", size).hex("config", config);
    text.count((bits & kUsesFrequency) != 0 ? "sample_freq" : "sample_period", period);
    text.hex("sample_type", sample_type).hex("read_format", format);
    text.count("disabled", bits & kDisabled).count("inherit", (bits & kInherit) != 0 ? 1 : 0);
    text.cut();
    text.end();
  });
}

}  // namespace sonde
