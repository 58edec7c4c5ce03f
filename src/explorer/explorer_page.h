// Writes profiles into the explorer's page, for `view` and `report --html`.
#pragma once

#include <string>

#include "base/env.h"
#include "base/error.h"
#include "stacks/profile_source.h"

namespace sonde {

struct ExplorerOptions {
  std::string input;
  std::string before;                 // another profile to compare `input` with; or empty
  std::string output = "sonde.html";  // "-": standard output
  std::string title;                  // empty: made from the inputs' names
  bool by_name = false;               // of two: programs are one only if they have the same name
  ProfileSourceOptions source;
  std::string command = "view";  // for messages
};

/// Reads the profiles and writes the page; prints its location to env.err, unless it is standard
/// output. Sets the options of `source.stacks` that pages need.
Result<> write_explorer(const ExplorerOptions& choice, Env& env);

}  // namespace sonde
