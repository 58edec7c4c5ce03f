// Arbitrary bytes on the control socket of a daemon: they are rejected, or are a request that
// survives a round trip.
#include "base/check.h"
#include "daemon/request.h"
#include "fuzz/fuzz_target.h"

FUZZ_TARGET(daemon_request)(const uint8_t* data, size_t size) {
  using namespace sonde;
  Result<DaemonRequest> request =
      DaemonRequest::decode({reinterpret_cast<const std::byte*>(data), size});
  if (!request) return 0;
  auto bytes = request->encode();
  Result<DaemonRequest> again = DaemonRequest::decode(bytes);
  CHECK(again && again->encode() == bytes);
  return 0;
}
