// Sockets: types, protocols, options and addresses.
#include <arpa/inet.h>

#include <algorithm>

#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

enum Family : uint32_t { kUnix = 1, kInet = 2, kInet6 = 10, kNetlink = 16, kPacket = 17 };

uint16_t network_u16(ByteCursor& cursor) {
  uint32_t high = cursor.u8();
  return static_cast<uint16_t>(high << 8 | cursor.u8());
}
uint32_t network_u32(ByteCursor& cursor) {
  uint32_t high = network_u16(cursor);
  return high << 16 | network_u16(cursor);
}

std::string address_text(int family, Bytes bytes) {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(family, bytes.data(), text, sizeof text) == nullptr ? "?" : text;
}

void append_call(std::string& out, std::string_view function, uint64_t value) {
  out += function;
  out += '(';
  append_unsigned(out, value);
  out += ')';
}

void append_inet(StructText& text, ByteCursor& cursor) {
  append_call(text.field("sin_port"), "htons", network_u16(cursor));
  std::string& out = text.field("sin_addr");
  out += "inet_addr(\"";
  out += address_text(AF_INET, cursor.take(4));
  out += "\")";
}

void append_inet6(StructText& text, ByteCursor& cursor, std::string& out) {
  append_call(text.field("sin6_port"), "htons", network_u16(cursor));
  append_call(text.field("sin6_flowinfo"), "htonl", network_u32(cursor));
  out += ", inet_pton(AF_INET6, \"";
  out += address_text(AF_INET6, cursor.take(16));
  out += "\", &sin6_addr)";
  if (cursor.left() >= 4) text.count("sin6_scope_id", cursor.u32());
}

// A path, or a name in the abstract namespace: after a leading NUL, and not NUL-terminated.
void append_unix(StructText& text, Bytes path) {
  std::string& out = text.field("sun_path");
  bool is_abstract = path.size() > 1 && path[0] == std::byte{0};
  if (is_abstract) {
    out += '@';
    return append_quoted(out, path.subspan(1), false);
  }
  size_t end = as_text(path).find('\0');
  append_quoted(out, path.first(std::min(end, path.size())), false);
}

void append_netlink(StructText& text, ByteCursor& cursor) {
  cursor.skip(2);
  text.number("nl_pid", static_cast<int32_t>(cursor.u32()));
  uint32_t groups = cursor.u32();
  if (groups == 0) {
    text.field("nl_groups") += "00000000";
    return;
  }
  text.hex("nl_groups", groups);
}

}  // namespace

void append_sockaddr(std::string& out, Bytes bytes) {
  ByteCursor cursor(bytes);
  uint32_t family = cursor.u16();
  StructText text(out);
  text.choice("sa_family", WordSet::k_socket_family, family);
  if (family == kInet && bytes.size() >= 8)
    append_inet(text, cursor);
  else if (family == kInet6 && bytes.size() >= 24)
    append_inet6(text, cursor, out);
  else if (family == kUnix && cursor.left() > 0)
    append_unix(text, cursor.rest());
  else if (family == kNetlink && bytes.size() >= 12)
    append_netlink(text, cursor);
  else if (cursor.left() > 0)
    append_quoted(text.field("sa_data"), cursor.rest(), false);
  text.end();
}

void print_sockaddr(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr || memory->bytes.size() < 2)
    return append_pointer(context.out, context.value);
  append_sockaddr(context.out, memory->bytes);
}

// The length of an address that the kernel writes: the program's buffer size, and the actual
// length.
void print_socket_length(ArgContext& context) {
  const ArgMemory* before = context.memory(0, false);
  const ArgMemory* after = context.has_succeeded() ? context.memory(0, true) : nullptr;
  auto length = [](const ArgMemory& memory) {
    return static_cast<int32_t>(ByteCursor(memory.bytes).u32());
  };
  if (before == nullptr && after == nullptr) return append_pointer(context.out, context.value);
  context.out += '[';
  if (before != nullptr) append_decimal(context.out, length(*before));
  if (before != nullptr && after != nullptr && length(*before) != length(*after))
    context.out += " => ";
  if (after != nullptr && (before == nullptr || length(*before) != length(*after)))
    append_decimal(context.out, length(*after));
  context.out += ']';
}

void print_socket_type(ArgContext& context) {
  constexpr uint32_t kTypeMask = 0xf;
  auto type = static_cast<uint32_t>(context.value);
  std::string_view word = word_of(WordSet::k_socket_type, type & kTypeMask);
  if (word.empty())
    append_hex(context.out, type & kTypeMask);
  else
    append_word(context, WordSet::k_socket_type, word);
  if ((type & ~kTypeMask) == 0) return;
  context.out += '|';
  append_flags(context, WordSet::k_socket_flags, type & ~kTypeMask);
}

void print_socket_protocol(ArgContext& context) {
  auto protocol = static_cast<uint32_t>(context.value);
  switch (static_cast<uint32_t>(context.argument(0))) {
    case kInet:
    case kInet6:
      return append_choice(context, WordSet::k_ip_protocol, protocol);
    case kNetlink:
      return append_choice(context, WordSet::k_netlink, protocol);
    default:
      return append_unsigned(context.out, protocol);
  }
}

void print_socket_option(ArgContext& context) {
  enum Level : uint32_t { kIp = 0, kSocket = 1, kTcp = 6, kIpv6 = 41, kNetlinkLevel = 270 };
  auto option = static_cast<uint32_t>(context.value);
  switch (static_cast<uint32_t>(context.argument(1))) {
    case kSocket:
      return append_choice(context, WordSet::k_so_option, option);
    case kTcp:
      return append_choice(context, WordSet::k_tcp_option, option);
    case kIp:
      return append_choice(context, WordSet::k_ip_option, option);
    case kIpv6:
      return append_choice(context, WordSet::k_ipv6_option, option);
    case kNetlinkLevel:
      return append_choice(context, WordSet::k_netlink_option, option);
    default:
      return append_unsigned(context.out, option);
  }
}

namespace {

constexpr uint32_t kSolSocket = 1, kLinger = 13, kReceiveTimeout = 20, kSendTimeout = 21,
                   kPeerCredentials = 17;

bool append_option_structure(ArgContext& context, ByteCursor cursor) {
  if (context.argument(1) != kSolSocket) return false;
  auto option = static_cast<uint32_t>(context.argument(2));
  size_t size = cursor.left();
  if (option == kLinger && size == 8) {
    auto on = static_cast<int32_t>(cursor.u32()), seconds = static_cast<int32_t>(cursor.u32());
    StructText(context.out).number("l_onoff", on).number("l_linger", seconds).end();
  } else if ((option == kReceiveTimeout || option == kSendTimeout) && size == 16) {
    append_time(context.out, cursor, false, "tv_usec");
  } else if (option == kPeerCredentials && size == 12) {
    auto pid = static_cast<int32_t>(cursor.u32());
    uint32_t user = cursor.u32(), group = cursor.u32();
    StructText(context.out).number("pid", pid).count("uid", user).count("gid", group).end();
  } else {
    return false;
  }
  return true;
}

}  // namespace

// Usually an int; any other size is shown as a buffer.
void print_socket_value(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr || memory->bytes.empty()) return append_pointer(context.out, context.value);
  ByteCursor cursor(memory->bytes);
  if (append_option_structure(context, cursor)) return;
  if (memory->bytes.size() != 4) return append_buffer(context, *memory, memory->wanted_bytes);
  context.out += '[';
  append_decimal(context.out, static_cast<int32_t>(cursor.u32()));
  context.out += ']';
}

}  // namespace sonde
