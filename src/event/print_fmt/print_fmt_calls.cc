#include "event/print_fmt/print_fmt_calls.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "event/print_fmt/print_fmt.h"

namespace sonde::print_fmt {
namespace {

constexpr IntType kInt{4, true};
constexpr IntType kUnsigned{4, false};
constexpr IntType kU64{8, false};

using Call = Result<NodeId> (*)(CallParser&);

/// Reads "(a, b, c)"; at most `most` arguments.
Result<std::vector<NodeId>> arguments(CallParser& parser, size_t least, size_t most) {
  std::vector<NodeId> list;
  TRY(parser.expect("("));
  if (!parser.accept(")")) {
    do list.push_back(TRY(parser.expression()));
    while (parser.accept(","));
    TRY(parser.expect(")"));
  }
  if (list.size() < least || list.size() > most)
    return fail(ErrorCode::kCorrupt, "a call with {} arguments in the print format", list.size());
  return list;
}

// ---- lists of flags and symbols

/// { value, "name" }, … up to the closing parenthesis.
Result<std::vector<FlagEntry>> entries(CallParser& parser) {
  Builder& builder = parser.builder();
  std::vector<FlagEntry> list;
  bool ended = false;  // by an entry without a name, which also ends the list in the kernel
  while (parser.accept("{")) {
    if (parser.accept("}")) {
      if (!parser.accept(",")) break;
      continue;
    }
    NodeId value = TRY(parser.expression());
    TRY(parser.expect(","));
    NodeId name = TRY(parser.expression());
    TRY(parser.expect("}"));
    const Node& node = builder.node(value);
    if (node.op != Op::kConstant)
      return fail(ErrorCode::kCorrupt, "a flag that is not a constant in the print format");
    if (builder.node(name).op != Op::kLiteral) ended = true;
    if (!ended && !node.is_unresolved) list.push_back({node.value, builder.node(name).a});
    if (!parser.accept(",")) break;
  }
  return list;
}

Result<NodeId> list_node(CallParser& parser, Op op, NodeId value, uint32_t delimiter,
                         IntType type) {
  Builder& builder = parser.builder();
  std::vector<FlagEntry> list = TRY(entries(parser));
  TRY(parser.expect(")"));
  value = TRY(builder.cast(value, type));
  if (builder.kind(value) != Kind::kNumber)
    return fail(ErrorCode::kCorrupt, "flags of something that is not a number");
  Code& code = builder.code;
  for (FlagEntry& entry : list) entry.mask = narrow(entry.mask, type);
  code.tables.push_back(
      {static_cast<uint32_t>(code.entries.size()), static_cast<uint32_t>(list.size()), delimiter});
  code.entries.insert(code.entries.end(), list.begin(), list.end());
  return builder.text(op, value, static_cast<uint32_t>(code.tables.size() - 1), 0,
                      builder.cost(value) + static_cast<uint32_t>(list.size()) + 1);
}

Result<NodeId> flags(CallParser& parser, IntType type) {
  TRY(parser.expect("("));
  NodeId value = TRY(parser.expression());
  TRY(parser.expect(","));
  NodeId delimiter = TRY(parser.expression());
  const Node& node = parser.builder().node(delimiter);
  uint32_t text = node.op == Op::kLiteral ? node.a : parser.builder().string("");
  parser.accept(",");
  return list_node(parser, Op::kFlags, value, text, type);
}
Result<NodeId> flags_word(CallParser& parser) {
  return flags(parser, parser.builder().word());
}
Result<NodeId> flags_u64(CallParser& parser) {
  return flags(parser, kU64);
}

Result<NodeId> symbolic(CallParser& parser, IntType type) {
  TRY(parser.expect("("));
  NodeId value = TRY(parser.expression());
  parser.accept(",");
  return list_node(parser, Op::kSymbolic, value, 0, type);
}
Result<NodeId> symbolic_word(CallParser& parser) {
  return symbolic(parser, parser.builder().word());
}
Result<NodeId> symbolic_u64(CallParser& parser) {
  return symbolic(parser, kU64);
}

/// include/ras/ras_event.h: one name for each kind of memory error.
Result<NodeId> memory_error_type(CallParser& parser) {
  std::vector<NodeId> list = TRY(arguments(parser, 1, 1));
  Builder& builder = parser.builder();
  Code& code = builder.code;
  FlagTable table{.first = static_cast<uint32_t>(code.entries.size()), .count = 4};
  table.otherwise = builder.string("Info");
  uint64_t value = 0;
  for (const char* name : {"Corrected", "Uncorrected", "Deferred", "Fatal"})
    code.entries.push_back({value++, builder.string(name)});
  code.tables.push_back(table);
  return builder.text(Op::kSymbolic, list[0], static_cast<uint32_t>(code.tables.size() - 1), 0,
                      builder.cost(list[0]) + 5);
}

// ---- memory

Result<NodeId> dynamic_of(CallParser& parser, IntType element) {
  TRY(parser.expect("("));
  const TracepointField* field = TRY(parser.field_name());
  TRY(parser.expect(")"));
  // Old formats also use __get_str() on fixed arrays.
  if (!field->is_dynamic) return parser.builder().field(*field);
  return parser.builder().dynamic(*field, element);
}
Result<NodeId> get_string(CallParser& parser) {
  return dynamic_of(parser, {1, true});
}
Result<NodeId> get_array(CallParser& parser) {
  return dynamic_of(parser, {0, false});
}
Result<NodeId> get_length(CallParser& parser) {
  NodeId memory = TRY(dynamic_of(parser, {0, false}));
  return parser.builder().length(memory, kUnsigned);
}
Result<NodeId> get_bitmask(CallParser& parser) {
  NodeId memory = TRY(dynamic_of(parser, {0, false}));
  return parser.builder().text(Op::kBitmask, memory, 0, 0, 2);
}

Result<NodeId> memory_text(CallParser& parser, Op op) {
  std::vector<NodeId> list = TRY(arguments(parser, 2, 2));
  Builder& builder = parser.builder();
  if (builder.kind(list[0]) == Kind::kText || builder.kind(list[1]) != Kind::kNumber)
    return fail(ErrorCode::kCorrupt, "bytes of something that has none in the print format");
  return builder.text(op, list[0], list[1], 0, builder.cost(list[0]) + builder.cost(list[1]) + 1);
}
Result<NodeId> print_hex(CallParser& parser) {
  return memory_text(parser, Op::kHex);
}
Result<NodeId> print_hex_string(CallParser& parser) {
  return memory_text(parser, Op::kHexString);
}

Result<NodeId> print_array(CallParser& parser) {
  std::vector<NodeId> list = TRY(arguments(parser, 3, 3));
  Builder& builder = parser.builder();
  if (builder.kind(list[0]) == Kind::kText || builder.kind(list[1]) != Kind::kNumber ||
      builder.kind(list[2]) != Kind::kNumber)
    return fail(ErrorCode::kCorrupt, "an array of something that has no bytes in the print format");
  uint32_t cost = builder.cost(list[0]) + builder.cost(list[1]) + builder.cost(list[2]) + 1;
  return builder.text(Op::kArray, list[0], list[1], list[2], cost);
}

/// __print_dynamic_array(field, element size)
Result<NodeId> print_dynamic_array(CallParser& parser) {
  TRY(parser.expect("("));
  const TracepointField* field = TRY(parser.field_name());
  TRY(parser.expect(","));
  NodeId size = TRY(parser.expression());
  TRY(parser.expect(")"));
  Builder& builder = parser.builder();
  NodeId memory = TRY(builder.dynamic(*field, {0, false}));
  NodeId length = TRY(builder.length(memory, kUnsigned));
  NodeId count = TRY(builder.binary(Op::kDivide, length, size));
  return builder.text(Op::kArray, memory, count, size,
                      builder.cost(memory) + builder.cost(count) + 1);
}

/// __print_hex_dump(prefix, prefix type, row size, group size, bytes, length, ascii)
Result<NodeId> print_hex_dump(CallParser& parser) {
  std::vector<NodeId> list = TRY(arguments(parser, 7, 7));
  Builder& builder = parser.builder();
  uint32_t cost = 1;
  for (NodeId id : list) cost += builder.cost(id);
  for (size_t i : {1U, 2U, 3U, 5U, 6U})
    if (builder.kind(list[i]) != Kind::kNumber)
      return fail(ErrorCode::kCorrupt, "a bad hex dump in the print format");
  if (builder.kind(list[4]) != Kind::kMemory)
    return fail(ErrorCode::kCorrupt, "a hex dump of something that is not memory");
  builder.code.dumps.push_back({list[0], list[1], list[2], list[3], list[4], list[5], list[6]});
  return builder.text(Op::kHexDump, static_cast<uint32_t>(builder.code.dumps.size() - 1), 0, 0,
                      cost);
}

// ---- numbers

Result<NodeId> by_constant(CallParser& parser, Op op, uint64_t operand, IntType type,
                           IntType result) {
  std::vector<NodeId> list = TRY(arguments(parser, 1, 1));
  Builder& builder = parser.builder();
  NodeId value = TRY(builder.cast(list[0], type));
  NodeId other = TRY(builder.constant(operand, type));
  return builder.cast(TRY(builder.binary(op, value, other)), result);
}
Result<NodeId> ns_to_seconds(CallParser& parser) {
  return by_constant(parser, Op::kDivide, 1'000'000'000, kU64, kU64);
}
Result<NodeId> ns_without_seconds(CallParser& parser) {
  return by_constant(parser, Op::kModulo, 1'000'000'000, kU64, kUnsigned);
}
/// Exact if HZ divides the units, as in the kernel (kernel/time/time.c).
Result<NodeId> jiffies_to(CallParser& parser, uint64_t units_per_second) {
  uint64_t hz = std::max<uint32_t>(parser.target().hz, 1);
  std::vector<NodeId> list = TRY(arguments(parser, 1, 1));
  Builder& builder = parser.builder();
  NodeId jiffies = TRY(builder.cast(list[0], kU64));
  NodeId units = TRY(builder.constant(units_per_second, kU64));
  NodeId scaled = TRY(builder.binary(Op::kMultiply, jiffies, units));
  NodeId per_second = TRY(builder.constant(hz, kU64));
  return builder.cast(TRY(builder.binary(Op::kDivide, scaled, per_second)), kUnsigned);
}
Result<NodeId> jiffies_to_msecs(CallParser& parser) {
  return jiffies_to(parser, 1000);
}
Result<NodeId> jiffies_to_usecs(CallParser& parser) {
  return jiffies_to(parser, 1'000'000);
}

/// __builtin_expect(value, likely) is its value.
Result<NodeId> expect_value(CallParser& parser) {
  std::vector<NodeId> list = TRY(arguments(parser, 2, 2));
  return parser.builder().cast(list[0], parser.builder().word(true));
}
Result<NodeId> constant_p(CallParser& parser) {
  TRY(arguments(parser, 1, 1));
  return parser.builder().constant(0, kInt);
}

Result<NodeId> swapped(CallParser& parser, uint8_t bytes, bool is_needed) {
  std::vector<NodeId> list = TRY(arguments(parser, 1, 1));
  Builder& builder = parser.builder();
  NodeId value = TRY(builder.cast(list[0], {bytes, false}));
  return is_needed ? builder.unary(Op::kSwap, value) : Result<NodeId>(value);
}
template <uint8_t bytes>
Result<NodeId> swap_always(CallParser& parser) {
  return swapped(parser, bytes, true);
}
template <uint8_t bytes>
Result<NodeId> swap_big_endian(CallParser& parser) {
  return swapped(parser, bytes, parser.target().order == ByteOrder::kLittle);
}
template <uint8_t bytes>
Result<NodeId> swap_little_endian(CallParser& parser) {
  return swapped(parser, bytes, parser.target().order == ByteOrder::kBig);
}

struct NamedCall {
  std::string_view name;
  Call parse;
};

constexpr auto kCalls = std::to_array<NamedCall>({
    {"__print_flags", flags_word},
    {"__print_flags_u64", flags_u64},
    {"__print_symbolic", symbolic_word},
    {"__print_symbolic_u64", symbolic_u64},
    {"__get_str", get_string},
    {"__get_rel_str", get_string},
    {"__get_dynamic_array", get_array},
    {"__get_rel_dynamic_array", get_array},
    {"__get_dynamic_array_len", get_length},
    {"__get_rel_dynamic_array_len", get_length},
    {"__get_sockaddr", get_array},
    {"__get_rel_sockaddr", get_array},
    {"__get_bitmask", get_bitmask},
    {"__get_rel_bitmask", get_bitmask},
    {"__get_cpumask", get_bitmask},
    {"__get_rel_cpumask", get_bitmask},
    {"__print_array", print_array},
    {"__print_dynamic_array", print_dynamic_array},
    {"__print_hex", print_hex},
    {"__print_hex_str", print_hex_string},
    {"__print_hex_dump", print_hex_dump},
    {"__print_ns_to_secs", ns_to_seconds},
    {"__print_ns_without_secs", ns_without_seconds},
    {"jiffies_to_msecs", jiffies_to_msecs},
    {"jiffies_to_usecs", jiffies_to_usecs},
    {"mc_event_error_type", memory_error_type},
    {"__builtin_expect", expect_value},
    {"__builtin_constant_p", constant_p},
    {"__builtin_bswap16", swap_always<2>},
    {"__builtin_bswap32", swap_always<4>},
    {"__builtin_bswap64", swap_always<8>},
    {"__swab16", swap_always<2>},
    {"__swab32", swap_always<4>},
    {"__swab64", swap_always<8>},
    {"ntohs", swap_big_endian<2>},
    {"htons", swap_big_endian<2>},
    {"ntohl", swap_big_endian<4>},
    {"htonl", swap_big_endian<4>},
    {"be16_to_cpu", swap_big_endian<2>},
    {"be32_to_cpu", swap_big_endian<4>},
    {"be64_to_cpu", swap_big_endian<8>},
    {"le16_to_cpu", swap_little_endian<2>},
    {"le32_to_cpu", swap_little_endian<4>},
    {"le64_to_cpu", swap_little_endian<8>},
});

}  // namespace

Result<NodeId> parse_call(CallParser& parser, std::string_view function) {
  auto found = std::ranges::find(kCalls, function, &NamedCall::name);
  if (found == kCalls.end())
    return fail(ErrorCode::kCorrupt, "unknown function {} in the print format", function);
  return found->parse(parser);
}

}  // namespace sonde::print_fmt
