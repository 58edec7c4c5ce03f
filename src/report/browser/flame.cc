#include "report/browser/flame.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "report/data.h"

namespace sonde::report {
namespace {

/// Its nodes are those of the profile's trie, plus one for everything.
class ProfileFlame final : public tui::FlameTree {
 public:
  explicit ProfileFlame(std::unique_ptr<ReportLevel> level)
      : level_(std::move(level)), data_(*level_->report().data), profile_(*data_.profiles[0]) {
    const CallTrie& trie = profile_.trie();
    for (uint32_t node = 0; node < trie.size(); node = trie.end_of(node)) {
      roots_.push_back(node);
      all_ += profile_.period_below(node);
    }
    by_weight(roots_);
    for (size_t row = 0; row < profile_.rows().size(); ++row)
      if (uint32_t node = profile_.root_of(row); node != CallTrie::kNone)
        row_of_root_.try_emplace(node, static_cast<uint32_t>(row));
  }

  [[nodiscard]] uint32_t root() const override { return kAll; }

  [[nodiscard]] std::vector<uint32_t> children(uint32_t node) const override {
    if (node == kAll) return roots_;
    std::vector<uint32_t> found;
    for (uint32_t child : profile_.trie().children_of(node)) found.push_back(child);
    by_weight(found);
    return found;
  }

  [[nodiscard]] uint64_t weight(uint32_t node) const override {
    return node == kAll ? all_ : profile_.period_below(node);
  }

  [[nodiscard]] std::string_view name(uint32_t node) const override {
    if (node == kAll) return "all";
    if (auto known = texts_.find(node); known != texts_.end()) return known->second;
    return texts_.emplace(node, text_of(node)).first->second;
  }

 private:
  static constexpr uint32_t kAll = UINT32_MAX;

  void by_weight(std::vector<uint32_t>& nodes) const {
    std::ranges::stable_sort(nodes, std::greater<>(),
                             [this](uint32_t node) { return profile_.period_below(node); });
  }

  [[nodiscard]] std::string text_of(uint32_t node) const {
    const CallTrie& trie = profile_.trie();
    if (trie.is_root(node)) {
      auto row = row_of_root_.find(node);
      if (row == row_of_root_.end()) return "[unknown]";
      const Row& made = profile_.rows()[row->second];
      return std::string(data_.input.strings.view(data_.input.samples.comm[made.first_sample]));
    }
    const PathFrames& frames = profile_.frames();
    const Call& call = frames.call(frames.call_of(trie.key(node)));
    const Frame& frame = data_.input.frame(call.frame);
    if (frame.symbol.valid()) return std::string(data_.input.symbols.name(frame.symbol));
    return fmt::format("[{}]", data_.input.dso_name(frame.dso));
  }

  std::unique_ptr<ReportLevel> level_;
  const EventReport::Data& data_;
  const Profile& profile_;
  std::vector<uint32_t> roots_;
  uint64_t all_ = 0;
  std::unordered_map<uint32_t, uint32_t> row_of_root_;
  mutable std::unordered_map<uint32_t, std::string> texts_;  // of nodes already seen
};

}  // namespace

FlameRequest flame_wish(const ReportLevel& from) {
  ReportOptions options = from.options();
  options.sort = "comm";
  options.fields.reset();
  options.hierarchy = false;
  options.children = true;
  options.percent_limit = 0;
  options.call_graph.caller_order = true;
  options.call_graph.order_given = true;
  options.call_graph.key = CallKey::kFunction;
  return {std::move(options), from.event()};
}

Result<std::unique_ptr<tui::FlameTree>> make_flame_tree(const OpenRecording& recording,
                                                        FlameRequest request,
                                                        std::string_view tool) {
  auto level = TRY(ReportLevel::make(recording, std::move(request.options), tool));
  level->show_event(std::min(request.event, level->events() - 1));
  return std::make_unique<ProfileFlame>(std::move(level));
}

}  // namespace sonde::report
