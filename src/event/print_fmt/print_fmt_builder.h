// Builds the nodes of a print format: C's typing rules, constant folding, and the limits that keep
// evaluation bounded. The parser handles the syntax, the builder the semantics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/print_fmt/print_fmt_code.h"
#include "event/print_fmt/tracepoint_format.h"

namespace sonde::print_fmt {

using NodeId = uint32_t;

class Builder {
 public:
  explicit Builder(uint32_t word_size) : word_size_(static_cast<uint8_t>(word_size)) {}

  Result<NodeId> constant(uint64_t value, IntType type);
  Result<NodeId> unresolved_constant();
  Result<NodeId> null();
  Result<NodeId> literal(std::string_view text);
  /// The value of a scalar field, or the memory of an array.
  Result<NodeId> field(const TracepointField& field);
  /// The memory of a dynamic array; `element` is the type that [] reads.
  Result<NodeId> dynamic(const TracepointField& field, IntType element);
  Result<NodeId> unary(Op op, NodeId operand);
  Result<NodeId> binary(Op op, NodeId left, NodeId right);
  Result<NodeId> select(NodeId condition, NodeId yes, NodeId no);
  /// Casts to a number of `type`.
  Result<NodeId> cast(NodeId operand, IntType type);
  /// Casts to a pointer to `pointee`.
  Result<NodeId> pointer_cast(NodeId operand, IntType pointee);
  /// base[index]; `*base` is base[0].
  Result<NodeId> element(NodeId base, NodeId index);
  /// &operand, which must be a field or an element.
  Result<NodeId> address_of(NodeId operand);
  /// The length in bytes of memory.
  Result<NodeId> length(NodeId memory, IntType type);
  /// A node whose operands are in a, b, c as defined by its op.
  Result<NodeId> text(Op op, uint32_t a, uint32_t b = 0, uint32_t c = 0, uint32_t cost = 1);

  [[nodiscard]] const Node& node(NodeId id) const { return code.nodes[id]; }
  [[nodiscard]] Kind kind(NodeId id) const { return kind_of(node(id).op); }
  /// The C type of a number.
  [[nodiscard]] IntType type_of(NodeId id) const;
  /// Evaluation steps of a node, including all nodes below it.
  [[nodiscard]] uint32_t cost(NodeId id) const { return costs_[id]; }
  [[nodiscard]] IntType word(bool is_signed = false) const { return {word_size_, is_signed}; }
  uint32_t string(std::string_view text);

  Code code;

 private:
  Result<NodeId> add(Node node, uint32_t cost);
  Result<NodeId> truth(NodeId id);
  [[nodiscard]] bool is_constant(NodeId id) const { return node(id).op == Op::kConstant; }
  Result<NodeId> pointer_arithmetic(Op op, NodeId left, NodeId right);
  [[nodiscard]] IntType element_type(const TracepointField& field) const;

  std::vector<uint32_t> costs_;  // evaluation steps of each node, including all below it
  uint8_t word_size_;
};

}  // namespace sonde::print_fmt
