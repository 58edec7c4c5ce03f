#include "replay/fields/chosen_names.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

const std::vector<std::string> kNone;

TEST(ChosenNames, AreThoseListedAlsoWhenTheyCameLater) {
  StringPool strings;
  StringId server = strings.intern("server"), other = strings.intern("other");
  std::vector<std::string> list = {"server", "later"};
  ChosenNames chosen(strings, list);
  StringId later = strings.intern("later"), latest = strings.intern("latest");
  EXPECT_TRUE(chosen.has(server));
  EXPECT_FALSE(chosen.has(other));
  EXPECT_TRUE(chosen.has(later));
  EXPECT_FALSE(chosen.has(latest));
  EXPECT_FALSE(chosen.has(StringId()));
  EXPECT_TRUE(ChosenNames(strings, kNone).has(other));
  EXPECT_TRUE(ChosenNames(strings, kNone).has(StringId()));
}

TEST(ChosenObjects, AreListedByPathOrByTheLastPartOfIt) {
  DsoTable objects;
  DsoId libc = objects.find_or_add("/usr/lib/libc.so.6", DsoKind::kFile, false);
  DsoId program = objects.find_or_add("/bin/server", DsoKind::kFile, false);
  std::vector<std::string> by_name = {"libc.so.6"}, by_path = {"/bin/server", "/opt/late.so"};
  ChosenObjects named(objects, by_name), at_path(objects, by_path);
  DsoId late = objects.find_or_add("/opt/late.so", DsoKind::kFile, false);
  EXPECT_TRUE(named.has(libc));
  EXPECT_FALSE(named.has(program));
  EXPECT_FALSE(named.has(late));
  EXPECT_FALSE(at_path.has(libc));
  EXPECT_TRUE(at_path.has(program));
  EXPECT_TRUE(at_path.has(late));
  EXPECT_FALSE(at_path.has(DsoId()));
  EXPECT_TRUE(ChosenObjects(objects, kNone).has(DsoId()));
}

}  // namespace
}  // namespace sonde
