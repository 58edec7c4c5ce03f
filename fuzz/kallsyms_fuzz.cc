// Untrusted kallsyms (from a build-id cache, or --kallsyms), and lists of guests' modules.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "symbol/guest_kernel.h"
#include "symbol/kallsyms.h"

namespace {

/// The symbols around given addresses are those of the whole table.
void check_around(const sonde::Kallsyms& whole, sonde::Kallsyms part) {
  constexpr size_t kAddresses = 64;
  std::vector<uint64_t> addresses = {0, UINT64_MAX};
  for (const sonde::Symbol& symbol : whole.table().symbols()) {
    if (addresses.size() >= kAddresses) break;
    for (uint64_t address : {symbol.start - 1, symbol.start, symbol.end})
      addresses.push_back(address);
  }
  part.parse_around(addresses);
  for (uint64_t address : addresses) {
    const sonde::Symbol* expected = whole.table().find(address);
    const sonde::Symbol* found = part.table().find(address);
    if ((expected == nullptr) != (found == nullptr)) __builtin_trap();
    if (expected == nullptr) continue;
    if (found->start != expected->start || found->end != expected->end ||
        found->name() != expected->name())
      __builtin_trap();
  }
}

}  // namespace

FUZZ_TARGET(kallsyms)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string text(reinterpret_cast<const char*>(data), size);
  for (const GuestModule& module : parse_guest_modules(text))
    if (module.end <= module.start) __builtin_trap();
  Kallsyms kallsyms = Kallsyms::parse(text);
  uint64_t reached = 0;
  for (const Symbol& symbol : kallsyms.table().symbols()) {
    if (symbol.start < reached || symbol.end < symbol.start) __builtin_trap();
    reached = symbol.start;
    if (kallsyms.module_of(symbol).empty() || symbol.name().empty()) __builtin_trap();
  }
  (void)kallsyms.address_of("_text");
  check_around(kallsyms, Kallsyms::parse(std::move(text)));
  return 0;
}
