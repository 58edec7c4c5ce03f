// ProbePlan: a probe that can be made: the event's name, and where and what to fetch.
#pragma once

#include <string>
#include <vector>

#include "probe/probe_definition.h"

namespace sonde {

struct ProbePlan {
  std::string group;  // "probe", "probe_libc"
  std::string event;  // "malloc", "malloc__return"; not yet made unique: see ProbeNames
  ProbePlace place;
  std::string function;            // for messages: "malloc", as the symbol or DIE is called
  std::vector<std::string> notes;  // what the user should know: "n: optimised out at this address"
};

}  // namespace sonde
