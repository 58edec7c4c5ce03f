#include "probe/events/probe_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

ProbePlan plan(std::string event, std::vector<std::string> arguments = {}) {
  ProbePlan plan;
  plan.group = "probe_app";
  plan.event = std::move(event);
  plan.place = {.object = "/app", .arguments = std::move(arguments)};
  return plan;
}

std::vector<std::string> names(Result<std::vector<NamedProbe>> named) {
  if (!named) return {named.error().message};
  std::vector<std::string> out;
  for (const NamedProbe& probe : *named) out.push_back(probe.event.system + ":" + probe.event.name);
  return out;
}

TEST(ProbeNames, TheUsersNamesComeFirst) {
  ProbeNames unused({}, false);
  EXPECT_THAT(names(unused.name({.group = "my"}, {plan("f")})), ElementsAre("my:f"));
  EXPECT_THAT(names(unused.name({.event = "e"}, {plan("f")})), ElementsAre("probe_app:e"));
  EXPECT_THAT(names(unused.name({.event = "e", .at_return = true}, {plan("f__return")})),
              ElementsAre("probe_app:e__return"));
}

TEST(ProbeNames, PlacesWithTheSameFieldsShareAnEvent) {
  ProbeNames unused({}, false);
  EXPECT_THAT(names(unused.name({}, {plan("f", {"a=%di:s32"}), plan("f", {"a=%si:s32"}),
                                     plan("f", {"a=%si:s64"}), plan("f", {"a=%dx:s64"})})),
              ElementsAre("probe_app:f", "probe_app:f", "probe_app:f_1", "probe_app:f_1"));
}

TEST(ProbeNames, ATakenNameNeedsForce) {
  EXPECT_THAT(names(ProbeNames({{"probe_app", "f"}}, false).name({}, {plan("f")})),
              ElementsAre(::testing::HasSubstr("already exists")));
  EXPECT_THAT(
      names(ProbeNames({{"probe_app", "f"}, {"probe_app", "f_1"}}, true).name({}, {plan("f")})),
      ElementsAre("probe_app:f_2"));
}

TEST(ProbeNames, RequestsOfOneRunConflictToo) {
  ProbeNames unused({}, false);
  EXPECT_THAT(names(unused.name({}, {plan("f")})), ElementsAre("probe_app:f"));
  EXPECT_THAT(names(unused.name({}, {plan("f")})),
              ElementsAre(::testing::HasSubstr("already exists")));
}

TEST(ProbeNames, NumbersDoNotMakeNamesTooLong) {
  std::string longest(63, 'f');
  std::vector<std::string> named =
      names(ProbeNames({{"probe_app", longest}}, true).name({}, {plan(longest)}));
  EXPECT_THAT(named, ElementsAre("probe_app:" + std::string(61, 'f') + "_1"));
}

}  // namespace
}  // namespace sonde
