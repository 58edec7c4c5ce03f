// The memory of the process that a resolver has entered, as the unwinder sees it.
#pragma once

#include "replay/frames/address_resolver.h"
#include "replay/frames/object_cfi.h"
#include "unwind/stack_unwinder.h"

namespace sonde {

class ProcessCode final : public CodeMap {
 public:
  ProcessCode(AddressResolver& resolver, const ObjectCfi& cfi) : resolver_(resolver), cfi_(cfi) {}
  [[nodiscard]] UnwindPlace find(uint64_t address) override {
    Place place = resolver_.place(address, abi::kMiscUser);
    return cfi_.find(place.dso, place.address);
  }

 private:
  AddressResolver& resolver_;
  const ObjectCfi& cfi_;
};

}  // namespace sonde
