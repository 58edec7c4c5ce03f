#include "trace/arguments/field_texts.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sonde {
namespace {

constexpr std::string_view kFormat = R"(name: made_up
ID: 7
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[8];	offset:8;	size:8;	signed:0;
	field:pid_t pid;	offset:16;	size:4;	signed:1;
	field:int prio;	offset:20;	size:4;	signed:1;
	field:void * where;	offset:24;	size:8;	signed:0;
	field:__data_loc char[] path;	offset:32;	size:4;	signed:0;
	field:u16 ports[2];	offset:36;	size:4;	signed:0;

print fmt: "%s", REC->comm
)";

TEST(FieldTexts, EachFieldAsItsDeclarationSays) {
  TracepointFormat format = *TracepointFormat::parse(kFormat, "test");
  std::vector<std::byte> raw(48);
  auto put = [&](size_t at, auto value) { std::memcpy(raw.data() + at, &value, sizeof value); };
  std::memcpy(raw.data() + 8, "sleep", 5);
  put(16, int32_t{42});
  put(20, int32_t{-3});
  put(24, uint64_t{0xffff1234});
  put(32, uint32_t{(5U << 16) | 40U});
  put(36, uint16_t{80});
  put(38, uint16_t{443});
  std::memcpy(raw.data() + 40, "/a\nb", 4);
  TracedTasks tasks({}, false);
  tasks.rename(42, 42, "cat");
  BtfText types = BtfText::none();
  std::string text;
  append_fields(format, raw, kHostOrder, tasks, types, text);
  EXPECT_EQ(
      text,
      R"(comm: "sleep", pid: 42 (cat), prio: -3, where: 0xffff1234, path: "/a\12b", ports: [80, 443])");
}

TEST(FieldTexts, ZerosAndWhatIsNotThereAreLeftOut) {
  TracepointFormat format = *TracepointFormat::parse(kFormat, "test");
  std::vector<std::byte> raw(24);
  TracedTasks tasks({}, false);
  BtfText types = BtfText::none();
  std::string text;
  append_fields(format, raw, kHostOrder, tasks, types, text);
  EXPECT_EQ(text, R"(comm: "", path: "", ports: [])");
}

}  // namespace
}  // namespace sonde
