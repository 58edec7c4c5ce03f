#include "event/print_fmt/print_fmt_builder.h"

#include <algorithm>

namespace sonde::print_fmt {
namespace {

// Locals of statement expressions are substituted where they are used, so hostile text could double
// the work with each line. The largest format of Linux 6.18 takes a few hundred steps.
constexpr uint32_t kMaxCost = 20'000;

IntType promote(IntType type) {
  return type.bytes < 4 ? IntType{4, true} : type;
}

/// The usual arithmetic conversions.
IntType common_type(IntType a, IntType b) {
  a = promote(a);
  b = promote(b);
  if (a.bytes != b.bytes) return a.bytes > b.bytes ? a : b;
  return {a.bytes, a.is_signed && b.is_signed};
}

bool is_comparison(Op op) {
  return op >= Op::kLess && op <= Op::kNotEqual;
}
bool is_shift(Op op) {
  return op == Op::kShiftLeft || op == Op::kShiftRight;
}

}  // namespace

uint64_t apply(Op op, uint64_t left, uint64_t right, IntType type) {
  auto signed_left = static_cast<int64_t>(left);
  auto signed_right = static_cast<int64_t>(right);
  uint64_t count = right & (type.bytes == 8 ? 63 : 31);
  switch (op) {
    case Op::kAdd:
      return left + right;
    case Op::kSubtract:
      return left - right;
    case Op::kMultiply:
      return left * right;
    case Op::kDivide:
      if (right == 0) return 0;
      if (!type.is_signed) return left / right;
      // The only quotient that overflows; two's complement wraps it.
      return signed_right == -1 ? uint64_t{0} - left
                                : static_cast<uint64_t>(signed_left / signed_right);
    case Op::kModulo:
      if (right == 0) return 0;
      if (!type.is_signed) return left % right;
      return signed_right == -1 ? 0 : static_cast<uint64_t>(signed_left % signed_right);
    case Op::kShiftLeft:
      return left << count;
    case Op::kShiftRight:
      return type.is_signed ? static_cast<uint64_t>(signed_left >> count) : left >> count;
    case Op::kAnd:
      return left & right;
    case Op::kOr:
      return left | right;
    case Op::kXor:
      return left ^ right;
    case Op::kLess:
      return type.is_signed ? signed_left < signed_right : left < right;
    case Op::kLessEqual:
      return type.is_signed ? signed_left <= signed_right : left <= right;
    case Op::kEqual:
      return left == right;
    case Op::kNotEqual:
      return left != right;
    default:
      return 0;
  }
}

Result<NodeId> Builder::add(Node node, uint32_t cost) {
  if (cost > kMaxCost || code.nodes.size() >= kMaxCost)
    return fail(ErrorCode::kCorrupt, "the print format is too complex");
  code.nodes.push_back(node);
  costs_.push_back(cost);
  return static_cast<NodeId>(code.nodes.size() - 1);
}

IntType Builder::type_of(NodeId id) const {
  return is_comparison(node(id).op) ? IntType{4, true} : node(id).type;
}

uint32_t Builder::string(std::string_view text) {
  auto found = std::ranges::find(code.strings, text);
  if (found == code.strings.end()) {
    code.strings.emplace_back(text);
    found = code.strings.end() - 1;
  }
  return static_cast<uint32_t>(found - code.strings.begin());
}

Result<NodeId> Builder::constant(uint64_t value, IntType type) {
  return add({.op = Op::kConstant, .type = type, .value = narrow(value, type)}, 1);
}

Result<NodeId> Builder::unresolved_constant() {
  return add({.op = Op::kConstant, .is_unresolved = true}, 1);
}

Result<NodeId> Builder::null() {
  return add({.op = Op::kNull}, 1);
}

Result<NodeId> Builder::literal(std::string_view text) {
  return add({.op = Op::kLiteral, .a = string(text)}, 1);
}

IntType Builder::element_type(const TracepointField& field) const {
  uint8_t bytes = static_cast<uint8_t>(std::min(field.element_size, 255U));
  bool is_word =
      field.is_pointer || (field.is_long && field.type.find("long long") == std::string::npos);
  if (is_word && field.is_dynamic) bytes = word_size_;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) bytes = 0;
  return {bytes, field.is_signed};
}

Result<NodeId> Builder::field(const TracepointField& field) {
  IntType type = element_type(field);
  if (field.is_flexible()) return add({.op = Op::kRest, .pointee = type, .a = field.offset}, 1);
  if (field.is_dynamic) return dynamic(field, type);
  if (field.is_array || type.bytes == 0)
    return add({.op = Op::kBytes, .pointee = type, .a = field.offset, .b = field.size}, 1);
  return add({.op = Op::kField, .type = type, .is_pointer = field.is_pointer, .a = field.offset},
             1);
}

Result<NodeId> Builder::dynamic(const TracepointField& field, IntType element) {
  if (!field.is_dynamic) return fail(ErrorCode::kCorrupt, "{} is not a dynamic array", field.name);
  uint32_t base = field.is_rel_dynamic ? field.offset + field.size : 0;
  if (element.bytes == 0) element = element_type(field);
  return add({.op = Op::kDynamic, .pointee = element, .a = field.offset, .b = base}, 1);
}

/// As operands of !, && and ?:, memory and text are non-null addresses.
Result<NodeId> Builder::truth(NodeId id) {
  if (kind(id) == Kind::kNumber) return id;
  return constant(kind(id) == Kind::kNull ? 0 : 1, {4, true});
}

Result<NodeId> Builder::unary(Op op, NodeId operand) {
  if (op == Op::kNot) operand = TRY(truth(operand));
  if (kind(operand) != Kind::kNumber)
    return fail(ErrorCode::kCorrupt, "arithmetic on text in the print format");
  IntType type = op == Op::kNot    ? IntType{4, true}
                 : op == Op::kSwap ? type_of(operand)
                                   : promote(type_of(operand));
  if (is_constant(operand) && op != Op::kSwap) {
    uint64_t value = node(operand).value;
    bool is_unresolved = node(operand).is_unresolved;
    value = op == Op::kNot      ? uint64_t{value == 0}
            : op == Op::kNegate ? uint64_t{0} - value
                                : ~value;
    return add({.op = Op::kConstant,
                .type = type,
                .is_unresolved = is_unresolved,
                .value = narrow(value, type)},
               1);
  }
  return add({.op = op, .type = type, .a = operand}, cost(operand) + 1);
}

/// Pointers and arrays step by the size of what they point to; by one if that is a structure.
Result<NodeId> Builder::pointer_arithmetic(Op op, NodeId left, NodeId right) {
  if (kind(left) == Kind::kNumber && !node(left).is_pointer) std::swap(left, right);
  Node base = node(left);
  if (kind(left) == Kind::kMemory) {
    if (op == Op::kSubtract) right = TRY(unary(Op::kNegate, right));
    return add({.op = Op::kAddress, .pointee = base.pointee, .a = left, .b = right},
               cost(left) + cost(right) + 1);
  }
  NodeId step = TRY(constant(base.pointee.bytes > 1 ? base.pointee.bytes : 1, word()));
  right = TRY(binary(Op::kMultiply, right, step));
  NodeId sum =
      TRY(add({.op = op, .type = word(), .a = left, .b = right}, cost(left) + cost(right) + 1));
  code.nodes[sum].pointee = base.pointee;
  code.nodes[sum].is_pointer = true;
  return sum;
}

Result<NodeId> Builder::binary(Op op, NodeId left, NodeId right) {
  if (op == Op::kLogicalAnd || op == Op::kLogicalOr) {
    left = TRY(truth(left));
    right = TRY(truth(right));
    return add({.op = op, .a = left, .b = right}, cost(left) + cost(right) + 1);
  }
  bool left_address = kind(left) == Kind::kMemory || node(left).is_pointer;
  bool right_address = kind(right) == Kind::kMemory || node(right).is_pointer;
  if ((op == Op::kAdd && left_address != right_address) ||
      (op == Op::kSubtract && left_address && !right_address))
    return pointer_arithmetic(op, left, right);
  if (op == Op::kEqual || op == Op::kNotEqual) {
    // In comparisons with ((void *)0), only null itself is null.
    if (kind(left) != Kind::kNumber || node(right).op == Op::kNull) left = TRY(truth(left));
    if (kind(right) != Kind::kNumber) right = TRY(truth(right));
  }
  if (kind(left) != Kind::kNumber || kind(right) != Kind::kNumber)
    return fail(ErrorCode::kCorrupt, "arithmetic on text in the print format");
  IntType operands =
      is_shift(op) ? promote(type_of(left)) : common_type(type_of(left), type_of(right));
  IntType result = is_comparison(op) ? IntType{4, true} : operands;
  if (is_constant(left) && is_constant(right)) {
    uint64_t r = is_shift(op) ? node(right).value : narrow(node(right).value, operands);
    uint64_t value = apply(op, narrow(node(left).value, operands), r, operands);
    bool is_unresolved = node(left).is_unresolved || node(right).is_unresolved;
    return add({.op = Op::kConstant,
                .type = result,
                .is_unresolved = is_unresolved,
                .value = narrow(value, result)},
               1);
  }
  // Comparisons need the type they compare in; their result is always int.
  return add({.op = op, .type = operands, .a = left, .b = right}, cost(left) + cost(right) + 1);
}

Result<NodeId> Builder::select(NodeId condition, NodeId yes, NodeId no) {
  condition = TRY(truth(condition));
  if (is_constant(condition) && !node(condition).is_unresolved) {
    // An untaken branch still determines the type.
    NodeId taken = node(condition).value != 0 ? yes : no;
    if (kind(yes) != Kind::kNumber || kind(no) != Kind::kNumber) return taken;
    return cast(taken, common_type(type_of(yes), type_of(no)));
  }
  Kind a = kind(yes);
  Kind b = kind(no);
  Node result{.op = Op::kSelectText, .a = condition, .b = yes, .c = no};
  if (a == Kind::kNumber && b == Kind::kNumber) {
    result.op = Op::kSelectNumber;
    result.type = common_type(type_of(yes), type_of(no));
    result.is_pointer = node(yes).is_pointer || node(no).is_pointer;
  } else if (a == Kind::kMemory && (b == Kind::kMemory || b == Kind::kNull)) {
    result.op = Op::kSelectMemory;
    result.pointee = node(yes).pointee;
  } else if (a == Kind::kNull && b == Kind::kMemory) {
    result.op = Op::kSelectMemory;
    result.pointee = node(no).pointee;
  } else if ((a == Kind::kNumber && node(yes).is_pointer && b == Kind::kNull) ||
             (b == Kind::kNumber && node(no).is_pointer && a == Kind::kNull)) {
    NodeId zero = TRY(constant(0, word()));
    (a == Kind::kNull ? result.b : result.c) = zero;
    result.op = Op::kSelectNumber;
    result.type = word();
    result.is_pointer = true;
  }
  return add(result, cost(condition) + cost(yes) + cost(no) + 1);
}

Result<NodeId> Builder::cast(NodeId operand, IntType type) {
  if (kind(operand) != Kind::kNumber)
    return kind(operand) == Kind::kNull ? constant(0, type) : operand;
  Node source = node(operand);
  if (type.bytes == 0 || (type_of(operand) == type && !source.is_pointer)) return operand;
  if (source.op == Op::kConstant) {
    source.type = type;
    source.value = narrow(source.value, type);
    return add(source, 1);
  }
  return add({.op = Op::kCast, .type = type, .a = operand}, cost(operand) + 1);
}

Result<NodeId> Builder::pointer_cast(NodeId operand, IntType pointee) {
  Node node_copy = node(operand);
  Kind k = kind(operand);
  if (k == Kind::kText || k == Kind::kNull) return operand;
  if (k == Kind::kNumber) {
    if (node_copy.op == Op::kConstant && node_copy.value == 0 && !node_copy.is_unresolved)
      return null();
    operand = TRY(cast(operand, word()));
    node_copy = node(operand);
    node_copy.is_pointer = true;
  }
  node_copy.pointee = pointee;
  return add(node_copy, cost(operand));
}

Result<NodeId> Builder::element(NodeId base, NodeId index) {
  if (kind(index) != Kind::kNumber)
    return fail(ErrorCode::kCorrupt, "an index that is not a number");
  // The target of an address of the recorded kernel is not in the sample.
  if (kind(base) == Kind::kNumber) return unresolved_constant();
  if (kind(base) != Kind::kMemory)
    return fail(ErrorCode::kCorrupt, "an index into something that is not an array");
  IntType type = node(base).pointee;
  if (type.bytes == 0) type = {1, false};
  return add({.op = Op::kElement, .type = type, .pointee = type, .a = base, .b = index},
             cost(base) + cost(index) + 1);
}

Result<NodeId> Builder::address_of(NodeId operand) {
  const Node& target = node(operand);
  if (kind(operand) == Kind::kMemory) return operand;
  if (target.op == Op::kField)
    return add({.op = Op::kBytes, .pointee = target.type, .a = target.a, .b = target.type.bytes},
               1);
  if (target.op == Op::kElement)
    return add({.op = Op::kAddress, .pointee = target.pointee, .a = target.a, .b = target.b},
               cost(operand));
  return fail(ErrorCode::kCorrupt, "the address of something that has none");
}

Result<NodeId> Builder::length(NodeId memory, IntType type) {
  return add({.op = Op::kLength, .type = type, .a = memory}, cost(memory) + 1);
}

Result<NodeId> Builder::text(Op op, uint32_t a, uint32_t b, uint32_t c, uint32_t cost) {
  return add({.op = op, .a = a, .b = b, .c = c}, cost);
}

}  // namespace sonde::print_fmt
