// Untrusted kallsyms (from a build-id cache, or --kallsyms).
#include <cstddef>
#include <cstdint>
#include <string>

#include "symbol/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  Kallsyms kallsyms = Kallsyms::parse(std::string(reinterpret_cast<const char*>(data), size));
  uint64_t reached = 0;
  for (const Symbol& symbol : kallsyms.table().symbols()) {
    if (symbol.start < reached || symbol.end < symbol.start) __builtin_trap();
    reached = symbol.start;
    if (kallsyms.module_of(symbol).empty() || symbol.name().empty()) __builtin_trap();
  }
  (void)kallsyms.address_of("_text");
  return 0;
}
