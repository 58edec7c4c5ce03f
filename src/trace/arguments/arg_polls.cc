// Descriptors to wait on.
#include <algorithm>

#include "trace/arguments/arg_context.h"

namespace sonde {

void print_pollfds(ArgContext& context) {
  uint64_t count = context.argument(context.arg().length_arg);
  print_array(context, 8, count, [](std::string& out, ByteCursor& cursor) {
    auto fd = static_cast<int32_t>(cursor.u32());
    uint16_t events = cursor.u16();
    cursor.skip(2);
    StructText text(out);
    text.number("fd", fd);
    if (fd >= 0) text.flags("events", WordSet::k_poll, events);
    text.end();
  });
}

namespace {

// What poll found, as strace appends it to the result: ([{fd=3, revents=POLLIN}])
void append_ready_fds(ArgContext& context) {
  const ArgMemory* memory = context.memory(0, true);
  if (memory == nullptr) return;
  ByteCursor cursor(memory->bytes);
  context.out += " ([";
  bool is_first = true;
  while (cursor.left() >= 8) {
    auto fd = static_cast<int32_t>(cursor.u32());
    cursor.skip(2);
    uint16_t events = cursor.u16();
    if (events == 0) continue;
    if (!is_first) context.out += ", ";
    is_first = false;
    StructText(context.out).number("fd", fd).flags("revents", WordSet::k_poll, events).end();
  }
  context.out += "])";
}

}  // namespace

void append_ready_result(ArgContext& context) {
  append_decimal(context.out, context.event.result);
  if (context.event.result == 0)
    context.out += " (Timeout)";
  else if (context.call.args[0].type == ArgType::k_pollfds)
    append_ready_fds(context);
}

namespace {

bool is_packed(const ArgContext& context) {
  return context.event.abi == SyscallAbi::kX86_64 || context.event.abi == SyscallAbi::kI386;
}

void append_epoll_event(ArgContext& context, ByteCursor& cursor) {
  uint32_t events = cursor.u32();
  if (!is_packed(context)) cursor.skip(4);
  uint64_t data = cursor.u64();
  StructText text(context.out);
  text.flags("events", WordSet::k_epoll, events);
  StructText inside(text.field("data"));
  inside.count("u32", data & UINT32_MAX).count("u64", data).end();
  text.end();
}

}  // namespace

void print_epoll_event(ArgContext& context) {
  constexpr uint64_t kDelete = 2;
  if (context.argument(1) == kDelete) return append_pointer(context.out, context.value);
  print_structure(context, is_packed(context) ? 12 : 16,
                  [&](std::string&, ByteCursor& cursor) { append_epoll_event(context, cursor); });
}

void print_epoll_events(ArgContext& context) {
  if (!context.has_succeeded()) return append_pointer(context.out, context.value);
  print_array(context, is_packed(context) ? 12 : 16, static_cast<uint64_t>(context.event.result),
              [&](std::string&, ByteCursor& cursor) { append_epoll_event(context, cursor); });
}

// The descriptors below select's first argument.
void print_fd_set(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr) return append_pointer(context.out, context.value);
  uint64_t limit = std::min<uint64_t>(context.argument(0), memory->bytes.size() * 8);
  context.out += '[';
  bool is_first = true;
  for (uint64_t fd = 0; fd < limit; fd++) {
    if ((std::to_integer<unsigned>(memory->bytes[fd / 8]) >> fd % 8 & 1) == 0) continue;
    if (!is_first) context.out += ' ';
    is_first = false;
    append_unsigned(context.out, fd);
  }
  context.out += ']';
}

void print_fd_pair(ArgContext& context) {
  print_structure(context, 8, [](std::string& out, ByteCursor& cursor) {
    out += '[';
    append_decimal(out, static_cast<int32_t>(cursor.u32()));
    out += ", ";
    append_decimal(out, static_cast<int32_t>(cursor.u32()));
    out += ']';
  });
}

}  // namespace sonde
