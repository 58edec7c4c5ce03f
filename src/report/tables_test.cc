#include "report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sys.h"
#include "perfdata/text/format.h"

namespace sonde::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three threads, none of whose code has symbols.
constexpr std::string_view kRecording =
    R"(event : name = cpu-clock, id = { 7 }, type = 1, { sample_period, sample_freq } = 4000, \
  sample_type = IP|TID|TIME|PERIOD|IDENTIFIER, freq = 1, sample_id_all = 1
COMM pid=10 tid=10 comm="server" time=1000 event=0
COMM pid=10 tid=11 comm="worker" time=1001 event=0
COMM pid=20 tid=20 comm="client" time=1002 event=0
SAMPLE id=7 mode=user ip=0x1000 pid=10 tid=10 time=2000 period=30
SAMPLE id=7 mode=user ip=0x2000 pid=10 tid=11 time=3000 period=50
SAMPLE id=7 mode=user ip=0x3000 pid=20 tid=20 time=4000 period=15
SAMPLE id=7 mode=user ip=0x1000 pid=10 tid=10 time=5000 period=5
)";

/// Reports of the recording, made in this process without a command line.
class ReportTables : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::byte> bytes = assemble(kRecording).value();
    Fd memory(::memfd_create("recording", MFD_CLOEXEC));
    ASSERT_TRUE(write_all(memory.get(), "memory", bytes));
    ::lseek(memory.get(), 0, SEEK_SET);
    SessionOptions how;
    how.open.stdin_fd = memory.get();
    session_.emplace(Session::open("-", how, env_).value());
    traces_.emplace(*session_);
  }

  Result<Plan> plan(const ReportOptions& options) {
    return make_plan(options, *session_, *traces_);
  }
  /// The only table's rows: the shares in percent, and the text of the key.
  std::vector<std::pair<double, std::string>> rows(const ReportOptions& options) {
    Plan planned = plan(options).value();
    ReportBuilder builder(*session_, *traces_, options, planned, "sonde");
    auto reports = builder.build().value();
    EXPECT_EQ(reports.size(), 1u);
    const view::Table& table = reports[0]->table;
    std::vector<std::pair<double, std::string>> found;
    for (size_t row = 0; row < table.rows(); ++row)
      found.emplace_back(table.percent(row, 0), table.text(row, table.columns.size() - 1));
    return found;
  }

  StringSink out_, err_;
  LossLedger losses_;
  Env env_{.out = out_, .err = err_, .sys = Sys::host(), .losses = losses_};
  std::optional<Session> session_;
  std::optional<TraceTexts> traces_;
};

TEST_F(ReportTables, RowsAddUpToAllThatWasSampled) {
  for (const char* keys : {"comm", "pid", "tid", "symbol", "dso,symbol", "comm,symbol"}) {
    ReportOptions options;
    options.sort = keys;
    double sum = 0;
    for (const auto& [percent, text] : rows(options)) sum += percent;
    EXPECT_NEAR(sum, 100, 1e-9) << keys;
  }
}

TEST_F(ReportTables, TheLargestRowComesFirst) {
  ReportOptions options;
  options.sort = "comm";
  EXPECT_THAT(rows(options), ElementsAre(std::pair(50.0, "worker"), std::pair(35.0, "server"),
                                         std::pair(15.0, "client")));
}

TEST_F(ReportTables, FilteredRowsKeepTheirShareOfAll) {
  ReportOptions options;
  options.sort = "comm";
  options.comms = {"server"};
  EXPECT_THAT(rows(options), ElementsAre(std::pair(35.0, "server")));
  options.relative = true;
  EXPECT_THAT(rows(options), ElementsAre(std::pair(100.0, "server")));
}

TEST_F(ReportTables, APlanNamesTheNearestKey) {
  ReportOptions options;
  options.sort = "symbl";
  Result<Plan> planned = plan(options);
  ASSERT_FALSE(planned);
  EXPECT_THAT(planned.error().message, HasSubstr("`symbol'"));
}

}  // namespace
}  // namespace sonde::report
