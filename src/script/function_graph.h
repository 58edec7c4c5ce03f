// --graph-function: of a call trace, some functions and what they call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "script/items.h"

namespace sonde {

/// Which samples are of these functions or of what they call. Samples must come
/// in order; it goes on from one batch to the next.
class FunctionGraph {
 public:
  FunctionGraph() = default;  // shows everything
  explicit FunctionGraph(std::vector<std::string> functions) : functions_(std::move(functions)) {}
  void narrow(const Session& session, std::vector<ScriptItem>& items);

 private:
  [[nodiscard]] bool shows(const Session& session, uint32_t index);

  std::vector<std::string> functions_;
  struct Thread {
    uint32_t depth = 0;  // of its latest sample
    bool is_inside = false;
    uint32_t entry_depth = 0;  // of the function
  };
  tsl::robin_map<uint32_t, Thread> threads_;  // by tid
};

}  // namespace sonde
