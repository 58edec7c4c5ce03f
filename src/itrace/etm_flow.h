// Instructions and branches, as pt::FlowObserver takes them, from the executed ranges of an ETM.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "etm/flow_decoder.h"
#include "pt/flow_decoder.h"

namespace sonde::itrace {

/// One unit's flow. `now` is passed through.
class EtmFlow {
 public:
  /// Sizes of Thumb's instructions are in their code.
  using ReadCode = std::function<size_t(uint64_t address, std::span<std::byte> to)>;

  EtmFlow(pt::FlowObserver& observer, ReadCode read)
      : observer_(observer), read_(std::move(read)) {}

  void ran(const etm::ExecutedRange& range, uint64_t now);
  /// What ran ends here, and what follows it begins anew.
  void interrupted(uint64_t now);
  void exception(uint32_t number, uint64_t return_address, uint64_t now);
  void lost(etm::Lost why, uint64_t address, uint64_t now);
  void gave_up(uint64_t now);

 private:
  void put_held(uint64_t now);
  void put_exception(std::optional<uint64_t> to, uint64_t now);
  void lose(pt::FlowError why, uint64_t address, uint64_t now);
  [[nodiscard]] uint8_t size_at(const etm::ExecutedRange& range, uint64_t address);

  pt::FlowObserver& observer_;
  ReadCode read_;
  bool is_running_ = false;
  // The latest instruction waits: an exception that follows says whether it was a system call.
  std::optional<pt::Instruction> held_;
  std::optional<uint64_t> exception_from_;  // whose handler is not known yet
};

}  // namespace sonde::itrace
