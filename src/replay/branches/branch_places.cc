#include "replay/branches/branch_places.h"

#include "base/hashing/number_hash.h"

namespace sonde {

BranchPlaces::BranchPlaces(const Session& session)
    : session_(session), resolver_(session.machine(), frames_) {}

const Frame& BranchPlaces::at(size_t sample, uint64_t address) {
  const SampleColumns& samples = session_.samples();
  if (sample != sample_) {
    sample_ = sample;
    resolver_.enter(samples.pid[sample], samples.time[sample], abi::kMiscUser);
  }
  Place place = resolver_.place(address, abi::kMiscUser);
  if (!place.dso.valid()) place = resolver_.place(address, abi::kMiscKernel);
  if (!place.dso.valid()) {
    // The kernel's boot code is outside of its mapping.
    unknown_ = session_.resolve(samples.pid[sample], samples.time[sample], RuntimeAddr(address),
                                abi::kMiscKernel);
    return unknown_;
  }
  uint64_t hash = NumberHash()(place.address + (uint64_t{place.dso.value} << 48));
  Frame& known = known_[hash % kSlots];
  if (known.dso != place.dso || known.address != place.address || known.level != place.level)
    known = frame_of(place);
  return known;
}

Frame BranchPlaces::frame_of(const Place& place) const {
  const Symbolizer& symbolizer = session_.symbolizer();
  Frame frame{place.dso, symbolizer.find(place.dso, place.address), place.address, 0, place.level};
  if (frame.symbol.valid()) frame.symbol_start = symbolizer.start_of(frame.symbol);
  return frame;
}

}  // namespace sonde
