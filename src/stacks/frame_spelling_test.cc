#include "stacks/frame_spelling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> spelled(const RawFrame& frame, const SpellingOptions& options = {}) {
  std::vector<SpelledFrame> parts;
  spell_frame(frame, options, parts);
  std::vector<std::string> names;
  for (const SpelledFrame& part : parts) names.push_back(part.name);
  return names;
}
std::string name_of(std::string_view function, const SpellingOptions& options = {}) {
  return spelled({.function = function, .object = "/bin/x"}, options).at(0);
}

TEST(FrameSpelling, ArgumentsAreCutOff) {
  EXPECT_EQ(name_of("v8::Function::Call(v8::Handle<v8::Value>, int)"), "v8::Function::Call");
  EXPECT_EQ(name_of("(anonymous namespace)::run(int)"), "(anonymous namespace)::run");
  EXPECT_EQ(name_of("a::(anonymous namespace)::b(char)"), "a::(anonymous namespace)::b");
  EXPECT_EQ(name_of("net/http.(*Client).Do"), "net/http.(*Client).Do");
  EXPECT_EQ(name_of("RegExp:[&<>\\\"\\']"), "RegExp:[&<>\\\\]");
  EXPECT_EQ(name_of("(lambda)"), "(lambda)");  // stripping would leave nothing
  EXPECT_EQ(name_of("f(int)", {.tidy = false}), "f(int)");
}

TEST(FrameSpelling, NothingBreaksTheLine) {
  EXPECT_EQ(name_of("a;b\nc"), "a:b c");
  EXPECT_EQ(name_of(""), "[x]");
}

TEST(FrameSpelling, JavaClassesLoseTheirLetter) {
  EXPECT_EQ(name_of("Lorg/shop/Cart;::sum"), "org/shop/Cart:::sum");
  EXPECT_EQ(name_of("Lorg/shop/Cart;.<init>(Ljava/lang/Object;)V"), "org/shop/Cart:.<init>");
  EXPECT_EQ(name_of("LookUp"), "LookUp");
  EXPECT_EQ(name_of("Load/x"), "Load/x");
}

TEST(FrameSpelling, ArrowsDivideWhatAJitInlined) {
  RawFrame frame{.function = "La/B;::run->La/C;::get->La/D;::at",
                 .object = "/tmp/perf-12.map",
                 .kind = FrameKind::kJit};
  EXPECT_THAT(spelled(frame, {.jit = true}),
              ElementsAre("a/B:::run_[j]", "a/C:::get_[i]", "a/D:::at_[i]"));
  EXPECT_EQ(name_of("std::unique_ptr<T>::operator->() const"), "std::unique_ptr<T>::operator->");
  EXPECT_EQ(name_of("std::unique_ptr<T>::operator->"), "std::unique_ptr<T>::operator->");
  EXPECT_EQ(name_of("<fn(&str) -> T as Call>::call", {.tidy = false}),
            "<fn(&str) -> T as Call>::call");
}

TEST(FrameSpelling, ObjectsStandForWhatHasNoSymbol) {
  RawFrame frame{.function = "[unknown]", .object = "/usr/lib/libc.so.6", .address = 0x6eaf28};
  EXPECT_THAT(spelled(frame), ElementsAre("[libc.so.6]"));
  EXPECT_THAT(spelled(frame, {.addresses = true}), ElementsAre("[libc.so.6 <6eaf28>]"));
  frame.object = "[unknown]";
  EXPECT_THAT(spelled(frame), ElementsAre("[unknown]"));
  EXPECT_THAT(spelled(frame, {.addresses = true}), ElementsAre("[unknown <6eaf28>]"));
}

TEST(FrameSpelling, Marks) {
  SpellingOptions all{.kernel = true, .jit = true, .inlined = true};
  RawFrame frame{.function = "read", .object = "[kernel.kallsyms]", .kind = FrameKind::kKernel};
  EXPECT_THAT(spelled(frame, all), ElementsAre("read_[k]"));
  EXPECT_THAT(spelled(frame), ElementsAre("read"));
  frame.object = "[unknown]";
  EXPECT_THAT(spelled(frame, all), ElementsAre("read"));
  frame = {.function = "JS:~f", .object = "/tmp/perf-1.map", .kind = FrameKind::kJit};
  EXPECT_THAT(spelled(frame, all), ElementsAre("JS:~f_[j]"));
  frame = {.function = "skip", .kind = FrameKind::kInlined};
  EXPECT_THAT(spelled(frame, all), ElementsAre("skip_[i]"));
  EXPECT_THAT(spelled(frame), ElementsAre("skip"));
}

TEST(FrameSpelling, Lines) {
  RawFrame frame{.function = "main", .object = "/bin/x", .line = "x.c:12"};
  EXPECT_THAT(spelled(frame, {.lines = true}), ElementsAre("main:x.c:12"));
  for (std::string_view unknown : {"libc.so.6[2724a]", "??:0", "x.c:0", "ns::f+34", ""}) {
    frame.line = unknown;
    EXPECT_THAT(spelled(frame, {.lines = true}), ElementsAre("main")) << unknown;
  }
}

TEST(FrameSpelling, Tasks) {
  EXPECT_EQ(spell_task("my app;", 1, 2, {}), "my_app:");
  EXPECT_EQ(spell_task("cc1", 1, 2, {.pid = true}), "cc1-1");
  EXPECT_EQ(spell_task("cc1", 1, 2, {.tid = true}), "cc1-1/2");
  EXPECT_EQ(spell_task("cc1", std::nullopt, 2, {.pid = true, .tid = true}), "cc1-?/2");
}

}  // namespace
}  // namespace sonde
