#include "perfdata/header/tracing_data.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr std::string_view kSwitch = "name: sched_switch\nID: 316\nformat:\n\tfield:int x;\n";
constexpr std::string_view kWakeup = "name: sched_wakeup\nID: 318\nformat:\n\tfield:int y;\n";
constexpr std::string_view kPrint = "name: print\nID: 5\nformat:\n";

ByteBuilder section(ByteOrder order) {
  ByteBuilder out(order);
  auto terminated = [&](std::string_view text) {
    out.text(text);
    out.u8(0);
  };
  auto sized = [&](std::string_view text) {
    out.u64(text.size());
    out.text(text);
  };
  out.text("\x17\x08\x44tracing");
  terminated("0.6");
  out.u8(order == ByteOrder::kBig ? 1 : 0);
  out.u8(8);
  out.u32(4096);
  terminated("header_page");
  sized("page format");
  terminated("header_event");
  sized("event format");
  out.u32(1);
  sized(kPrint);
  out.u32(1);
  terminated("sched");
  out.u32(2);
  sized(kSwitch);
  sized(kWakeup);
  out.u32(4);
  out.text("syms");
  out.u32(5);
  out.text("texts");
  sized("1 init\n");
  return out;
}

TEST(TracingData, EveryPart) {
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    ByteBuilder bytes = section(order);
    TracingData data = TracingData::parse(bytes.view());
    EXPECT_TRUE(data.complete());
    EXPECT_EQ(data.order(), order);
    EXPECT_EQ(data.long_size(), 8u);
    EXPECT_EQ(data.page_size(), 4096u);
    EXPECT_EQ(data.header_page(), "page format");
    EXPECT_EQ(data.header_event(), "event format");
    ASSERT_EQ(data.formats().size(), 3u);
    ASSERT_NE(data.by_id(318), nullptr);
    EXPECT_EQ(data.by_id(318)->name, "sched_wakeup");
    EXPECT_EQ(data.by_id(318)->text, kWakeup);
    ASSERT_NE(data.by_name("sched", "sched_switch"), nullptr);
    EXPECT_EQ(data.by_name("sched", "sched_switch")->id, 316u);
    EXPECT_EQ(data.by_id(5)->system, "ftrace");
    EXPECT_EQ(data.by_id(6), nullptr);
    EXPECT_EQ(data.kallsyms(), "syms");
    EXPECT_EQ(data.printk_formats(), "texts");
    EXPECT_EQ(data.saved_cmdlines(), "1 init\n");
  }
}

TEST(TracingData, CutAnywhereGivesWhatWasThere) {
  ByteBuilder bytes = section(kHostOrder);
  size_t most = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    TracingData data = TracingData::parse(bytes.view().first(size));
    EXPECT_FALSE(data.complete());
    EXPECT_GE(data.formats().size(), most);
    most = data.formats().size();
  }
  EXPECT_EQ(most, 3u);
}

}  // namespace
}  // namespace sonde
