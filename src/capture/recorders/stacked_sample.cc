#include "capture/recorders/stacked_sample.h"

#include "abi/perf_event.h"

namespace sonde {

void set_call_chain(std::span<const uint64_t> kernel, std::span<const uint64_t> user,
                    Sample& sample, ByteBuilder& chain) {
  auto add = [&](std::span<const uint64_t> addresses, uint64_t marker, uint16_t mode) {
    if (addresses.empty()) return;
    if (chain.size() == 0) {
      sample.ip = addresses.front();
      sample.misc = mode;
    }
    chain.u64(marker);
    for (uint64_t address : addresses) chain.u64(address);
  };
  sample.misc = abi::kMiscUser;
  add(kernel, abi::kContextKernel, abi::kMiscKernel);
  add(user, abi::kContextUser, abi::kMiscUser);
  sample.callchain = WordView(chain.view(), kHostOrder);
}

}  // namespace sonde
