// Bundles and tar archives: arbitrary bytes yield an error or members, never a crash.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_target.h"
#include "store/bundle.h"
#include "store/tar_format.h"

FUZZ_TARGET(bundle)(const uint8_t* data, size_t size) {
  using namespace sonde;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  // A few bytes of zstd can expand to gigabytes of zeros; expansion limits are not tested here.
  constexpr size_t kMax = 8192;
  if (size > kMax) return 0;
  if (auto bundle = Bundle::view(bytes, "fuzz")) (void)bundle->file_at("/tmp/perf-1.map");
  TarReader reader(bytes);
  for (auto member = reader.next(); member && *member; member = reader.next())
    (void)(*member)->content.size();
  return 0;
}
