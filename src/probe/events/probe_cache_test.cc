#include "probe/events/probe_cache.h"

#include <gtest/gtest.h>

#include "probe/events/bootconfig_text.h"

namespace sonde {
namespace {

NamedProbe in_app(std::string event, uint64_t offset, std::vector<std::string> arguments = {}) {
  return {{"probe_app", std::move(event)},
          {.object = "/app", .offset = FileOffset(offset), .arguments = std::move(arguments)}};
}

NamedProbe in_kernel(std::string event, std::string symbol,
                     std::vector<std::string> arguments = {}) {
  return {{"probe", std::move(event)},
          {.symbol = std::move(symbol), .arguments = std::move(arguments)}};
}

TEST(ProbeCache, ARequestIsKeptOnceBesideOthers) {
  std::string text =
      "#a=f\np:probe_app/a /app:0x1\n%sdt_app:go=go\np:sdt_app/go /app:0x9(0x3020)\n";
  std::string kept = with_cached_probe(text, "a=f", {in_app("a", 2), in_app("a", 3)});
  EXPECT_EQ(kept,
            "%sdt_app:go=go\np:sdt_app/go /app:0x9(0x3020)\n"
            "#a=f\np:probe_app/a /app:0x2\np:probe_app/a /app:0x3\n");
  EXPECT_EQ(with_cached_probe("", "f x", {in_app("f", 1, {"x=%di:s64"})}),
            "#f x\np:probe_app/f /app:0x1 x=%di:s64\n");
}

TEST(ProbeCache, WhatAnotherToolWroteWithHostileNamesIsGoneAtTheNextChange) {
  std::string text =
      "%sdt_pro$(touch X):go=go\np:sdt_pro$(touch X)/go /app:0x9\n"
      "#x=f\np:probe_`id`/x /app:0x1\n"
      "%sdt_app:go=go\np:sdt_app/go /app:0x9\n"
      "%sdt_app:\x1b]0;=y\n";
  EXPECT_EQ(with_cached_probe(text, "a=f", {in_app("a", 2)}),
            "%sdt_app:go=go\np:sdt_app/go /app:0x9\n#a=f\np:probe_app/a /app:0x2\n");
}

TEST(ProbeCache, NoCacheIsEmpty) {
  EXPECT_TRUE(read_probe_cache("").empty());
  EXPECT_TRUE(read_probe_cache("/nowhere").empty());
  EXPECT_EQ(probe_cache_text("/nowhere", {}), "");
  EXPECT_FALSE(keep_in_probe_cache("", {}, {in_app("f", 1)}).has_value());
}

TEST(Bootconfig, PlacesOfAnEventAreAList) {
  Result<std::string> text = bootconfig_text({in_kernel("send", "tcp_sendmsg+0", {"size=%dx:x64"}),
                                              in_kernel("send", "udp_sendmsg+0", {"size=%dx:x64"}),
                                              in_kernel("other", "f", {"\\'x'"})});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text,
            "ftrace.event.kprobes.send.probes = 'tcp_sendmsg+0 size=%dx:x64', 'udp_sendmsg+0 "
            "size=%dx:x64'\n"
            "ftrace.event.kprobes.other.probes = \"f \\'x'\"\n");
}

TEST(Bootconfig, ReturnsAreMarkedAtTheSymbol) {
  NamedProbe probe = in_kernel("r", "tcp_sendmsg+0", {"$retval"});
  probe.place.at_return = true;
  EXPECT_EQ(bootconfig_text({probe}).value_or(""),
            "ftrace.event.kprobes.r.probes = 'tcp_sendmsg%return $retval'\n");
}

TEST(Bootconfig, ProgramsAreNotThereAtBoot) {
  EXPECT_FALSE(bootconfig_text({in_app("f", 1)}).has_value());
}

}  // namespace
}  // namespace sonde
