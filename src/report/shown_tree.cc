#include "report/shown_tree.h"

#include <fmt/format.h>

namespace sonde::report {
namespace {

std::string_view label(const Call& call, const ProfileInput& input, view::CallTree& shown) {
  const Frame& frame = input.frame(call.frame);
  if (frame.symbol.valid() && !call.srcline.valid()) return input.symbols.name(frame.symbol);
  return shown.texts.emplace_back(call_text(call, input));
}

std::string_view with_counts(std::string_view label, const BranchCounts& counts,
                             view::CallTree& shown) {
  std::string text(label);
  append_counts(counts, text);
  return shown.texts.emplace_back(std::move(text));
}

/// Lists of paths show only those whose own weight reaches the threshold.
void drop_light_ends(uint64_t min_weight, view::CallTree& shown) {
  for (view::CallTree::Node& node : shown.nodes)
    if (node.self < min_weight) node.self = node.self_count = 0;
}

}  // namespace

std::string call_text(const Call& call, const ProfileInput& input) {
  const Frame& frame = input.frame(call.frame);
  if (!frame.symbol.valid()) return call.ip == 0 ? "0" : fmt::format("{:#x}", call.ip);
  std::string_view name = input.symbols.name(frame.symbol);
  if (!call.srcline.valid()) return std::string(name);
  std::string_view line = input.strings.view(call.srcline);
  if (line.starts_with(name) && line.substr(name.size()).starts_with('+'))
    line.remove_prefix(name.size());
  return fmt::format("{} {}", name, line);
}

void copy_tree(const CallTree& tree, const CallTreeOptions& wanted, const Profile& profile,
               const ProfileInput& input, view::CallTree& shown) {
  const PathFrames& frames = profile.frames();
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const CallTree::Node& node = tree.node(i);
    view::CallTree::Node& made = shown.nodes.emplace_back();
    made.cumulative = node.cumulative;
    made.self = node.self;
    made.count = node.count;
    made.self_count = node.self_count;
    made.children = node.children;
    for (size_t at = 0; at < node.calls.size(); ++at) {
      std::string_view named = label(frames.call(node.calls[at]), input, shown);
      if (!node.branches.empty()) named = with_counts(named, node.branches[at], shown);
      made.labels.push_back(named);
    }
  }
  shown.top = tree.top();
  if (!wanted.heaviest_first) drop_light_ends(wanted.min_weight, shown);
}

}  // namespace sonde::report
