#include "event/print_fmt/tracepoint_format.h"

#include <gtest/gtest.h>

#include "event/print_fmt/field_format.h"

namespace sonde {
namespace {

constexpr std::string_view kText =
    "name: demo\nID: 285\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:s8 tiny;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield:short small;\toffset:10;\tsize:2;\tsigned:1;\n"
    "\tfield:unsigned long mask;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:const char * ptr;\toffset:24;\tsize:8;\tsigned:0;\n"
    "\tfield:char comm[8];\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:u8 mac[6];\toffset:40;\tsize:6;\tsigned:0;\n"
    "\tfield:__data_loc char[] file;\toffset:48;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc u32[] list;\toffset:52;\tsize:4;\tsigned:0;\n"
    "\tfield:char tail[];\toffset:56;\tsize:0;\tsigned:0;\n"
    "\nprint fmt: \"x %d\", REC->tiny\n";

TracepointFormat parsed(std::string_view text = kText) {
  auto format = TracepointFormat::parse(text, "sys");
  EXPECT_TRUE(format.has_value());
  return format ? *format : TracepointFormat{};
}

std::string raw_data(ByteOrder order) {
  ByteBuilder raw(order);
  raw.u16(285);
  raw.zeros(2);
  raw.u32(77);
  raw.u8(0xff);
  raw.u8(0);
  raw.u16(static_cast<uint16_t>(-300));
  raw.zeros(4);
  raw.u64(0x1234);
  raw.u64(0xffffffff81000000);
  raw.text(std::string_view("bash\0\0\0\0", 8));
  raw.bytes(as_bytes("\x01\x02\x03\x04\x05\x06"));
  raw.zeros(2);
  raw.u32(4 << 16 | 64);  // "a/b"
  raw.u32(8 << 16 | 12);  // 56 + 12: two numbers
  raw.text(std::string_view("tail\0\0\0\0", 8));
  raw.text(std::string_view("a/b\0", 4));
  raw.u32(7);
  raw.u32(8);
  return std::string(as_text(raw.view()));
}

TEST(TracepointFormat, ReadsNameIdAndFields) {
  TracepointFormat format = parsed();
  EXPECT_EQ(format.name(), "demo");
  EXPECT_EQ(format.system(), "sys");
  EXPECT_EQ(format.id(), 285U);
  EXPECT_EQ(format.common_fields().size(), 2U);
  EXPECT_EQ(format.fields().size(), 9U);
  EXPECT_EQ(format.print_fmt(), "\"x %d\", REC->tiny");

  const TracepointField* comm = format.field("comm");
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(comm->type, "char[8]");
  EXPECT_TRUE(comm->is_string && comm->is_array && !comm->is_dynamic);
  EXPECT_EQ(comm->element_size, 1U);

  const TracepointField* list = format.field("list");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->type, "__rel_loc u32[]");
  EXPECT_TRUE(list->is_dynamic && list->is_rel_dynamic && !list->is_string);
  EXPECT_EQ(list->element_size, 4U);

  EXPECT_TRUE(format.field("ptr")->is_pointer);
  EXPECT_TRUE(format.field("tail")->is_flexible());
  EXPECT_TRUE(format.field("common_pid")->is_signed);
  EXPECT_EQ(format.field("nothing"), nullptr);
}

TEST(TracepointFormat, RefusesWhatIsNone) {
  EXPECT_FALSE(TracepointFormat::parse("", "sys").has_value());
  EXPECT_FALSE(TracepointFormat::parse("name: x\n", "sys").has_value());
  EXPECT_FALSE(TracepointFormat::parse("name: x\nID: -4\n", "sys").has_value());
  EXPECT_FALSE(TracepointFormat::parse(
      "name: x\nID: 4\nformat:\n\tfield:int a;\toffset:99999999;\tsize:4;\n", "sys"));
  EXPECT_FALSE(
      TracepointFormat::parse("name: x\nID: 4\nformat:\n\tfield:int a;\n", "sys").has_value());
}

TEST(TracepointFormat, SurvivesTruncation) {
  for (size_t size = 0; size < kText.size(); ++size)
    (void)TracepointFormat::parse(kText.substr(0, size), "sys");
}

TEST(FieldFormat, ReadsNumbersAndStringsInBothByteOrders) {
  TracepointFormat format = parsed();
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    std::string raw = raw_data(order);
    auto number = [&](std::string_view name) {
      return field_number(*format.field(name), as_bytes(raw), order);
    };
    EXPECT_EQ(number("common_pid"), 77U);
    EXPECT_EQ(static_cast<int64_t>(*number("tiny")), -1);
    EXPECT_EQ(static_cast<int64_t>(*number("small")), -300);
    EXPECT_EQ(number("mask"), 0x1234U);
    EXPECT_EQ(number("comm"), std::nullopt);
    auto text = [&](std::string_view name) {
      return field_string(*format.field(name), as_bytes(raw), order);
    };
    EXPECT_EQ(text("comm"), "bash");
    EXPECT_EQ(text("file"), "a/b");
    EXPECT_EQ(text("tail").value().substr(0, 4), "tail");
    EXPECT_EQ(text("mask"), std::nullopt);
    EXPECT_EQ(field_bytes(*format.field("list"), as_bytes(raw), order).size(), 8U);
  }
}

TEST(FieldFormat, ListsFieldsAsPerfDoes) {
  TracepointFormat format = parsed();
  std::string raw = raw_data(ByteOrder::kLittle);
  std::string out;
  append_all_fields(format, as_bytes(raw), ByteOrder::kLittle, out);
  EXPECT_EQ(out,
            " tiny=-1 small=-300 mask=0x1234 ptr=0xffffffff81000000 comm=bash mac=ARRAY[01, 02, "
            "03, 04, 05, 06]"
            " file=a/b list=ARRAY[07, 00, 00, 00, 08, 00, 00, 00] tail=tail");
}

TEST(FieldFormat, NeverReadsBehindTheData) {
  TracepointFormat format = parsed();
  std::string raw = raw_data(kHostOrder);
  for (size_t size = 0; size <= raw.size(); ++size) {
    std::string exact = raw.substr(0, size);  // so that a sanitizer detects a read past the end
    std::string out;
    append_all_fields(format, as_bytes(exact), kHostOrder, out);
  }
  EXPECT_EQ(field_number(*format.field("mask"), as_bytes(raw.substr(0, 20)), kHostOrder),
            std::nullopt);
}

TEST(FieldFormat, FindsFieldsInTheText) {
  std::string_view text = "prev_comm=sh prev_pid=12 prev_state=S ==> next_comm=x";
  EXPECT_EQ(field_in_text("prev_pid", text), "12");
  EXPECT_EQ(field_in_text("next_comm", text), "x");
  EXPECT_EQ(field_in_text("prev", text), std::nullopt);
  EXPECT_EQ(field_in_text("pid", text), std::nullopt);
}

}  // namespace
}  // namespace sonde
