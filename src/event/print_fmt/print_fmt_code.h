// The compiled form of a print format: expressions as nodes in one array, conversions as pieces in
// another.
//
// An expression is one of four kinds. *Numbers* are kept in 64 bits, sign- or zero-extended after
// every step according to the C type of that step, so that 32-bit arithmetic wraps as in the
// kernel. *Memory* is a range of the sample's raw data (an array, a dynamic array, &REC->x). *Text*
// is rendered straight into the output (__print_flags, string literals). *Null* is ((void *)0).
//
// Children precede their parents, and all constants are folded at compile time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::print_fmt {

struct IntType {
  uint8_t bytes = 4;  // 0: unknown (void, a structure)
  bool is_signed = true;
  bool operator==(const IntType&) const = default;
};

enum class Op : uint8_t {
  // numbers
  kConstant,      // value
  kField,         // a: offset, type: width and sign of the load
  kElement,       // a: memory node, b: index node, pointee: width and sign
  kLength,        // a: memory node; its bytes
  kSelectNumber,  // a ? b : c
  kCast,
  kNegate,
  kInvert,
  kNot,
  kSwap,  // a
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kShiftLeft,
  kShiftRight,
  kAnd,
  kOr,
  kXor,  // a, b
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kLogicalAnd,
  kLogicalOr,  // a, b
  // memory
  kBytes,         // a: offset, b: size
  kRest,          // a: offset; to the end of the raw data
  kDynamic,       // a: offset of the location, b: what its offset is relative to
  kAddress,       // a: memory node, b: index node, pointee: size of a step
  kSelectMemory,  // a ? b : c
  // text
  kLiteral,     // a: string
  kFlags,       // a: number node, b: table
  kSymbolic,    // a: number node, b: table
  kArray,       // a: memory node, b: count node, c: element size node
  kHex,         // a: memory node, b: length node; bytes separated
  kHexString,   // the same, bytes joined
  kHexDump,     // a: index into `dumps`
  kBitmask,     // a: memory node
  kFormat,      // a: index into `formats`: the text of trace_seq_printf
  kPick,        // a: first string, b: how many, c: index node
  kSelectText,  // a ? b : c
  kNull,
};

struct Node {
  Op op = Op::kConstant;
  IntType type{};             // for a number
  IntType pointee{0, false};  // for memory, and for numbers that are addresses: what [] and * read
  bool is_pointer = false;
  bool is_unresolved = false;  // a constant whose name is unknown; its value is then 0
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint64_t value = 0;
};

struct FlagEntry {
  uint64_t mask = 0;
  uint32_t name = 0;  // string
};

/// The list of a __print_flags or __print_symbolic.
struct FlagTable {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t delimiter = 0;  // string
  uint32_t otherwise =
      UINT32_MAX;  // string for values not in the list; the number in hex if there is none
};

struct HexDump {
  uint32_t prefix = 0;  // text node
  uint32_t prefix_type = 0, row_size = 0, group_size = 0, data = 0, length = 0, ascii = 0;  // nodes
};

/// How a %p followed by letters shows its argument.
enum class Pointer : uint8_t {
  kPlain,
  kSymbol,
  kSymbolOffset,
  kIp4,
  kIp6,
  kSocket,
  kMac,
  kUuid,
  kHex,
  kBitmap,
  kBitmapList,
  kErrno,
  kNumber,
};

struct Spec {
  enum Flag : uint8_t { kLeft = 1, kPlus = 2, kSpace = 4, kAlternate = 8, kZero = 16 };
  static constexpr int16_t kNone = -1;
  static constexpr int16_t kStar = -2;

  char conversion = 0;  // d u x X o c s p, or 0 if a piece is only text
  uint8_t flags = 0;
  uint8_t bytes = 4;  // from the length modifier
  Pointer pointer = Pointer::kPlain;
  char letters[6] =
      {};  // of a pointer: its first letter, then the options behind the kind ("I4hc" is Ihc)
  int16_t width = kNone;
  int16_t precision = kNone;
};

/// Text, then one conversion.
struct Piece {
  uint32_t text = 0;  // string
  Spec spec;
  uint32_t argument = 0;   // nodes
  uint32_t width = 0;      // if spec.width is kStar
  uint32_t precision = 0;  // if spec.precision is kStar
};

struct PieceRange {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct Code {
  std::vector<Node> nodes;
  std::vector<std::string> strings;
  std::vector<FlagEntry> entries;
  std::vector<FlagTable> tables;
  std::vector<HexDump> dumps;
  std::vector<Piece> pieces;
  std::vector<PieceRange> formats;  // the last one is the event's own
};

enum class Kind : uint8_t { kNumber, kMemory, kText, kNull };

[[nodiscard]] constexpr Kind kind_of(Op op) {
  if (op == Op::kNull) return Kind::kNull;
  if (op < Op::kBytes) return Kind::kNumber;
  return op < Op::kLiteral ? Kind::kMemory : Kind::kText;
}

/// `value` as an object of `type` would store it.
[[nodiscard]] constexpr uint64_t narrow(uint64_t value, IntType type) {
  if (type.bytes == 0 || type.bytes >= 8) return value;
  unsigned shift = 64U - 8U * type.bytes;
  value <<= shift;
  return type.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> shift)
                        : value >> shift;
}

/// C arithmetic on operands of type `type`; comparisons give 0 or 1. What C leaves undefined never
/// traps: division by zero gives 0, and shifts use the low bits of their count, as the hardware
/// does.
[[nodiscard]] uint64_t apply(Op op, uint64_t left, uint64_t right, IntType type);

}  // namespace sonde::print_fmt
