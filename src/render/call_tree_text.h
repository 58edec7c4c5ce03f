// Call trees as text, in the four styles of `report -g`: graph and fractal as a drawn tree, flat
// and folded as lists of paths.
//
//             |
//             |--62.50%--work
//             |          read
//             |
//              --37.50%--[...]
//
// The drawing matches perf's exactly, including trailing blanks.
#pragma once

#include "base/sink.h"
#include "view/call_tree.h"

namespace sonde::render {

struct CallTreeTextOptions {
  view::GraphOptions graph = {};
  bool color = false;
  std::string_view folded_separator = ";";
};

void write_call_tree(Sink& out, const view::CallTree& tree, const CallTreeTextOptions& options);

}  // namespace sonde::render
