#include "script/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kUsual = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime;

EventTable events(std::initializer_list<std::pair<uint32_t, uint64_t>> types) {
  EventTable table;
  for (auto [type, sample_type] : types) {
    EventDesc desc;
    desc.attr.type = type;
    desc.attr.sample_type = sample_type;
    desc.name = "e";
    desc.layout = SampleLayout(desc.attr);
    table.add(std::move(desc));
  }
  return table;
}

FieldSet chosen(std::initializer_list<std::string_view> arguments, const EventTable& table,
                size_t event = 0, bool chains = true) {
  FieldSelection choice;
  std::vector<std::string> warnings;
  for (std::string_view argument : arguments) EXPECT_TRUE(choice.apply(argument, warnings));
  auto fields = choice.fields_for(table, chains, false);
  EXPECT_TRUE(fields) << fields.error().message;
  return fields ? (*fields)[event] : FieldSet();
}

std::string refusal(std::string_view argument) {
  FieldSelection choice;
  std::vector<std::string> warnings;
  auto applied = choice.apply(argument, warnings);
  return applied ? "" : applied.error().message;
}

TEST(Fields, DefaultsLeaveOutWhatIsNotRecorded) {
  FieldSet fields = chosen({}, events({{abi::kTypeSoftware, kUsual}}));
  EXPECT_TRUE(fields.has(Field::kIp));
  EXPECT_TRUE(fields.has(Field::kPeriod));
  EXPECT_FALSE(fields.has(Field::kCpu));
}

TEST(Fields, ListsReplaceAndSignsChange) {
  EventTable table = events({{abi::kTypeSoftware, kUsual}});
  EXPECT_EQ(chosen({"comm,tid"}, table), (FieldSet{Field::kComm, Field::kTid}));
  EXPECT_EQ(chosen({"comm,tid", "+pid", "-tid"}, table), (FieldSet{Field::kComm, Field::kPid}));
  EXPECT_EQ(chosen({"+pid", "comm"}, table), FieldSet{Field::kComm});
}

TEST(Fields, TypesRestrict) {
  EventTable table = events({{abi::kTypeSoftware, kUsual}, {abi::kTypeTracepoint, kUsual}});
  EXPECT_EQ(chosen({"trace:comm"}, table, 1), FieldSet{Field::kComm});
  EXPECT_TRUE(chosen({"trace:comm"}, table, 0).has(Field::kIp));
  EXPECT_EQ(chosen({"sw:"}, table, 0), FieldSet());
}

TEST(Fields, TracepointsShowTheirChainsUnlessFieldsWereChosen) {
  EventTable table = events(
      {{abi::kTypeTracepoint, kUsual}, {abi::kTypeTracepoint, kUsual | abi::kSampleCallchain}});
  EXPECT_TRUE(chosen({}, table, 1).has(Field::kSym));
  EXPECT_FALSE(chosen({}, table, 1, false).has(Field::kSym));
  EXPECT_FALSE(chosen({"+pid"}, table, 1).has(Field::kSym));
}

TEST(Fields, SayWhatMakesNoSense) {
  FieldSelection choice;
  std::vector<std::string> warnings;
  ASSERT_TRUE(choice.apply("comm,bpf-output", warnings));
  EXPECT_THAT(warnings, testing::SizeIs(6));
  warnings.clear();
  ASSERT_TRUE(choice.apply("tid", warnings));
  EXPECT_THAT(warnings, ElementsAre("Overriding previous field request for all events."));
  warnings.clear();
  ASSERT_TRUE(choice.apply("+pid", warnings));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Fields, Refuse) {
  EXPECT_EQ(refusal("hw:trace"), "'trace' not valid for hardware events.");
  EXPECT_EQ(refusal("comm,+tid"),
            "-F: fields are either added and removed (+ip,-dso), or named: not both");
  EXPECT_EQ(refusal("+comm,tid"),
            "-F: fields are either added and removed (+ip,-dso), or named: not both");
  EXPECT_EQ(refusal("x:comm"),
            "-F: what is before the colon is no kind of event: hw, sw, trace, raw, break, synth");
  EXPECT_EQ(refusal(""), "-F: no field is left for any kind of event");
  EXPECT_THAT(refusal("tme"), HasSubstr("Did you mean 'time'?"));
}

TEST(Fields, WhatWasAskedForMustBeRecorded) {
  FieldSelection choice;
  std::vector<std::string> warnings;
  ASSERT_TRUE(choice.apply("addr", warnings));
  auto fields = choice.fields_for(events({{abi::kTypeSoftware, kUsual}}), true, false);
  ASSERT_FALSE(fields);
  EXPECT_THAT(fields.error().message, HasSubstr("do not have ADDR attribute set"));
}

TEST(Fields, EmptyListsNeedSuchEvents) {
  FieldSelection choice;
  std::vector<std::string> warnings;
  ASSERT_TRUE(choice.apply("hw:", warnings));
  EXPECT_FALSE(choice.fields_for(events({{abi::kTypeSoftware, kUsual}}), true, false));
}

TEST(Fields, WhatHasNothingToShowIsSaid) {
  FieldSelection choice;
  std::vector<std::string> warnings;
  ASSERT_TRUE(choice.apply("comm,metric,vcpu", warnings));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "Nothing to show for field 'metric': group metrics are not calculated.");
}

TEST(Fields, SomeNeedMoreThanTheirSample) {
  auto refusal_of = [](std::string_view field, uint64_t branch_filter, bool has_clock) {
    FieldSelection choice;
    std::vector<std::string> warnings;
    EXPECT_TRUE(choice.apply(field, warnings));
    EventTable table;
    EventDesc event;
    event.attr.type = abi::kTypeHardware;
    event.attr.sample_type = kUsual;
    event.attr.branch_sample_type = branch_filter;
    table.add(event);
    auto fields = choice.fields_for(table, true, has_clock);
    return fields ? std::string() : fields.error().message;
  };
  EXPECT_THAT(refusal_of("+brstackinsn", abi::kBranchAnyCall, false), HasSubstr("record with -b"));
  EXPECT_EQ(refusal_of("+brstackinsn", abi::kBranchAny, false), "");
  EXPECT_THAT(refusal_of("+tod", 0, false), HasSubstr("does not say what the time of day was"));
  EXPECT_EQ(refusal_of("+tod", 0, true), "");
}

}  // namespace
}  // namespace sonde
