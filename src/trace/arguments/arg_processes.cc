// Processes: how they ended, their limits and usage, their scheduling, their identity; and the
// machine they run on.
#include "trace/arguments/arg_context.h"

namespace sonde {

// sys/wait.h
void print_wait_status(ArgContext& context) {
  // No child has ended: the kernel wrote nothing.
  if (context.event.result == 0) return append_pointer(context.out, context.value);
  print_structure(context, 4, [](std::string& out, ByteCursor& cursor) {
    uint32_t status = cursor.u32(), signal = status & 0x7f;
    out += "[{";
    if (status == 0xffff) {
      out += "WIFCONTINUED(s)";
    } else if (signal == 0) {
      out += "WIFEXITED(s) && WEXITSTATUS(s) == ";
      append_unsigned(out, status >> 8 & 0xff);
    } else if (signal == 0x7f) {
      out += "WIFSTOPPED(s) && WSTOPSIG(s) == ";
      append_signal(out, status >> 8 & 0xff);
    } else {
      out += "WIFSIGNALED(s) && WTERMSIG(s) == ";
      append_signal(out, signal);
      if ((status & 0x80) != 0) out += " && WCOREDUMP(s)";
    }
    out += "}]";
  });
}

void print_rusage(ArgContext& context) {
  bool is_32 = context.is_32();
  print_structure(context, is_32 ? 72 : 144, [&](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    append_time(text.field("ru_utime"), cursor, is_32, "tv_usec");
    append_time(text.field("ru_stime"), cursor, is_32, "tv_usec");
    text.cut();
    text.end();
  });
}

namespace {

// A limit in the largest unit that divides it.
void append_limit(std::string& out, uint64_t limit, bool is_64) {
  constexpr uint64_t kUnit = 1024;
  if (limit == (is_64 ? UINT64_MAX : UINT32_MAX)) {
    out += is_64 ? "RLIM64_INFINITY" : "RLIM_INFINITY";
  } else if (limit > kUnit && limit % kUnit == 0) {
    append_unsigned(out, limit / kUnit);
    out += "*1024";
  } else {
    append_unsigned(out, limit);
  }
}

void print_limits(ArgContext& context, bool is_64, bool is_32_bit_word) {
  print_structure(context, is_32_bit_word ? 8 : 16, [&](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    append_limit(text.field("rlim_cur"), read_word(cursor, is_32_bit_word), is_64);
    append_limit(text.field("rlim_max"), read_word(cursor, is_32_bit_word), is_64);
    text.end();
  });
}

}  // namespace

void print_rlimit(ArgContext& context) {
  print_limits(context, !context.is_32(), context.is_32());
}
void print_rlimit64(ArgContext& context) {
  print_limits(context, true, false);
}

// Six strings of 65 bytes each.
void print_utsname(ArgContext& context) {
  print_structure(context, 390, [](std::string& out, ByteCursor& cursor) {
    constexpr uint64_t kField = 65;
    StructText text(out);
    for (std::string_view name : {"sysname", "nodename"})
      append_quoted(text.field(name), as_bytes(cursor.fixed_string(kField)), false);
    text.cut();
    text.end();
  });
}

// linux/sysinfo.h
void print_sysinfo(ArgContext& context) {
  bool is_32 = context.is_32();
  print_structure(context, is_32 ? 64 : 112, [&](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    text.number("uptime", read_signed_word(cursor, is_32));
    std::string& loads = text.field("loads");
    loads += '[';
    for (int i = 0; i < 3; i++) {
      if (i != 0) loads += ", ";
      append_unsigned(loads, read_word(cursor, is_32));
    }
    loads += ']';
    for (std::string_view name :
         {"totalram", "freeram", "sharedram", "bufferram", "totalswap", "freeswap"})
      text.count(name, read_word(cursor, is_32));
    text.count("procs", cursor.u16());
    cursor.skip(is_32 ? 2 : 6);
    text.count("totalhigh", read_word(cursor, is_32)).count("freehigh", read_word(cursor, is_32));
    text.count("mem_unit", cursor.u32()).end();
  });
}

void print_sched_param(ArgContext& context) {
  print_structure(context, 4, [](std::string& out, ByteCursor& cursor) {
    out += '[';
    append_decimal(out, static_cast<int32_t>(cursor.u32()));
    out += ']';
  });
}

// linux/sched/types.h
void print_sched_attr(ArgContext& context) {
  print_structure(context, 56, [](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    uint32_t size = cursor.u32();
    text.count("size", size).choice("sched_policy", WordSet::k_sched_policy, cursor.u32());
    text.flags("sched_flags", WordSet::k_sched_flags, cursor.u64());
    text.number("sched_nice", static_cast<int32_t>(cursor.u32()))
        .count("sched_priority", cursor.u32());
    for (std::string_view name : {"sched_runtime", "sched_deadline", "sched_period"})
      text.count(name, cursor.u64());
    constexpr uint32_t kWithClamps = 56;
    if (size >= kWithClamps)
      text.count("sched_util_min", cursor.u32()).count("sched_util_max", cursor.u32());
    text.end();
  });
}

// linux/sched.h
void print_clone_args(ArgContext& context) {
  print_structure(context, 88, [](std::string& out, ByteCursor& cursor) {
    constexpr uint64_t kPidfd = 0x1000, kChildTid = 0x1000000 | 0x200000, kParentTid = 0x100000,
                       kTls = 0x80000;
    uint64_t flags = cursor.u64(), pidfd = cursor.u64(), child = cursor.u64(),
             parent = cursor.u64();
    uint64_t signal = cursor.u64(), stack = cursor.u64(), stack_bytes = cursor.u64(),
             tls = cursor.u64();
    StructText text(out);
    text.flags("flags", WordSet::k_clone, flags);
    if ((flags & kPidfd) != 0) text.pointer("pidfd", pidfd);
    if ((flags & kChildTid) != 0) text.pointer("child_tid", child);
    if ((flags & kParentTid) != 0) text.pointer("parent_tid", parent);
    append_signal(text.field("exit_signal"), signal);
    text.pointer("stack", stack).hex("stack_size", stack_bytes);
    if ((flags & kTls) != 0) text.pointer("tls", tls);
    text.end();
  });
}

// One bit per CPU.
void print_cpu_set(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr || memory->bytes.empty()) return append_pointer(context.out, context.value);
  context.out += '[';
  bool is_first = true;
  for (size_t cpu = 0; cpu < memory->bytes.size() * 8; cpu++) {
    if ((std::to_integer<unsigned>(memory->bytes[cpu / 8]) >> cpu % 8 & 1) == 0) continue;
    if (!is_first) context.out += ' ';
    is_first = false;
    append_unsigned(context.out, cpu);
  }
  context.out += ']';
}

void print_capability_header(ArgContext& context) {
  print_structure(context, 8, [](std::string& out, ByteCursor& cursor) {
    constexpr uint32_t kVersion3 = 0x20080522;
    uint32_t version = cursor.u32();
    StructText text(out);
    if (version == kVersion3)
      text.field("version") += "_LINUX_CAPABILITY_VERSION_3";
    else
      text.hex("version", version);
    text.number("pid", static_cast<int32_t>(cursor.u32())).end();
  });
}

// Two structures of 32 capabilities each form one of 64.
void print_capability_data(ArgContext& context) {
  print_structure(context, 24, [](std::string& out, ByteCursor& cursor) {
    uint64_t sets[3] = {};
    for (unsigned half = 0; half < 2; half++)
      for (uint64_t& set : sets) set |= uint64_t{cursor.u32()} << (32 * half);
    StructText text(out);
    text.hex("effective", sets[0]).hex("permitted", sets[1]).hex("inheritable", sets[2]).end();
  });
}

}  // namespace sonde
