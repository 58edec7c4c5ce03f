// Arbitrary names of symbols, which any object may have: made readable within bounds.
#include "base/check.h"
#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"
#include "symbol/demangle.h"
#include "symbol/generated_name.h"

FUZZ_TARGET(symbol_name)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view name(reinterpret_cast<const char*>(data), size);
  constexpr size_t kLongest = size_t{64} << 10;
  spend(size, {.bytes_per_byte = 4096, .free_bytes = size_t{16} << 20}, [&] {
    for (bool parameters : {false, true}) {
      std::string plain = demangle(name, parameters);
      CHECK(plain.size() <= kLongest + size);
      std::string shown = shown_name(name, false, {.parameters = parameters});
      CHECK(shown.size() <= kLongest + size);
      if (!name.empty()) CHECK(!shown.empty());
      std::string_view part = identifier_within(shown);
      CHECK(part.empty() || shown.find(part) != std::string::npos);
    }
    (void)is_mangled(name);
    std::string readable(name);
    CHECK(make_generated_name_readable(readable.data(), readable.size()) <= size);
  });
  return 0;
}
