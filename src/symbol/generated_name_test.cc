#include "symbol/generated_name.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace sonde {
namespace {

std::string readable(std::string name) {
  name.resize(make_generated_name_readable(name.data(), name.size()));
  return name;
}

TEST(GeneratedName, LambdasLoseTheirAddresses) {
  EXPECT_EQ(readable("int Shop$$Lambda$14/0x0000000840066840.applyAsInt(java.lang.Object)"),
            "int Shop$$Lambda$14.applyAsInt(java.lang.Object)");
  EXPECT_EQ(
      readable("Lx; LambdaForm$MH/0x00007f5d18000400.invoke(Shop$$Lambda$2/0x800000045, int)"),
      "Lx; LambdaForm$MH.invoke(Shop$$Lambda$2, int)");
  EXPECT_EQ(readable("Shop$$Lambda/0x00007f5d18000400"), "Shop$$Lambda");
}

TEST(GeneratedName, OtherNamesStay) {
  for (const char* name :
       {"", "Interpreter", "JS:~load file:///srv/0x0000000840066840.js:1:1", "Lambda/0x12",
        "py::Lambda:/srv/app.py", "Lambda x /srv/0x0000000840066840"})
    EXPECT_EQ(readable(name), name);
}

TEST(GeneratedName, AnEndlessNameCostsItsLength) {
  std::string name, shorter;
  for (int i = 0; i < 300'000; ++i) {
    name += "Lambda/0x00000000";
    shorter += "Lambda";
  }
  auto begin = std::clock();
  EXPECT_EQ(readable(std::move(name)), shorter);
  // Moving the rest at each address: minutes.
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace sonde
