// Profiles into the explorer's page, for `view` and `report --html`.
#pragma once

#include <string>

#include "base/env.h"
#include "base/error.h"
#include "stacks/profile_source.h"

namespace sonde {

struct ExplorerChoice {
  std::string input;
  std::string before;                 // another profile, which `input` is compared with; or empty
  std::string output = "sonde.html";  // "-": standard output
  std::string title;                  // empty: made of the inputs' names
  ProfileSourceOptions source;
  std::string command = "view";  // for messages
};

/// Reads what is wanted and writes the page; says where it is on env.err, unless that is standard
/// output. Options of `source.stacks` that pages need are set here.
Result<> write_explorer(const ExplorerChoice& choice, Env& env);

}  // namespace sonde
