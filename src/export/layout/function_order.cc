#include "export/layout/function_order.h"

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

constexpr uint64_t kGroupLimit = 4096;  // bytes: a page

struct FunctionGroup {
  std::vector<uint32_t> functions;  // none: it is part of another
  uint64_t size = 0, heat = 0;
  [[nodiscard]] double density() const {
    return static_cast<double>(heat) / static_cast<double>(std::max<uint64_t>(size, 1));
  }
};

/// By function the one that calls it most often; itself if nothing does.
std::vector<uint32_t> main_callers(size_t functions, std::span<const ProgramFlow::Call> calls) {
  std::vector<uint32_t> callers(functions);
  std::iota(callers.begin(), callers.end(), 0u);
  std::vector<uint64_t> most(functions);
  for (const ProgramFlow::Call& call : calls) {
    if (call.from == call.to || call.count <= most[call.to]) continue;
    most[call.to] = call.count;
    callers[call.to] = call.from;
  }
  return callers;
}

}  // namespace

std::vector<uint32_t> order_functions(std::span<const OrderedFunction> functions,
                                      std::span<const ProgramFlow::Call> calls) {
  std::vector<uint32_t> by_heat(functions.size());
  std::iota(by_heat.begin(), by_heat.end(), 0u);
  std::vector<uint32_t> group_of = by_heat;
  std::ranges::stable_sort(by_heat, std::greater(), [&](uint32_t f) { return functions[f].heat; });
  std::vector<FunctionGroup> groups(functions.size());
  for (uint32_t f = 0; f < functions.size(); ++f)
    groups[f] = {{f}, functions[f].size, functions[f].heat};

  std::vector<uint32_t> callers = main_callers(functions.size(), calls);
  for (uint32_t f : by_heat) {
    FunctionGroup& group = groups[group_of[f]];
    FunctionGroup& caller = groups[group_of[callers[f]]];
    if (&group == &caller || group.size + caller.size > kGroupLimit) continue;
    caller.size += group.size;
    caller.heat += group.heat;
    for (uint32_t moved : group.functions) {
      group_of[moved] = group_of[callers[f]];
      caller.functions.push_back(moved);
    }
    group = {};
  }
  std::ranges::stable_sort(groups, std::greater(), &FunctionGroup::density);
  std::vector<uint32_t> order;
  for (const FunctionGroup& group : groups)
    order.insert(order.end(), group.functions.begin(), group.functions.end());
  return order;
}

}  // namespace sonde
