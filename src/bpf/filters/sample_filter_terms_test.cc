#include "bpf/filters/sample_filter_terms.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

Result<SampleFilterTerms> terms_of(std::string_view text) {
  return parse_sample_filter(text, [](const std::string& path) -> std::optional<uint64_t> {
    if (path == "/known") return 77;
    return std::nullopt;
  });
}

TEST(SampleFilterTerms, CommasJoinWhatAllHolds) {
  SampleFilterTerms terms = terms_of("period > 1000, ip<0x7fff||cpu == 1").value();
  ASSERT_EQ(terms.tests.size(), 3u);
  EXPECT_EQ(terms.tests[0].if_true, 1);
  EXPECT_EQ(terms.tests[0].if_false, SAMPLE_FILTER_DROPS);
  EXPECT_EQ(terms.tests[1].if_true, SAMPLE_FILTER_KEEPS);
  EXPECT_EQ(terms.tests[1].if_false, 2);
  EXPECT_EQ(terms.tests[1].operand, 0x7fffu);
  EXPECT_EQ(terms.tests[2].if_true, SAMPLE_FILTER_KEEPS);
  EXPECT_EQ(terms.tests[2].if_false, SAMPLE_FILTER_DROPS);
  EXPECT_EQ(terms.needs_data, "ip");
}

TEST(SampleFilterTerms, ValuesHaveNames) {
  SampleFilterTerms terms = terms_of("mem_op == LOAD || mem_op == store, mem_lvl > l1").value();
  EXPECT_EQ(terms.tests[0].operand, 2u);
  EXPECT_EQ(terms.tests[1].operand, 4u);
  EXPECT_EQ(terms.tests[1].if_true, 2);
  EXPECT_EQ(terms.tests[2].shift, 33);
  EXPECT_EQ(terms.needs.size(), 3u);
  EXPECT_EQ(terms_of("cgroup == /known").value().tests[0].operand, 77u);
}

TEST(SampleFilterTerms, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text, message;
  };
  std::string many = "cpu == 1";
  for (int i = 0; i < SAMPLE_FILTER_TESTS; ++i) many += ", cpu == 1";
  for (const Case& one :
       {Case{"", "expected one of pid tid"}, Case{"perid > 1", "at 'perid > 1'"},
        Case{"period", "expected one of == != < <= > >= & at 'the end'"},
        Case{"period > many", "expected a number at 'many'"},
        Case{"mem_op == l1", "one of na load store pfetch exec at 'l1'"},
        Case{"cpu == 1 cpu == 2", "expected || or a comma at 'cpu == 2'"},
        Case{"cgroup == /nowhere", "no such cgroup"}, Case{many, "more than 16 comparisons"}}) {
    auto terms = terms_of(one.text);
    ASSERT_FALSE(terms) << one.text;
    EXPECT_NE(terms.error().message.find(one.message), std::string::npos) << terms.error().message;
  }
}

}  // namespace
}  // namespace sonde
