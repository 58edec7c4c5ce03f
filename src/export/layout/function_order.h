// An order of functions in which those that call each other are near: call-chain clustering
// (G. Ottoni, B. Maher, "Optimizing Function Placement for Large-Scale Data-Center Applications",
// CGO 2017).
//
// Functions come by how often their code runs, the most frequent first; each is put behind the
// function that calls it most, with all that has been put there before, while these fit into a
// page. Groups are then ordered by how often their code runs, byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "export/layout/function_flow.h"

namespace sonde {

struct OrderedFunction {
  uint64_t size = 0;  // bytes of the code that runs
  uint64_t heat = 0;  // bytes that ran, all runs together
};

/// The ends of the calls are indices of `functions`. Returns these in the new order.
[[nodiscard]] std::vector<uint32_t> order_functions(std::span<const OrderedFunction> functions,
                                                    std::span<const ProgramFlow::Call> calls);

}  // namespace sonde
