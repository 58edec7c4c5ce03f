#include "probe/requested_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using Argument = RequestedArgument;
using Member = RequestedMember;

RequestedProbe parsed(std::string_view text) {
  Result<RequestedProbe> probe = parse_probe(text);
  EXPECT_TRUE(probe.has_value()) << text << ": " << (probe ? "" : probe.error().message);
  return probe ? *probe : RequestedProbe{};
}

Argument argument(std::string_view text) {
  RequestedProbe probe = parsed("f " + std::string(text));
  return probe.arguments.empty() ? Argument{} : probe.arguments.front();
}

TEST(RequestedProbe, Functions) {
  EXPECT_EQ(parsed("tcp_sendmsg").function, "tcp_sendmsg");
  RequestedProbe named = parsed("net:send=tcp_sendmsg@net/ipv4/tcp.c+0x10");
  EXPECT_EQ(named.group, "net");
  EXPECT_EQ(named.event, "send");
  EXPECT_EQ(named.function, "tcp_sendmsg");
  EXPECT_EQ(named.source, "net/ipv4/tcp.c");
  EXPECT_EQ(named.offset, 16U);
  EXPECT_TRUE(parsed("f%return").at_return);
  EXPECT_EQ(parsed("tcp_sendmsg:81 seglen").line, 81U);
  EXPECT_EQ(parsed("f;x=*").pattern, "x=*");
  EXPECT_EQ(parsed("f.constprop.0").function, "f.constprop.0");
  EXPECT_EQ(parsed("sched*").function, "sched*");
}

TEST(RequestedProbe, SourcesAndAddresses) {
  RequestedProbe at_line = parsed("src/app.c:17");
  EXPECT_EQ(at_line.source, "src/app.c");
  EXPECT_EQ(at_line.line, 17U);
  EXPECT_EQ(at_line.function, "");
  EXPECT_EQ(parsed("app.c;return*").pattern, "return*");
  EXPECT_EQ(parsed("0x1139").address, 0x1139U);
}

TEST(RequestedProbe, BackslashMakesSpecialCharactersPlain) {
  EXPECT_EQ(parsed("malloc_get_state\\@GLIBC_2.2.5").function, "malloc_get_state@GLIBC_2.2.5");
  RequestedProbe file = parsed("foo\\+bar.c:4");
  EXPECT_EQ(file.source, "foo+bar.c");
  EXPECT_EQ(file.line, 4U);
}

TEST(RequestedProbe, QualifiedNamesNeedNoBackslash) {
  EXPECT_EQ(parsed("app::Server::run").function, "app::Server::run");
  RequestedProbe probe = parsed("x=app::run:3");
  EXPECT_EQ(probe.function, "app::run");
  EXPECT_EQ(probe.line, 3U);
}

TEST(RequestedProbe, Usdt) {
  for (std::string_view text : {"%sdt_app:start", "%app:start", "sdt_app:start"}) {
    EXPECT_EQ(parsed(text).sdt_provider, "app") << text;
    EXPECT_EQ(parsed(text).sdt_name, "start") << text;
  }
  EXPECT_EQ(parsed("%start").sdt_name, "start");
  EXPECT_EQ(parsed("my=%app:start").event, "my");
}

TEST(RequestedProbe, FetchArguments) {
  for (std::string_view text : {"%ax", "$retval", "$stack3", "$arg1", "$comm", "+0(%di)",
                                "+u8(%si)", "-8(+16(%bp))", "@jiffies", "\\7"}) {
    EXPECT_EQ(argument(text).kind, Argument::Kind::kFetch) << text;
    EXPECT_EQ(argument(text).what, text);
  }
  Argument text = argument("path=+0($retval):string");
  EXPECT_EQ(text.name, "path");
  EXPECT_EQ(text.what, "+0($retval)");
  EXPECT_EQ(text.type, "string");
  EXPECT_EQ(argument("%di:b3@2/32").type, "b3@2/32");
  EXPECT_EQ(argument("+0(%di):x8[4]").type, "x8[4]");
}

TEST(RequestedProbe, Variables) {
  Argument size = argument("size");
  EXPECT_EQ(size.kind, Argument::Kind::kVariable);
  EXPECT_EQ(size.what, "size");
  Argument part = argument("n=req->headers[2].len:u32@user");
  EXPECT_EQ(part.name, "n");
  EXPECT_EQ(part.what, "req");
  EXPECT_THAT(part.members,
              ::testing::ElementsAre(Member{.kind = Member::Kind::kArrow, .name = "headers"},
                                     Member{.kind = Member::Kind::kIndex, .index = 2},
                                     Member{.kind = Member::Kind::kDot, .name = "len"}));
  EXPECT_EQ(part.type, "u32");
  EXPECT_TRUE(part.user_memory);
  EXPECT_EQ(part.text, "n=req->headers[2].len:u32@user");
  EXPECT_EQ(argument("app::total").what, "app::total");
  EXPECT_EQ(argument("$params").kind, Argument::Kind::kAllParams);
  EXPECT_EQ(argument("$vars").kind, Argument::Kind::kAllVars);
}

TEST(RequestedProbe, SaysWhatIsWrong) {
  for (std::string_view text :
       {"",           "  ",     "=f",    "1x=f",   "a-b=f",     "g::x=f",   "f+",
        "f+x",        "f:x",    "f@",    "f%ret",  "f;",        "f:3+4",    "f%return:3",
        "f+8%return", "a.c:0x", "0xz",   "0x10:3", "%",         "%app:",    "%:x",
        "%app:x %di", "f =x",   "f n=",  "f 1",    "f %",       "f +0(%di", "f a->",
        "f a[",       "f a[x]", "f a+b", "f a:",   "f $vars:u8"})
    EXPECT_FALSE(parse_probe(text).has_value()) << text;
}

TEST(RequestedProbe, LongTextIsRefused) {
  EXPECT_FALSE(parse_probe(std::string(1 << 20, 'a')).has_value());
  EXPECT_FALSE(parse_probe(std::string(80, 'a') + "=f").has_value());
}

}  // namespace
}  // namespace sonde
