// Untrusted `perf script` text: where it is split into pieces does not matter.
#include <cstddef>
#include <cstdint>
#include <string>

#include "export/formats/folded_writer.h"
#include "fuzz/fuzz_target.h"
#include "stacks/script_text.h"

namespace {

std::string folded(std::string_view text, size_t piece) {
  using namespace sonde;
  LossLedger losses;
  SessionStacksOptions options{
      .spelling = {.kernel = true, .jit = true, .inlined = true, .lines = true},
      .want_samples = true};
  ScriptTextReader reader("fuzz", options, {}, losses);
  for (size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
  auto profile = std::move(reader).finish();
  if (!profile) return profile.error().message;
  StringSink out;
  for (size_t i = 0; i < profile->columns.size(); ++i) write_folded(out, *profile, i);
  return out.text();
}

}  // namespace

FUZZ_TARGET(script_text)(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)sonde::looks_like_script_text(text);
  if (folded(text, size) != folded(text, 7)) __builtin_trap();
  return 0;
}
