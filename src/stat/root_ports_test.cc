#include "stat/root_ports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "capture/control/temporary_directory.h"
#include "stat/root_port_writer.h"

namespace sonde {
namespace {

/// A directory of PMUs, as in sysfs, of a machine that has some.
class RootPorts : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) const {
    std::filesystem::path file = std::filesystem::path(devices()) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string devices() const { return directory_.path(); }

  /// Two dies with two stacks each.
  void make_server() const {
    write("uncore_iio_0/die0", "0000:00\n");
    write("uncore_iio_0/die1", "0000:80\n");
    write("uncore_iio_0/type", "30\n");
    write("uncore_iio_10/die0", "0000:17\n");
    write("uncore_iio_10/die1", "0001:85\n");
    write("uncore_iio_free_running_0/type", "31\n");
    write("cpu/type", "4\n");
  }

  TemporaryDirectory directory_ = TemporaryDirectory::make_below("/tmp").value();
};

TEST_F(RootPorts, AreListedByPmuAndDie) {
  make_server();
  EXPECT_EQ(root_port_list(read_root_ports(devices()).value()),
            "S0-uncore_iio_0<0000:00>\n"
            "S1-uncore_iio_0<0000:80>\n"
            "S0-uncore_iio_10<0000:17>\n"
            "S1-uncore_iio_10<0001:85>\n");
}

TEST_F(RootPorts, WhatTheMachineLacksIsSaid) {
  write("cpu/type", "4\n");
  Result<std::vector<RootPort>> ports = read_root_ports(devices());
  ASSERT_FALSE(ports);
  EXPECT_EQ(exit_status(ports.error().code), 129);
  EXPECT_NE(ports.error().message.find("uncore_iio_"), std::string::npos);
  EXPECT_FALSE(read_root_ports("/nonexistent"));
}

TEST_F(RootPorts, MalformedFilesAreNone) {
  write("uncore_iio_0/die0", "0000:00\n");
  write("uncore_iio_0/die1", "0000\n");
  write("uncore_iio_0/die2", "0000:123\n");
  write("uncore_iio_0/dieX", "0000:01\n");
  write("uncore_iio_0/die3", std::string(10000, '0') + ":01\n");
  write("uncore_iio_x/die0", "0000:02\n");
  EXPECT_EQ(root_port_list(read_root_ports(devices()).value()), "S0-uncore_iio_0<0000:00>\n");
}

TEST_F(RootPorts, AreChosenByDomainAndBus) {
  make_server();
  std::vector<RootPort> ports = read_root_ports(devices()).value();
  auto names = [&](std::string_view wanted) {
    std::vector<RootPort> chosen = choose_root_ports(ports, wanted).value();
    std::vector<std::string> found;
    found.reserve(chosen.size());
    for (const RootPort& port : chosen) found.push_back(port.name());
    return join(found, " ");
  };
  EXPECT_EQ(names(""), "0000:00 0000:80 0000:17 0001:85");
  EXPECT_EQ(names("1:85,0:0,0000:00"), "0001:85 0000:00");
  EXPECT_EQ(choose_root_ports(ports, "0000:42").error().code, ErrorCode::kBadEvent);
  EXPECT_EQ(choose_root_ports(ports, "17").error().code, ErrorCode::kBadEvent);
}

TEST_F(RootPorts, NamesOfRootPortsAreToldFromCommands) {
  EXPECT_TRUE(names_root_ports("0000:3a"));
  EXPECT_TRUE(names_root_ports("0:3a,0001:5d"));
  EXPECT_FALSE(names_root_ports("dd"));
  EXPECT_FALSE(names_root_ports("3a"));
  EXPECT_FALSE(names_root_ports("0000:3a,"));
  EXPECT_FALSE(names_root_ports(""));
}

TEST_F(RootPorts, HaveAGroupOfEventsPerPmu) {
  make_server();
  std::vector<RootPort> ports = read_root_ports(devices()).value();
  EXPECT_EQ(root_port_events(std::span(ports).first(2)),
            "{uncore_iio_0/event=0x83,umask=0x04,ch_mask=0xF,fc_mask=0x07/,"
            "uncore_iio_0/event=0x83,umask=0x01,ch_mask=0xF,fc_mask=0x07/,"
            "uncore_iio_0/event=0xc0,umask=0x04,ch_mask=0xF,fc_mask=0x07/,"
            "uncore_iio_0/event=0xc0,umask=0x01,ch_mask=0xF,fc_mask=0x07/}");
  std::string all = root_port_events(ports);
  EXPECT_EQ(std::count(all.begin(), all.end(), '{'), 2);
  EXPECT_LT(all.find("uncore_iio_0/"), all.find("uncore_iio_10/"));
}

/// Event e on die d counted (10 e + d) MB; the last event of die 1 never ran.
view::CountPage page_of_server() {
  view::CountPage page;
  page.grouping = view::CountGrouping::kDie;
  page.events.resize(2 * kRootPortMetrics);
  page.units.resize(2);
  for (uint32_t event = 0; event < page.events.size(); ++event)
    for (uint32_t die : {0U, 1U}) {
      constexpr double kCountsPerMb = 262144;
      view::CountRow& row = page.rows.emplace_back();
      row.event = event;
      row.unit = die;
      row.value = kCountsPerMb * (10 * event + die);
    }
  page.rows.back().status = view::CountRow::Status::kNotCounted;
  return page;
}

std::string written(const std::vector<RootPort>& ports, std::optional<std::string> separator,
                    const view::CountPage& page) {
  StringSink out;
  class Nothing final : public render::CountWriter {
    void page(const view::CountPage& /*page*/) override {}
  };
  make_root_port_writer(ports, std::move(separator), std::make_unique<Nothing>(), out)->page(page);
  return out.text();
}

TEST_F(RootPorts, AreATableAsPerfs) {
  make_server();
  std::vector<RootPort> ports = read_root_ports(devices()).value();
  EXPECT_EQ(
      written(ports, std::nullopt, page_of_server()),
      "   port             Inbound Read(MB)    Inbound Write(MB)    Outbound Read(MB)   Outbound "
      "Write(MB) \n"
      "0000:00                    0                   10                   20                   30 "
      "\n"
      "0000:80                    1                   11                   21                   31 "
      "\n"
      "0000:17                   40                   50                   60                   70 "
      "\n"
      "0001:85                   41                   51                   61        <not counted> "
      "\n");
}

TEST_F(RootPorts, AreSeparatedFieldsWithTimes) {
  make_server();
  std::vector<RootPort> ports = read_root_ports(devices()).value();
  view::CountPage page = page_of_server();
  page.time_ns = 1'500'000'000;
  EXPECT_EQ(written({ports[2]}, ";", page),
            " time;port;Inbound Read(MB);Inbound Write(MB);Outbound Read(MB);Outbound Write(MB);\n"
            "     1.500000000;0000:17;0;10;20;30;\n");
}

}  // namespace
}  // namespace sonde
