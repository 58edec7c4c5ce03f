#include "daemon/daemon_config.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

Result<DaemonConfig> parsed(std::string_view text) {
  Config config;
  TRY(config.parse(text, "perfconfig"));
  return daemon_config(config);
}

std::string error_of(std::string_view text) {
  Result<DaemonConfig> config = parsed(text);
  return config ? "" : config.error().message;
}

TEST(DaemonConfig, HasBaseAndSessionsInTheirOrder) {
  DaemonConfig config = parsed(
                            "[daemon]\nbase=/base\n[report]\nchildren = true\n"
                            "[session-two]\nrun = -m 10M -e sched:* -a\n"
                            "[session-one.b]\nrun = \"-a\"\n")
                            .value();
  EXPECT_EQ(config.base, "/base");
  ASSERT_EQ(config.sessions.size(), 2U);
  EXPECT_EQ(config.sessions[0].name, "two");
  EXPECT_EQ(config.sessions[0].run, "-m 10M -e sched:* -a");
  EXPECT_EQ(config.sessions[0].words,
            (std::vector<std::string>{"-m", "10M", "-e", "sched:*", "-a"}));
  EXPECT_EQ(config.sessions[1].name, "one.b");
}

TEST(DaemonConfig, LaterSettingsWin) {
  DaemonConfig config = parsed("[session-a]\nrun = -a\n[session-a]\nrun = -C 0\n").value();
  ASSERT_EQ(config.sessions.size(), 1U);
  EXPECT_EQ(config.sessions[0].run, "-C 0");
  EXPECT_EQ(config.base, "");
}

TEST(DaemonConfig, NamesThatCannotBeDirectoriesAreRefused) {
  EXPECT_NE(error_of("[session-../x]\nrun = -a\n"), "");
  EXPECT_NE(error_of("[session-]\nrun = -a\n"), "");
  EXPECT_NE(error_of("[session-" + std::string(64, 'x') + "]\nrun = -a\n"), "");
  EXPECT_EQ(error_of("[session-" + std::string(63, 'x') + "]\nrun = -a\n"), "");
}

TEST(DaemonConfig, OtherVariablesAndEmptyCommandLinesAreNamed) {
  EXPECT_NE(error_of("[session-a]\nruns = -a\n").find("session-a.runs"), std::string::npos);
  EXPECT_NE(error_of("[session-a]\nrun =\n").find("session-a.run: it is empty"), std::string::npos);
}

TEST(DaemonConfig, MissingFilesAreNoConfiguration) {
  Result<DaemonConfig> config = read_daemon_config({"/nonexistent/a", "/nonexistent/b"});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
  EXPECT_NE(config.error().message.find("/nonexistent/a or /nonexistent/b"), std::string::npos);
}

TEST(SessionWords, AreSplitAtBlanksOutsideOfQuotes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(session_words("  -a \t-g ").value(), (Words{"-a", "-g"}));
  EXPECT_EQ(session_words("--filter 'pid == 1' -a").value(), (Words{"--filter", "pid == 1", "-a"}));
  EXPECT_EQ(session_words("-o\"a b\"c ''").value(), (Words{"-oa bc", ""}));
  EXPECT_EQ(session_words("$HOME | *").value(), (Words{"$HOME", "|", "*"}));
  EXPECT_FALSE(session_words("-a 'b"));
  EXPECT_FALSE(session_words(" "));
}

}  // namespace
}  // namespace sonde
