// Plain numbers behind a pointer.
#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

template <typename Append>
void print_one(ArgContext& context, size_t bytes, Append append) {
  print_structure(context, bytes, [&](std::string& out, ByteCursor& cursor) {
    out += '[';
    append(out, cursor);
    out += ']';
  });
}

}  // namespace

void print_int_at(ArgContext& context) {
  print_one(context, 4, [](std::string& out, ByteCursor& cursor) {
    append_decimal(out, static_cast<int32_t>(cursor.u32()));
  });
}
void print_uint_at(ArgContext& context) {
  print_one(context, 4,
            [](std::string& out, ByteCursor& cursor) { append_unsigned(out, cursor.u32()); });
}
void print_offset_at(ArgContext& context) {
  print_one(context, 8, [](std::string& out, ByteCursor& cursor) {
    append_decimal(out, static_cast<int64_t>(cursor.u64()));
  });
}
void print_id_at(ArgContext& context) {
  print_uint_at(context);
}

void print_ids_at(ArgContext& context) {
  bool is_result = context.arg().shape == MemoryShape::kResult;
  if (is_result && !context.has_succeeded()) return append_pointer(context.out, context.value);
  uint64_t count = is_result ? static_cast<uint64_t>(context.event.result)
                             : context.argument(context.arg().length_arg);
  print_array(context, 4, count,
              [](std::string& out, ByteCursor& cursor) { append_unsigned(out, cursor.u32()); });
}

// linux/sem.h
void print_sembufs(ArgContext& context) {
  print_array(context, 6, context.argument(context.arg().length_arg),
              [](std::string& out, ByteCursor& cursor) {
                uint16_t number = cursor.u16();
                auto operation = static_cast<int16_t>(cursor.u16());
                StructText(out)
                    .count("sem_num", number)
                    .number("sem_op", operation)
                    .flags("sem_flg", WordSet::k_sem_flags, cursor.u16())
                    .end();
              });
}

}  // namespace sonde
