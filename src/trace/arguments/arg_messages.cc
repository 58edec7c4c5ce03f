// struct msghdr: an address, buffers, and control messages with descriptors. What it points to
// comes in parts (MessagePart).
#include <algorithm>

#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

struct Message {
  uint64_t name, name_bytes, iovec, iovecs, control, control_bytes;
  uint32_t flags;
};

Message read_message(ByteCursor& cursor, bool is_32) {
  Message message{};
  message.name = read_word(cursor, is_32);
  message.name_bytes = cursor.u32();
  if (!is_32) cursor.skip(4);
  message.iovec = read_word(cursor, is_32);
  message.iovecs = read_word(cursor, is_32);
  message.control = read_word(cursor, is_32);
  message.control_bytes = read_word(cursor, is_32);
  message.flags = cursor.u32();
  if (!is_32) cursor.skip(4);
  return message;
}

void append_buffers(ArgContext& context, const Message& message, uint64_t transferred,
                    bool is_received) {
  const ArgMemory* vector = context.memory(kMessageIovec);
  if (vector == nullptr) return append_pointer(context.out, message.iovec);
  size_t element = context.is_32() ? 8 : 16;
  uint64_t captured = vector->bytes.size() / element, left = is_received ? transferred : UINT64_MAX;
  ByteCursor cursor(vector->bytes);
  context.out += '[';
  for (uint64_t i = 0; i < message.iovecs && i < captured; i++) {
    if (i != 0) context.out += ", ";
    uint64_t base = read_word(cursor, context.is_32()), length = read_word(cursor, context.is_32());
    uint64_t shown = std::min(length, left), part = kMessageData + i;
    left -= shown;
    const ArgMemory* data =
        part <= UINT8_MAX ? context.memory(static_cast<uint8_t>(part)) : nullptr;
    StructText text(context.out);
    text.field("iov_base");
    if (shown == 0 && base != 0)
      context.out += "\"\"";
    else if (data != nullptr)
      append_buffer(context, *data, shown);
    else
      append_pointer(context.out, base);
    text.count("iov_len", length).end();
  }
  context.out += captured < message.iovecs ? ", ...]" : "]";
}

// One control message: descriptors or credentials passed with the data (socket(7), unix(7)).
void append_control_message(std::string& out, ByteCursor& cursor, bool is_32) {
  constexpr uint32_t kSocketLevel = 1, kRights = 1, kCredentials = 2;
  size_t header = is_32 ? 12 : 16;
  uint64_t length = read_word(cursor, is_32);
  uint32_t level = cursor.u32(), type = cursor.u32();
  Bytes data =
      cursor.take(std::min<uint64_t>(length > header ? length - header : 0, cursor.left()));
  size_t padding = (is_32 ? 4 : 8) - 1;
  cursor.skip(
      std::min<uint64_t>(((data.size() + padding) & ~padding) - data.size(), cursor.left()));
  StructText text(out);
  text.count("cmsg_len", length).choice("cmsg_level", WordSet::k_socket_level, level);
  bool is_socket = level == kSocketLevel;
  if (is_socket)
    text.choice("cmsg_type", WordSet::k_socket_control, type);
  else
    text.hex("cmsg_type", type);
  ByteCursor inside(data);
  if (is_socket && type == kRights) {
    text.field("cmsg_data") += '[';
    for (bool is_first = true; inside.left() >= 4; is_first = false) {
      if (!is_first) out += ", ";
      append_decimal(out, static_cast<int32_t>(inside.u32()));
    }
    out += ']';
  } else if (is_socket && type == kCredentials && data.size() >= 12) {
    auto pid = static_cast<int32_t>(inside.u32());
    uint32_t user = inside.u32(), group = inside.u32();
    StructText(text.field("cmsg_data"))
        .number("pid", pid)
        .count("uid", user)
        .count("gid", group)
        .end();
  } else if (!data.empty()) {
    append_quoted(text.field("cmsg_data"), data, false);
  }
  text.end();
}

void append_control(ArgContext& context, const Message& message) {
  const ArgMemory* control = context.memory(kMessageControl);
  if (control == nullptr) return append_pointer(context.out, message.control);
  size_t header = context.is_32() ? 12 : 16;
  ByteCursor cursor(
      control->bytes.first(std::min<uint64_t>(control->bytes.size(), message.control_bytes)));
  context.out += '[';
  for (bool is_first = true; cursor.left() >= header; is_first = false) {
    if (!is_first) context.out += ", ";
    append_control_message(context.out, cursor, context.is_32());
  }
  context.out += ']';
}

void append_message(ArgContext& context, ByteCursor& cursor, uint64_t transferred) {
  Message message = read_message(cursor, context.is_32());
  StructText text(context.out);
  const ArgMemory* name = context.memory(kMessageName);
  text.field("msg_name");
  if (name != nullptr && name->bytes.size() >= 2)
    append_sockaddr(context.out,
                    name->bytes.first(std::min<uint64_t>(name->bytes.size(), message.name_bytes)));
  else
    append_pointer(context.out, message.name);
  text.count("msg_namelen", message.name_bytes);
  text.field("msg_iov");
  append_buffers(context, message, transferred, context.arg().at_exit);
  text.count("msg_iovlen", message.iovecs);
  if (message.control_bytes != 0) {
    text.field("msg_control");
    append_control(context, message);
  }
  text.count("msg_controllen", message.control_bytes)
      .flags("msg_flags", WordSet::k_msg, message.flags)
      .end();
}

}  // namespace

void print_msghdr(ArgContext& context) {
  print_structure(context, context.is_32() ? 28 : 56, [&](std::string&, ByteCursor& cursor) {
    append_message(context, cursor, static_cast<uint64_t>(context.event.result));
  });
}

// The first message; an argument or the result says how many there are.
void print_mmsghdr(ArgContext& context) {
  print_structure(context, context.is_32() ? 32 : 64, [&](std::string& out, ByteCursor& cursor) {
    ByteCursor behind = cursor;
    behind.skip(context.is_32() ? 28 : 56);
    uint64_t transferred = behind.u32();
    out += '[';
    StructText text(out);
    text.field("msg_hdr");
    append_message(context, cursor, transferred);
    if (context.has_succeeded()) text.count("msg_len", transferred);
    text.end();
    bool is_cut = context.argument(context.arg().length_arg) > 1 &&
                  (!context.has_succeeded() || context.event.result > 1);
    out += is_cut ? ", ...]" : "]";
  });
}

}  // namespace sonde
