#include "analysis/counts/metric_groups.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string_view> names(std::string_view list) {
  Result<std::vector<const MetricInfo*>> found = find_metrics(list);
  std::vector<std::string_view> result;
  if (!found) return {found.error().message};
  for (const MetricInfo* metric : *found) result.push_back(metric->name);
  return result;
}

TEST(MetricGroups, HaveTheMetricsOfTheirLines) {
  const std::vector<std::string_view> lines = {
#define METRIC_GROUP(name, members) members,
#include "analysis/counts/metric_groups.def"
  };
  ASSERT_EQ(metric_groups().size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(metric_groups()[i].members.size(), split(lines[i], ' ').size()) << lines[i];
}

TEST(FindMetrics, TakesNamesAndGroupsApart) {
  EXPECT_THAT(names("ghz"), ElementsAre("ghz"));
  EXPECT_THAT(names("TLB,ghz"), ElementsAre("dtlb_miss_rate", "itlb_miss_rate", "ghz"));
  EXPECT_THAT(names("insn_per_cycle,IPC,ipc"), ElementsAre("insn_per_cycle"));
}

TEST(FindMetrics, SaysWhichThereAre) {
  Result<std::vector<const MetricInfo*>> found = find_metrics("ghz,nosuch");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("Cannot find metric or group `nosuch'\n"));
  EXPECT_THAT(found.error().message, HasSubstr("insn_per_cycle"));
  EXPECT_THAT(found.error().message, HasSubstr("branch_prediction"));
  EXPECT_THAT(find_metrics("insn_per_cycl").error().message,
              HasSubstr("Did you mean 'insn_per_cycle'?"));
}

}  // namespace
}  // namespace sonde
