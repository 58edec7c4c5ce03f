// Arbitrary text is either assembled or rejected with a reason; assembled output can be read, and
// disassembled again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "perfdata/text/format.h"

FUZZ_TARGET(text_format)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto bytes = assemble(text);
  if (!bytes) {
    CHECK(!bytes.error().message.empty());
    return 0;
  }
  LossLedger losses;
  auto recording = Recording::open_bytes(*bytes, "fuzz.data", losses);
  if (!recording) return 0;
  StringSink out;
  disassemble(*recording, losses, out);
  return 0;
}
