// Untrusted jitdumps (any process may write one): whatever they say, all code is inside the dump,
// and reading it in two steps finds the same as reading it at once. All that is made of it costs
// memory and time in proportion to it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"
#include "symbol/jit_image.h"
#include "symbol/jit_objects.h"

namespace {

using namespace sonde;

void read_jit_dump(const std::string& bytes) {
  size_t size = bytes.size();
  auto dump = JitDump::parse(bytes);
  if (!dump) return;
  for (const JitDump::Code& code : dump->codes()) {
    if (code.offset > size || code.size > size - code.offset) __builtin_trap();
    if (dump->bytes_of(code).size() != code.size) __builtin_trap();
    if (code.unwinding_header_size > code.unwinding.size()) __builtin_trap();
    (void)dump->lines_of(code);
  }
  for (const JitDump::Placed& placed : dump->placed())
    if (placed.code >= dump->codes().size()) __builtin_trap();
  if (dump->end() > size) __builtin_trap();

  size_t codes = dump->codes().size();
  if (auto half = JitDump::parse(bytes.substr(0, size / 2 + 20))) {
    JitDump rest = JitDump::parse_more(*half, bytes.substr(half->end()));
    if (dump->bad_records() == 0 && half->codes().size() + rest.codes().size() != codes)
      __builtin_trap();
  }

  JitObject object(std::move(*dump));
  SymbolTable symbols = object.symbols();
  CfiTable frames = object.call_frame_information();
  for (const JitDump::Code& code : object.dump().codes()) {
    (void)symbols.find(code.offset);
    (void)object.line_at(code.offset + code.size / 2);
    (void)frames.find(ElfAddr(code.offset));
    (void)make_jit_image(object.dump(), code);
  }
}

}  // namespace

FUZZ_TARGET(jit_dump)(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  spend(size, {.bytes_per_byte = 256}, [&] { read_jit_dump(bytes); });
  return 0;
}
