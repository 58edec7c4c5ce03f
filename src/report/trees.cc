#include <oneapi/tbb/enumerable_thread_specific.h>

#include "report/data.h"
#include "report/shown_tree.h"

namespace sonde::report {
namespace {

/// Builds the call tree of a table's row when it is asked for, by any thread.
class TreeSource {
 public:
  TreeSource(const EventReport::Data& data, const ReportOptions& options, bool relative_threshold,
             std::vector<uint32_t> rows)
      : data_(data),
        rows_(std::move(rows)),
        profile_(data.rows->profile(0)),
        builders_([this] { return CallTreeBuilder(profile_, &data_.input); }) {
    double share = options.call_graph.min_percent / 100;
    if (relative_threshold)
      wanted_.min_share_of_parent = share;
    else
      wanted_.min_weight =
          static_cast<uint64_t>(static_cast<double>(total_period(data, options, 0)) * share);
    view::GraphStyle style = options.call_graph.style;
    wanted_.heaviest_first =
        style == view::GraphStyle::kRelative || style == view::GraphStyle::kAbsolute;
  }

  [[nodiscard]] view::CallTree tree(size_t row) {
    view::CallTree shown;
    if (find(rows_[row], shown))
      copy_tree(builders_.local().build(data_.rows->row_in(rows_[row], 0), wanted_), wanted_,
                profile_, data_.input, shown);
    return shown;
  }
  /// Starting threads would take longer than making small ones.
  [[nodiscard]] bool is_large() const { return profile_.trie().size() >= kLargeTrie; }

 private:
  static constexpr size_t kLargeTrie = 4096;  // nodes

  /// Sets the weights of a row's tree. False if the row has no tree to build.
  bool find(uint32_t row, view::CallTree& shown) const {
    uint32_t id = row == TableRows::kAbsent ? row : data_.rows->row_in(row, 0);
    if (id == TableRows::kAbsent) return false;
    const Row& found = profile_.rows()[id];
    shown.row_weight = profile_.options().children ? found.children : found.self;
    shown.total_weight = profile_.totals().period;
    return shown.row_weight >= wanted_.min_weight;
  }

  const EventReport::Data& data_;
  std::vector<uint32_t> rows_;
  const Profile& profile_;
  CallTreeOptions wanted_;
  oneapi::tbb::enumerable_thread_specific<CallTreeBuilder> builders_;
};

}  // namespace

void add_trees(EventReport& report, const ReportOptions& options, const Plan& plan,
               std::vector<uint32_t> rows) {
  view::Table& table = report.table;
  table.graph = {.style = options.call_graph.style,
                 .value = options.call_graph.value,
                 .limit = options.call_graph.print_limit,
                 .skip_first = plan.skip_first_call};
  bool relative = options.call_graph.style == view::GraphStyle::kRelative;
  auto source = std::make_shared<TreeSource>(*report.data, options, relative, std::move(rows));
  table.has_large_trees = source->is_large();
  table.tree = [source](size_t row) { return source->tree(row); };
}

}  // namespace sonde::report
