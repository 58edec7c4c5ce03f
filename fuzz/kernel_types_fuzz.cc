// Arbitrary bytes as the BTF of somebody's kernel or module: every type can be looked at, whatever
// refers to what, and that ends.
#include "base/check.h"
#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"
#include "probe/source/kernel_types.h"

namespace {

using namespace sonde;

void look_at_type(const KernelTypes& types, ValueType type) {
  ValueType plain = types.plain(type);
  ValueKind kind = types.kind(plain);
  (void)types.size(plain);
  (void)types.is_declaration(plain);
  (void)types.shown(type);
  if (kind == ValueKind::kRecord)
    if (auto member = types.member(plain, "m")) (void)types.shown(member->type);
  if (kind == ValueKind::kPointer || kind == ValueKind::kArray)
    (void)types.kind(types.plain(types.target(plain)));
}

}  // namespace

FUZZ_TARGET(kernel_types)(const uint8_t* data, size_t size) {
  spend(size, {.bytes_per_byte = 256}, [&] {
    auto types = KernelTypes::parse({reinterpret_cast<const std::byte*>(data), size});
    if (!types) return;
    auto function = (*types)->function("f");
    if (!function) return;
    look_at_type(**types, function->result);
    for (const KernelTypes::Parameter& parameter : function->parameters) {
      look_at_type(**types, parameter.type);
      // All types, whoever has them.
      for (uint64_t number = 0; number < 64; ++number)
        look_at_type(**types, {parameter.type.owner, number});
    }
  });
  return 0;
}
