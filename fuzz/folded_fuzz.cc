// Untrusted folded stacks. Their output is read back as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "export/formats/folded_writer.h"
#include "fuzz/fuzz_target.h"
#include "stacks/folded_reader.h"
#include "stacks/profile_diff.h"
#include "stacks/recursion.h"

namespace {

std::string folded_again(const sonde::StackProfile& profile) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < profile.columns.size(); ++i) columns.push_back(i);
  sonde::StringSink out;
  sonde::write_folded(out, profile, columns);
  return out.text();
}

}  // namespace

FUZZ_TARGET(folded)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto profile = read_folded(text, "fuzz", losses);
  if (!profile) return 0;
  for (size_t i = 0; i < profile->nodes.size(); ++i)
    if (profile->nodes[i].end <= i || profile->nodes[i].end > profile->nodes.size())
      __builtin_trap();
  (void)folded_again(*profile);
  (void)diff_profiles(*profile, *profile, {.normalize = true, .strip_addresses = true});
  // Another with some of its stacks, so that names are lacking.
  LossLedger other_losses;
  if (auto part = read_folded(text.substr(size / 2), "fuzz", other_losses)) {
    Counterparts counterparts = counterparts_of(*part, *profile, {{}});
    (void)diff_profiles(*part, *profile, {.counterparts = &counterparts});
  }
  (void)merge_recursion(std::move(*profile));
  return 0;
}
