// For tests: a profile as lines. "main;read 12" for each stack that has a weight, in tree order.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "stacks/stack_profile.h"

namespace sonde {

inline std::string path_of(const StackProfile& profile, StackNodeId node) {
  std::string path(profile.name_of(node));
  for (StackNodeId at = profile.nodes[node.index()].parent; at.valid();
       at = profile.nodes[at.index()].parent)
    path = fmt::format("{};{}", profile.name_of(at), path);
  return path;
}

inline std::vector<std::string> lines_of(const StackProfile& profile, size_t column = 0) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < profile.nodes.size(); ++i)
    if (double self = profile.columns[column].self[i]; self != 0)
      lines.push_back(fmt::format("{} {}", path_of(profile, StackNodeId(i)), self));
  return lines;
}

}  // namespace sonde
