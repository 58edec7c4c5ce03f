#include "symbol/inlined_symbols.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

std::string as_it_is(std::string_view name) {
  return std::string(name);
}

TEST(InlinedSymbols, OneNameInTwoFunctionsIsTwoSymbols) {
  InlinedSymbols symbols;
  SymbolId first = symbols.intern(SymbolId(1), "swap", as_it_is);
  SymbolId second = symbols.intern(SymbolId(2), "swap", as_it_is);
  EXPECT_TRUE(InlinedSymbols::has(first));
  EXPECT_NE(first, second);
  EXPECT_EQ(symbols.intern(SymbolId(1), "swap", as_it_is), first);
  EXPECT_EQ(symbols[second].into, SymbolId(2));
  EXPECT_EQ(symbols[second].label, "swap (inlined)");
}

TEST(InlinedSymbols, OneNameMayBeInAnyNumberOfFunctions) {
  InlinedSymbols symbols;
  for (uint32_t i = 0; i < 10'000; ++i) (void)symbols.intern(SymbolId(i), "swap", as_it_is);
  EXPECT_EQ(symbols[symbols.intern(SymbolId(9'999), "swap", as_it_is)].into, SymbolId(9'999));
}

}  // namespace
}  // namespace sonde
