// Strings and buffers: file names, data read and written, argv.
#include <algorithm>
#include <array>

#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

constexpr char kPlain = 0, kOctal = 1;

// How each byte is written: as is, in octal, or as C's letter escape.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t c = 0; c < escapes.size(); c++) escapes[c] = c >= ' ' && c < 0x7f ? kPlain : kOctal;
  constexpr std::pair<char, char> kLetters[] = {{'\n', 'n'}, {'\t', 't'}, {'\r', 'r'}, {'\v', 'v'},
                                                {'\f', 'f'}, {'"', '"'},  {'\\', '\\'}};
  for (auto [c, letter] : kLetters) escapes[static_cast<size_t>(c)] = letter;
  return escapes;
}();

// As few octal digits as possible, but all three if another digit follows.
char* write_octal(char* at, uint8_t value, bool needs_all) {
  if (needs_all || value >= 0100) *at++ = static_cast<char>('0' + (value >> 6));
  if (needs_all || value >= 010) *at++ = static_cast<char>('0' + ((value >> 3) & 7));
  *at++ = static_cast<char>('0' + (value & 7));
  return at;
}

// Appends the bytes, escaping unprintable ones; if `is_quoted`, quotes and backslashes too. Every
// byte becomes at most four characters, so the string grows once, not once per byte.
void append_escaped(std::string& out, Bytes bytes, bool is_quoted) {
  size_t before = out.size();
  out.resize_and_overwrite(before + bytes.size() * 4, [&](char* text, size_t) {
    char* at = text + before;
    for (size_t i = 0; i < bytes.size(); i++) {
      auto value = std::to_integer<uint8_t>(bytes[i]);
      char escape = kEscapes[value];
      bool is_printable = escape == kPlain || escape == '"' || escape == '\\';
      if (escape == kPlain || (is_printable && !is_quoted)) {
        *at++ = static_cast<char>(value);
        continue;
      }
      *at++ = '\\';
      bool before_digit =
          i + 1 < bytes.size() && bytes[i + 1] >= std::byte{'0'} && bytes[i + 1] <= std::byte{'7'};
      if (escape == kOctal)
        at = write_octal(at, value, before_digit);
      else
        *at++ = escape;
    }
    return static_cast<size_t>(at - text);
  });
}

Bytes until_nul(Bytes bytes) {
  return bytes.first(static_cast<size_t>(std::ranges::find(bytes, std::byte{0}) - bytes.begin()));
}

// A NUL-terminated string: cut, unless the NUL was found or the capture says that nothing is left.
void append_string(std::string& out, const ArgMemory& memory, size_t limit) {
  Bytes text = until_nul(memory.bytes);
  bool has_end = text.size() < memory.bytes.size() || memory.wanted_bytes <= memory.bytes.size();
  bool is_cut = !has_end || text.size() > limit;
  append_quoted(out, text.first(std::min(text.size(), limit)), is_cut);
}

uint64_t buffer_length(const ArgContext& context) {
  if (context.arg().shape == MemoryShape::kResult)
    return static_cast<uint64_t>(context.event.result);
  return context.argument(context.arg().length_arg);
}

}  // namespace

void append_quoted(std::string& out, Bytes bytes, bool is_cut) {
  out += '"';
  append_escaped(out, bytes, true);
  out += is_cut ? "\"..." : "\"";
}

void append_name(std::string& out, std::string_view name) {
  append_escaped(out, as_bytes(name), false);
}

void append_buffer(ArgContext& context, const ArgMemory& memory, uint64_t length) {
  uint64_t shown = std::min<uint64_t>({length, memory.bytes.size(), context.style.string_bytes});
  append_quoted(context.out, memory.bytes.first(shown), shown < length);
}

void print_path(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr) return append_pointer(context.out, context.value);
  // In full, whatever the limit on strings.
  append_string(context.out, *memory, SIZE_MAX);
}

void print_string(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr) return append_pointer(context.out, context.value);
  append_string(context.out, *memory, context.style.string_bytes);
}

void print_buffer(ArgContext& context) {
  uint64_t length = buffer_length(context);
  const ArgMemory* memory = context.memory();
  bool is_known = !context.arg().at_exit || context.has_succeeded();
  if (memory != nullptr)
    append_buffer(context, *memory, length);
  else if (context.value != 0 && is_known && length == 0)
    context.out += "\"\"";
  else
    append_pointer(context.out, context.value);
}

void print_xattr_list(ArgContext& context) {
  print_buffer(context);
}

void print_random_bytes(ArgContext& context) {
  const ArgMemory* memory = context.memory();
  if (memory == nullptr) return append_pointer(context.out, context.value);
  uint64_t length = buffer_length(context);
  uint64_t shown = std::min<uint64_t>({length, memory->bytes.size(), context.style.string_bytes});
  constexpr std::string_view kDigits = "0123456789abcdef";
  context.out += '"';
  for (std::byte byte : memory->bytes.first(shown)) {
    context.out += "\\x";
    context.out += kDigits[std::to_integer<size_t>(byte >> 4)];
    context.out += kDigits[std::to_integer<size_t>(byte & std::byte{15})];
  }
  context.out += shown < length ? "\"..." : "\"";
}

void print_argv(ArgContext& context) {
  const ArgMemory* pointers = context.memory();
  if (pointers == nullptr) return append_pointer(context.out, context.value);
  size_t pointer_bytes = context.is_32() ? 4 : 8;
  uint64_t wanted = pointers->wanted_bytes / pointer_bytes,
           captured = pointers->bytes.size() / pointer_bytes;
  ByteCursor cursor(pointers->bytes);
  context.out += '[';
  uint64_t i = 0;
  for (; i < captured; i++) {
    uint64_t address = read_word(cursor, context.is_32());
    if (address == 0) break;
    if (i != 0) context.out += ", ";
    const ArgMemory* text =
        i + 1 <= UINT8_MAX ? context.memory(static_cast<uint8_t>(i + 1)) : nullptr;
    if (text == nullptr)
      append_pointer(context.out, address);
    else
      append_string(context.out, *text, context.style.string_bytes);
  }
  bool is_cut = i == captured && captured < wanted;
  context.out += is_cut ? ", ...]" : "]";
}

void print_envp(ArgContext& context) {
  append_pointer(context.out, context.value);
  const ArgMemory* pointers = context.memory();
  if (pointers == nullptr) return;
  size_t pointer_bytes = context.is_32() ? 4 : 8;
  ByteCursor cursor(pointers->bytes);
  uint64_t count = 0;
  while (cursor.left() >= pointer_bytes && read_word(cursor, context.is_32()) != 0) count++;
  // If the array was cut, counting stops there.
  bool is_cut = count == pointers->bytes.size() / pointer_bytes &&
                pointers->wanted_bytes > pointers->bytes.size();
  context.out += " /* ";
  append_unsigned(context.out, count);
  context.out += is_cut ? "+ vars */" : count == 1 ? " var */" : " vars */";
}

void print_iovec(ArgContext& context) {
  size_t element = context.is_32() ? 8 : 16;
  uint64_t count = context.argument(context.arg().length_arg);
  // At exit, the buffers hold at most what was transferred.
  uint64_t left = context.arg().at_exit ? static_cast<uint64_t>(context.event.result) : UINT64_MAX;
  size_t part = 1;
  if (context.arg().at_exit && !context.has_succeeded())
    return append_pointer(context.out, context.value);
  print_array(context, element, count, [&](std::string& out, ByteCursor& cursor) {
    uint64_t base = read_word(cursor, context.is_32()), length = read_word(cursor, context.is_32());
    const ArgMemory* data =
        part <= UINT8_MAX ? context.memory(static_cast<uint8_t>(part)) : nullptr;
    part++;
    uint64_t transferred = std::min(length, left);
    left -= transferred;
    StructText text(out);
    text.field("iov_base");
    if (transferred == 0 && base != 0)
      out += "\"\"";
    else if (data != nullptr)
      append_buffer(context, *data, transferred);
    else
      append_pointer(out, base);
    text.count("iov_len", length).end();
  });
}

}  // namespace sonde
