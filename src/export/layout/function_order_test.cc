#include "export/layout/function_order.h"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::ElementsAre;

TEST(FunctionOrder, PutsFunctionsBehindThoseThatCallThemMost) {
  std::vector<OrderedFunction> functions = {{100, 1000}, {100, 9000}, {100, 800}, {100, 8000}};
  std::vector<ProgramFlow::Call> calls = {{0, 3, 5}, {1, 3, 2}, {2, 1, 7}};
  EXPECT_THAT(order_functions(functions, calls), ElementsAre(2, 1, 0, 3));
}

TEST(FunctionOrder, WithoutCallsIsByDensity) {
  std::vector<OrderedFunction> functions = {{1000, 1000}, {10, 1000}, {100, 1000}};
  EXPECT_THAT(order_functions(functions, {}), ElementsAre(1, 2, 0));
}

TEST(FunctionOrder, DoesNotPutMoreThanAPageTogether) {
  std::vector<OrderedFunction> functions = {{4000, 1}, {4000, 100000}};
  std::vector<ProgramFlow::Call> calls = {{0, 1, 5}, {1, 0, 5}};
  EXPECT_THAT(order_functions(functions, calls), ElementsAre(1, 0));
}

}  // namespace
}  // namespace sonde
