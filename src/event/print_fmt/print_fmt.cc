#include "event/print_fmt/print_fmt.h"

#include <utility>

#include "event/print_fmt/field_format.h"
#include "event/print_fmt/print_fmt_parser.h"
#include "event/print_fmt/print_fmt_run.h"

namespace sonde {
namespace {

using print_fmt::Code;
using print_fmt::Node;
using print_fmt::Op;

bool is_arithmetic(Op op) {
  return op >= Op::kCast && op <= Op::kLogicalOr;
}

/// The last field that the value of a node is computed from; null if there is none.
const TracepointField* field_under(const Code& code, uint32_t id, const TracepointFormat& format) {
  const Node& node = code.nodes[id];
  if (node.op == Op::kField) {
    for (const TracepointField& field : format.all_fields())
      if (field.offset == node.a) return &field;
    return nullptr;
  }
  if (!is_arithmetic(node.op)) return nullptr;
  // Children precede their parents, so this ends.
  bool is_unary = node.op <= Op::kSwap;
  const TracepointField* right = is_unary ? nullptr : field_under(code, node.b, format);
  return right != nullptr ? right : field_under(code, node.a, format);
}

}  // namespace

PrintProgram PrintProgram::compile(const TracepointFormat& format, const PrintTarget& target) {
  PrintProgram program;
  PrintTarget known = target;
  known.word_size = target.word_size == 4 ? 4 : 8;  // it comes from recordings
  program.order_ = known.order;
  program.word_size_ = known.word_size;
  auto parsed = print_fmt::parse_print_fmt(format, known);
  if (!parsed) {
    program.problem_ = std::move(parsed.error().message);
    program.listed_ = format;
    return program;
  }
  program.code_ = std::move(parsed->code);
  program.unresolved_ = std::move(parsed->unresolved);
  return program;
}

std::vector<ValueNames> PrintProgram::value_names(const TracepointFormat& format) const {
  std::vector<ValueNames> all;
  for (const Node& node : code_.nodes) {
    if (node.op != Op::kFlags && node.op != Op::kSymbolic) continue;
    const TracepointField* field = field_under(code_, node.a, format);
    if (field == nullptr) continue;
    const print_fmt::FlagTable& table = code_.tables[node.b];
    bool are_flags = node.op == Op::kFlags;
    ValueNames& names = all.emplace_back(ValueNames{
        field->name, are_flags, are_flags ? code_.strings[table.delimiter] : std::string(), {}});
    for (uint32_t i = 0; i < table.count; ++i) {
      const print_fmt::FlagEntry& entry = code_.entries[table.first + i];
      names.entries.push_back({entry.mask, code_.strings[entry.name]});
    }
  }
  return all;
}

void PrintProgram::print(Bytes raw, const PrintContext& context, std::string& out) const {
  if (listed_) {
    out += "[FAILED TO PARSE]";
    return append_all_fields(*listed_, raw, order_, out);
  }
  auto main = static_cast<uint32_t>(code_.formats.size() - 1);
  print_fmt::Run(code_, raw, order_, word_size_, context, out).format(main);
}

}  // namespace sonde
