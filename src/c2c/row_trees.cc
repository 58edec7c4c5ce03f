#include "c2c/row_trees.h"

#include "profile/call_tree.h"
#include "profile/keys/key_tools.h"
#include "render/call_tree_text.h"
#include "report/shown_tree.h"

namespace sonde::c2c {
namespace {

/// Puts all samples into one row.
class OneRowKey final : public SortKey {
 public:
  uint64_t of_row(RowReader& /*row*/) override { return 0; }
  void text(uint64_t /*value*/, std::string& /*out*/) const override {}
};

}  // namespace

void RowTrees::write(const LineRow& row, uint64_t total, Sink& out) const {
  if (row.samples.empty() || options_.style == view::GraphStyle::kNone) return;
  KeySet keys(input_);
  keys.add(std::make_unique<OneRowKey>());
  keys.seal();
  Profile profile = build_profile(
      input_, keys, row.samples,
      {.call_graph = true, .caller_order = options_.caller_order, .call_key = options_.key});
  view::CallTree shown;
  shown.row_weight = profile.totals().period;
  shown.total_weight = total;
  CallTreeOptions wanted;
  double share = options_.min_percent / 100;
  if (options_.style == view::GraphStyle::kRelative)
    wanted.min_share_of_parent = share;
  else if (options_.given)
    wanted.min_weight = static_cast<uint64_t>(static_cast<double>(total) * share);
  wanted.heaviest_first = options_.style == view::GraphStyle::kRelative ||
                          options_.style == view::GraphStyle::kAbsolute;
  report::copy_tree(CallTreeBuilder(profile).build(0, wanted), wanted, profile, input_, shown);
  render::write_call_tree(
      out, shown,
      {.graph = {.style = options_.style, .value = options_.value, .limit = options_.print_limit}});
}

}  // namespace sonde::c2c
