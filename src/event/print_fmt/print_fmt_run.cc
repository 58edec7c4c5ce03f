#include "event/print_fmt/print_fmt_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "event/print_fmt/print_fmt.h"
#include "event/print_fmt/print_fmt_text.h"

namespace sonde::print_fmt {
namespace {

// A sample's raw data has at most 64 KiB, but the lengths it contains are only claims.
constexpr uint64_t kMaxWidth = 4096;

int clamp_width(uint64_t value) {
  auto width = static_cast<int64_t>(static_cast<int32_t>(value));
  return static_cast<int>(std::clamp<int64_t>(width, -int64_t{kMaxWidth}, int64_t{kMaxWidth}));
}

}  // namespace

// ---- numbers

uint64_t Run::load_integer(size_t offset, IntType type) const {
  if (raw_.size() < type.bytes || offset > raw_.size() - type.bytes) return 0;
  const std::byte* at = raw_.data() + offset;
  switch (type.bytes) {
    case 1:
      return narrow(load<uint8_t>(at), type);
    case 2:
      return narrow(load<uint16_t>(at, order_), type);
    case 4:
      return narrow(load<uint32_t>(at, order_), type);
    case 8:
      return load<uint64_t>(at, order_);
    default:
      return 0;
  }
}

uint64_t Run::load_integer(Bytes bytes, uint64_t index, IntType type) const {
  if (type.bytes == 0 || index >= bytes.size() / type.bytes) return 0;
  return load_integer(static_cast<size_t>(bytes.data() - raw_.data()) + index * type.bytes, type);
}

uint64_t Run::number(uint32_t id) const {
  const Node& node = code_.nodes[id];
  switch (node.op) {
    case Op::kConstant:
      return node.value;
    case Op::kField:
      return load_integer(node.a, node.type);
    case Op::kElement:
      return load_integer(memory(node.a), number(node.b), node.type);
    case Op::kLength:
      return narrow(memory(node.a).size(), node.type);
    case Op::kSelectNumber:
      return narrow(number(number(node.a) != 0 ? node.b : node.c), node.type);
    case Op::kCast:
      return narrow(number(node.a), node.type);
    case Op::kNegate:
      return narrow(uint64_t{0} - number(node.a), node.type);
    case Op::kInvert:
      return narrow(~number(node.a), node.type);
    case Op::kNot:
      return uint64_t{number(node.a) == 0};
    case Op::kSwap:
      return std::byteswap(number(node.a)) >> (64 - 8 * std::max<unsigned>(node.type.bytes, 1));
    case Op::kLogicalAnd:
      return uint64_t{number(node.a) != 0 && number(node.b) != 0};
    case Op::kLogicalOr:
      return uint64_t{number(node.a) != 0 || number(node.b) != 0};
    default:
      break;
  }
  if (node.op >= Op::kAdd && node.op <= Op::kNotEqual) return binary(node);
  return 0;  // memory and text have no value of their own
}

uint64_t Run::binary(const Node& node) const {
  uint64_t left = narrow(number(node.a), node.type);
  uint64_t right = number(node.b);
  bool is_shift = node.op == Op::kShiftLeft || node.op == Op::kShiftRight;
  if (!is_shift) right = narrow(right, node.type);
  uint64_t value = apply(node.op, left, right, node.type);
  return node.op >= Op::kLess ? value : narrow(value, node.type);
}

// ---- memory

Bytes Run::dynamic(const Node& node) const {
  uint64_t location = load_integer(node.a, {4, false});
  size_t start = (location & 0xffff) + node.b;
  if (start > raw_.size()) return {};
  return raw_.subspan(start, std::min<size_t>(location >> 16, raw_.size() - start));
}

Bytes Run::memory(uint32_t id) const {
  const Node& node = code_.nodes[id];
  switch (node.op) {
    case Op::kBytes:
      if (node.a > raw_.size()) return {};
      return raw_.subspan(node.a, std::min<size_t>(node.b, raw_.size() - node.a));
    case Op::kRest:
      return node.a > raw_.size() ? Bytes{} : raw_.subspan(node.a);
    case Op::kDynamic:
      return dynamic(node);
    case Op::kAddress: {
      Bytes base = memory(node.a);
      uint64_t index = number(node.b);
      size_t step = std::max<size_t>(node.pointee.bytes, 1);
      return index > base.size() / step ? Bytes{} : base.subspan(index * step);
    }
    case Op::kSelectMemory:
      return memory(number(node.a) != 0 ? node.b : node.c);
    default:
      return {};
  }
}

Bytes Run::memory_onwards(uint32_t id) const {
  Bytes bytes = memory(id);
  if (bytes.data() == nullptr) return {};
  return raw_.subspan(static_cast<size_t>(bytes.data() - raw_.data()));
}

// ---- text

void Run::number_as_string(uint64_t address) {
  if (context_.printk) {
    if (auto known = context_.printk(address)) {
      out_ += *known;
      return;
    }
  }
  append_hex(address, out_);
}

void Run::flags(const FlagTable& table, uint64_t value) {
  const std::string& delimiter = code_.strings[table.delimiter];
  bool is_first = true;
  for (uint32_t i = 0; i < table.count && value != 0; ++i) {
    const FlagEntry& entry = code_.entries[table.first + i];
    if ((value & entry.mask) != entry.mask) continue;
    if (!is_first) out_ += delimiter;
    is_first = false;
    out_ += code_.strings[entry.name];
    value &= ~entry.mask;
  }
  if (value == 0) return;
  if (!is_first) out_ += delimiter;
  out_ += "0x";
  append_hex(value, out_);
}

void Run::symbolic(const FlagTable& table, uint64_t value) {
  for (uint32_t i = 0; i < table.count; ++i) {
    const FlagEntry& entry = code_.entries[table.first + i];
    if (entry.mask != value) continue;
    out_ += code_.strings[entry.name];
    return;
  }
  if (table.otherwise != UINT32_MAX) {
    out_ += code_.strings[table.otherwise];
    return;
  }
  out_ += "0x";
  append_hex(value, out_);
}

void Run::array(const Node& node) {
  auto size = static_cast<uint8_t>(number(node.c));
  Bytes bytes = memory(node.a);
  out_ += '{';
  if (size == 1 || size == 2 || size == 4 || size == 8) {
    uint64_t count = std::min<uint64_t>(number(node.b), bytes.size() / size);
    for (uint64_t i = 0; i < count; ++i) {
      out_ += i == 0 ? "0x" : ",0x";
      append_hex(load_integer(bytes, i, {size, false}), out_);
    }
  }
  out_ += '}';
}

void Run::hex_dump(const HexDump& dump) {
  DumpLayout layout{.prefix_type = number(dump.prefix_type),
                    .row_size = number(dump.row_size),
                    .group_size = number(dump.group_size),
                    .ascii = number(dump.ascii) != 0};
  const Node& prefix = code_.nodes[dump.prefix];
  if (prefix.op == Op::kLiteral) layout.prefix = code_.strings[prefix.a];
  Bytes bytes = memory(dump.data);
  append_hex_dump(layout, order_,
                  bytes.first(std::min<uint64_t>(number(dump.length), bytes.size())), out_);
}

void Run::text(uint32_t id) {
  const Node& node = code_.nodes[id];
  switch (kind_of(node.op)) {
    case Kind::kNumber:
      return number_as_string(number(id));
    case Kind::kNull:
      out_ += "(null)";
      return;
    case Kind::kMemory: {
      Bytes bytes = memory(id);
      // Not via find(): this is called for every byte range, most of them short.
      const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
      size_t size = end == nullptr
                        ? bytes.size()
                        : static_cast<size_t>(static_cast<const std::byte*>(end) - bytes.data());
      out_.append(reinterpret_cast<const char*>(bytes.data()), size);
      return;
    }
    case Kind::kText:
      break;
  }
  switch (node.op) {
    case Op::kLiteral:
      out_ += code_.strings[node.a];
      return;
    case Op::kFlags:
      return flags(code_.tables[node.b], number(node.a));
    case Op::kSymbolic:
      return symbolic(code_.tables[node.b], number(node.a));
    case Op::kArray:
      return array(node);
    case Op::kHex:
    case Op::kHexString: {
      Bytes bytes = memory(node.a);
      bytes = bytes.first(std::min<uint64_t>(number(node.b), bytes.size()));
      return append_hex_bytes(bytes, node.op == Op::kHex ? ' ' : '\0', out_);
    }
    case Op::kHexDump:
      return hex_dump(code_.dumps[node.a]);
    case Op::kBitmask: {
      Bytes bytes = memory(node.a);
      return append_bitmap(bytes, static_cast<uint32_t>(bytes.size() * 8), word_size_, order_,
                           out_);
    }
    case Op::kFormat:
      return format(node.a);
    case Op::kPick: {
      uint64_t index = number(node.c);
      if (index < node.b) out_ += code_.strings[node.a + index];
      return;
    }
    case Op::kSelectText:
      return text(number(node.a) != 0 ? node.b : node.c);
    default:
      return;
  }
}

// ---- conversions

void Run::format(uint32_t index) {
  PieceRange range = code_.formats[index];
  for (uint32_t i = 0; i < range.count; ++i) piece(code_.pieces[range.first + i]);
}

void Run::piece(const Piece& piece) {
  out_ += code_.strings[piece.text];
  const Spec& spec = piece.spec;
  if (spec.conversion == 0) return;
  int width = spec.width == Spec::kStar ? clamp_width(number(piece.width)) : spec.width;
  int precision =
      spec.precision == Spec::kStar ? clamp_width(number(piece.precision)) : spec.precision;
  switch (spec.conversion) {
    case 's':
      return string(piece, width, precision);
    case 'p':
      return pointer(piece, width, precision);
    case 'c':
      return character(piece, width);
    default:
      break;
  }
  if (spec.width == Spec::kStar && width < 0) {
    Spec left = spec;
    left.flags = static_cast<uint8_t>(left.flags | Spec::kLeft);
    return append_integer(left, -width, precision,
                          narrow(number(piece.argument), {spec.bytes, spec.conversion == 'd'}),
                          out_);
  }
  append_integer(spec, width, precision,
                 narrow(number(piece.argument), {spec.bytes, spec.conversion == 'd'}), out_);
}

void Run::character(const Piece& piece, int width) {
  size_t start = out_.size();
  auto c = static_cast<char>(number(piece.argument));
  // A NUL would end the text for readers that treat it as a C string, and the kernel's own output
  // ends there too.
  if (c != '\0') out_ += c;
  pad(piece.spec, width, -1, start, out_);
}

void Run::string(const Piece& piece, int width, int precision) {
  size_t start = out_.size();
  text(piece.argument);
  if (width > 0 || precision >= 0) pad(piece.spec, width, precision, start, out_);
}

void Run::symbol(uint64_t address, bool with_offset) {
  if (context_.symbol) {
    if (auto found = context_.symbol(address)) {
      out_ += found->name;
      if (!with_offset) return;
      out_ += "+0x";
      append_hex(found->offset, out_);
      return;
    }
  }
  out_ += "0x";
  append_hex(address, out_);
}

void Run::plain_pointer(uint64_t address) {
  if (address == 0) {
    out_ += "(nil)";
    return;
  }
  out_ += "0x";
  append_hex(address, out_);
}

void Run::error_name(uint64_t value) {
  auto error = static_cast<int64_t>(narrow(value, {static_cast<uint8_t>(word_size_), true}));
  const char* name =
      error < 0 && error >= -4095 ? strerrorname_np(static_cast<int>(-error)) : nullptr;
  if (name == nullptr) return plain_pointer(value);
  out_ += '-';
  out_ += name;
}

void Run::pointer(const Piece& piece, int width, int precision) {
  const Spec& spec = piece.spec;
  size_t start = out_.size();
  std::string_view letters(spec.letters, strnlen(spec.letters, sizeof spec.letters));
  uint32_t id = piece.argument;
  switch (spec.pointer) {
    case Pointer::kPlain:
      plain_pointer(number(id));
      break;
    case Pointer::kSymbol:
      symbol(number(id), false);
      break;
    case Pointer::kSymbolOffset:
      symbol(number(id), true);
      break;
    case Pointer::kErrno:
      error_name(number(id));
      break;
    case Pointer::kNumber: {
      uint64_t value = load_integer(memory_onwards(id), 0, {8, false});
      out_ += "0x";
      append_hex(value, out_);
      break;
    }
    case Pointer::kIp4:
      append_ip4(letters, order_, memory_onwards(id), out_);
      break;
    case Pointer::kIp6:
      append_ip6(letters, memory_onwards(id), out_);
      break;
    case Pointer::kSocket:
      append_socket(letters, order_, memory_onwards(id), out_);
      break;
    case Pointer::kMac:
      append_mac(letters, memory_onwards(id), out_);
      break;
    case Pointer::kUuid:
      append_uuid(letters, memory_onwards(id), out_);
      break;
    case Pointer::kHex: {
      // The width is the number of bytes, at most 64 (printk-formats.rst).
      Bytes bytes = memory_onwards(id);
      size_t count = std::min<size_t>(
          width > 0 ? std::min<size_t>(static_cast<size_t>(width), 64) : 1, bytes.size());
      char option = letters.size() > 1 ? letters[1] : '\0';
      append_hex_bytes(bytes.first(count),
                       option == 'C'   ? ':'
                       : option == 'D' ? '-'
                       : option == 'N' ? '\0'
                                       : ' ',
                       out_);
      return;
    }
    case Pointer::kBitmap:
    case Pointer::kBitmapList: {
      // The width is the number of bits.
      auto bits = static_cast<uint32_t>(std::max(width, 0));
      auto append = spec.pointer == Pointer::kBitmap ? append_bitmap : append_bitmap_list;
      append(memory_onwards(id), bits, word_size_, order_, out_);
      return;
    }
  }
  if (width > 0 || precision >= 0) pad(spec, width, precision, start, out_);
}

}  // namespace sonde::print_fmt
