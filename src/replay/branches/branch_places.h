// Where the branches of samples begin and end. Mappings are looked up once for as long as they
// last, symbols once per place: a loop has the same few places in all samples.
//
//   BranchPlaces places(session);
//   const Frame& from = places.at(sample, branch.from);   // valid until the next call
#pragma once

#include <vector>

#include "replay/frames/address_resolver.h"
#include "replay/session.h"

namespace sonde {

class BranchPlaces {
 public:
  explicit BranchPlaces(const Session& session);

  /// Of a program's code or of the kernel's: branches go both ways. A symbol is found only in
  /// objects whose symbols are loaded (Session::load_all_symbols).
  const Frame& at(size_t sample, uint64_t address);

 private:
  static constexpr size_t kSlots = 4096;
  [[nodiscard]] Frame frame_of(const Place& place) const;

  const Session& session_;
  FrameTable frames_;  // only its regions are used
  AddressResolver resolver_;
  size_t sample_ = SIZE_MAX;
  std::vector<Frame> known_ = std::vector<Frame>(kSlots);
  Frame unknown_;
};

}  // namespace sonde
