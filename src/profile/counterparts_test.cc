#include "profile/counterparts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "old=new" of each; "*": of a program, "!": of one build.
std::vector<std::string> texts(const std::vector<Counterparts::Pair>& pairs) {
  std::vector<std::string> texts;
  for (const Counterparts::Pair& pair : pairs)
    texts.push_back(pair.before + "=" + pair.after + (pair.is_program ? "*" : "") +
                    (pair.same_build ? "!" : ""));
  return texts;
}

using Tasks = std::vector<ComparedSide::Task>;
using Objects = std::vector<ComparedSide::Object>;

std::vector<std::string> task_pairs(Tasks before, Tasks after) {
  return texts(Counterparts({std::move(before), Objects()}, {std::move(after), Objects()}).tasks());
}
std::vector<std::string> object_pairs(Objects before, Objects after) {
  return texts(Counterparts({Tasks(), std::move(before)}, {Tasks(), std::move(after)}).objects());
}

TEST(Counterparts, OneCommandOnEachSideIsOneProgram) {
  EXPECT_THAT(task_pairs({{"old", 9}}, {{"new", 3}}), ElementsAre("old=new*"));
}

TEST(Counterparts, WhatBothHaveIsItself) {
  EXPECT_THAT(task_pairs({{"sh", 50}, {"old", 50}}, {{"sh", 10}, {"new", 90}}),
              ElementsAre("old=new*"));
  EXPECT_THAT(task_pairs({{"app", 9}}, {{"app", 3}}), IsEmpty());
  EXPECT_THAT(task_pairs({{"app", 9}, {"gone", 9}}, {{"app", 3}}), IsEmpty());
  EXPECT_THAT(task_pairs({{"app", 9}}, {}), IsEmpty());
}

TEST(Counterparts, TheNameBeforeTheExecIsNoRival) {
  EXPECT_THAT(task_pairs({{"perf-exec", 1}, {"old", 99}}, {{"sonde-exec", 1}, {"new", 99}}),
              ElementsAre("old=new*"));
}

TEST(Counterparts, SeveralOnASideAreNotGuessedAt) {
  EXPECT_THAT(task_pairs({{"old", 60}, {"other", 40}}, {{"new", 99}}), IsEmpty());
  EXPECT_THAT(task_pairs({{"old", 99}}, {{"new", 50}, {"newer", 49}}), IsEmpty());
}

TEST(Counterparts, OnAWholeMachineNamesComeAndGo) {
  EXPECT_THAT(task_pairs({{"swapper", 99}, {"cron", 1}}, {{"swapper", 99}, {"sshd", 1}}),
              IsEmpty());
  EXPECT_THAT(task_pairs({{"swapper", 80}, {"old", 20}}, {{"swapper", 80}, {"new", 20}}),
              ElementsAre("old=new*"));
}

TEST(Counterparts, WithoutWeightNothingStandsOut) {
  EXPECT_THAT(task_pairs({{"old", 0}}, {{"new", 0}}), IsEmpty());
}

TEST(Counterparts, ExecutablesOfOneProgramAreOneObject) {
  // Also where the processes have given themselves the same name.
  EXPECT_THAT(object_pairs({{.name = "old", .run_by = 9}, {.name = "libc.so.6"}},
                           {{.name = "new", .run_by = 5}, {.name = "libc.so.6"}}),
              ElementsAre("old=new*"));
  // Other programs are the same on both sides.
  EXPECT_THAT(object_pairs({{.name = "dash", .run_by = 9}, {.name = "old", .run_by = 9}},
                           {{.name = "new", .run_by = 9}, {.name = "dash", .run_by = 9}}),
              ElementsAre("old=new*"));
  EXPECT_THAT(object_pairs({{.name = "old", .run_by = 9}, {.name = "also", .run_by = 9}},
                           {{.name = "new", .run_by = 9}}),
              IsEmpty());
}

TEST(Counterparts, WhereNothingTellsExecutablesTheyAreNamedLikeTheirTasks) {
  Counterparts found({{{"a-long-name-of-", 9}}, {{.name = "a-long-name-of-old"}, {.name = "x"}}},
                     {{{"another-long-na", 9}}, {{.name = "another-long-name"}, {.name = "y"}}});
  EXPECT_THAT(texts(found.objects()), ElementsAre("a-long-name-of-old=another-long-name*"));
  EXPECT_EQ(found.sentence(), "compares a-long-name-of-old with another-long-name as one program");
}

TEST(Counterparts, ObjectsOfOneBuildAreOne) {
  EXPECT_THAT(object_pairs({{.name = "a", .build_id = "12"}, {.name = "b", .build_id = "34"}},
                           {{.name = "c", .build_id = "34"}, {.name = "d", .build_id = "56"}}),
              ElementsAre("b=c!"));
  // Which of two it was is not known.
  EXPECT_THAT(object_pairs({{.name = "a", .build_id = "12"}},
                           {{.name = "c", .build_id = "12"}, {.name = "d", .build_id = "12"}}),
              IsEmpty());
  EXPECT_THAT(object_pairs({{.name = "a", .build_id = "12"}, {.name = "a", .build_id = "34"}},
                           {{.name = "c", .build_id = "12"}}),
              IsEmpty());
  EXPECT_THAT(object_pairs({{.name = "old", .build_id = "12", .run_by = 5}},
                           {{.name = "new", .build_id = "12", .run_by = 5}}),
              ElementsAre("old=new*!"));
}

TEST(Counterparts, VersionsOfALibraryAreOneObject) {
  EXPECT_THAT(object_pairs({{.name = "libfoo.so.1.2", .build_id = "12"}},
                           {{.name = "libfoo.so.1.3", .build_id = "34"}}),
              ElementsAre("libfoo.so.1.2=libfoo.so.1.3"));
  EXPECT_THAT(object_pairs({{.name = "libc-2.31.so"}}, {{.name = "libc.so.6"}}),
              ElementsAre("libc-2.31.so=libc.so.6"));
  EXPECT_THAT(object_pairs({{.name = "libfoo.so.1"}, {.name = "libfoo.so.2"}},
                           {{.name = "libfoo.so.1"}, {.name = "libfoo.so.3"}}),
              ElementsAre("libfoo.so.2=libfoo.so.3"));
  EXPECT_THAT(
      object_pairs({{.name = "libfoo.so.1"}, {.name = "libfoo.so.2"}}, {{.name = "libfoo.so.3"}}),
      IsEmpty());
  EXPECT_THAT(object_pairs({{.name = "libfoo.so.1"}}, {{.name = "libbar.so.1"}}), IsEmpty());
}

TEST(Counterparts, FilesInOtherDirectoriesAreOne) {
  EXPECT_THAT(object_pairs({{.name = "/a/bin/app"}, {.name = "/a/lib/libz.so.1"}},
                           {{.name = "/b/lib/libz.so.1"}, {.name = "/b/bin/app"}}),
              ElementsAre("/a/bin/app=/b/bin/app", "/a/lib/libz.so.1=/b/lib/libz.so.1"));
}

TEST(Counterparts, GeneratedCodeIsTheProcesss) {
  EXPECT_THAT(object_pairs({{.name = "[JIT] tid 10"}}, {{.name = "[JIT] tid 77"}}),
              ElementsAre("[JIT] tid 10=[JIT] tid 77"));
  EXPECT_THAT(object_pairs({{.name = "[JIT] tid 10"}, {.name = "[JIT] tid 11"}},
                           {{.name = "[JIT] tid 77"}}),
              IsEmpty());
}

TEST(Counterparts, VersionFreeNames) {
  auto name = [](std::string_view object) { return version_free_name(object); };
  EXPECT_EQ(name("/usr/lib/libfoo.so.1.2"), "libfoo.so");
  EXPECT_EQ(name("libfoo.so"), "libfoo.so");
  EXPECT_EQ(name("libc-2.31.so"), "libc.so");
  EXPECT_EQ(name("libpython3.11.so.1.0"), "libpython.so");
  EXPECT_EQ(name("libLLVM-14.so.1"), "libLLVM.so");
  EXPECT_EQ(name("libssl3.so"), "libssl3.so");  // not libssl.so.3
  EXPECT_EQ(name("libz3.so.4"), "libz3.so");
  EXPECT_EQ(name("python3.9"), "python");
  EXPECT_EQ(name("gcc-12"), "gcc");
  EXPECT_EQ(name("a.song"), "a.song");
  EXPECT_EQ(name("1.2"), "1.2");
  EXPECT_EQ(name("app (deleted)"), "app");
  EXPECT_EQ(name("/tmp/perf-4152.map"), "perf-.map");
  EXPECT_EQ(name("perf-.map"), "perf-.map");
  EXPECT_EQ(name("[kernel.kallsyms]"), "[kernel]");
  EXPECT_EQ(name("[vdso]"), "[vdso]");
  EXPECT_EQ(name(""), "");
}

TEST(Counterparts, TranslateNames) {
  Counterparts found({{{"old", 9}},
                      {{.name = "/a/old", .build_id = "12", .run_by = 9},
                       {.name = "libfoo.so.1", .build_id = "34"}}},
                     {{{"new", 9}},
                      {{.name = "/b/new", .build_id = "12", .run_by = 9},
                       {.name = "libfoo.so.2", .build_id = "56"}}});
  EXPECT_EQ(found.in_before(NameKind::kTask, "new"), "old");
  EXPECT_EQ(found.in_after(NameKind::kTask, "old"), "new");
  EXPECT_EQ(found.in_before(NameKind::kTask, "old"), "old");
  EXPECT_EQ(found.in_before(NameKind::kObject, "/b/new"), "/a/old");
  EXPECT_EQ(found.in_before(NameKind::kObject, "new"), "old");
  EXPECT_EQ(found.in_before(NameKind::kObject, "libfoo.so.2"), "libfoo.so.1");
  EXPECT_EQ(found.in_after(NameKind::kObject, "libfoo.so.1"), "libfoo.so.2");
  EXPECT_EQ(found.in_before(NameKind::kOther, "new"), "new");
  // Addresses are the same in one build only.
  EXPECT_EQ(found.in_before(NameKind::kFunction, "new+0x1200 12"), "old+0x1200 12");
  EXPECT_EQ(found.in_after(NameKind::kFunction, "old+0x1200"), "new+0x1200");
  EXPECT_EQ(found.in_before(NameKind::kFunction, "libfoo.so.2+0x1200"), "libfoo.so.2+0x1200");
  EXPECT_EQ(found.in_before(NameKind::kFunction, "parse"), "parse");
  EXPECT_EQ(Counterparts().in_before(NameKind::kTask, "new"), "new");
}

TEST(Counterparts, SayWhatTheyDid) {
  EXPECT_EQ(Counterparts().sentence(), "");
  Counterparts found({{{"old", 9}}, {{.name = "old", .run_by = 9}, {.name = "libfoo.so.1.2"}}},
                     {{{"new", 9}}, {{.name = "new", .run_by = 9}, {.name = "libfoo.so.1.3"}}});
  EXPECT_EQ(found.sentence(),
            "compares old with new as one program, libfoo.so.1.2 with libfoo.so.1.3 as one object");
  EXPECT_EQ(found.sentence(true, false), "compares old with new as one program");
  EXPECT_EQ(found.sentence(false, true),
            "compares old with new as one program, libfoo.so.1.2 with libfoo.so.1.3 as one object");
  EXPECT_EQ(found.sentence(false, false), "");
  Objects before, after;
  for (char letter : std::string_view("abcde")) {
    before.push_back({.name = std::string(1, letter) + ".so.1"});
    after.push_back({.name = std::string(1, letter) + ".so.2"});
  }
  EXPECT_EQ(Counterparts({Tasks(), before}, {Tasks(), after}).sentence(),
            "compares a.so.1 with a.so.2, b.so.1 with b.so.2, c.so.1 with c.so.2 and 2 more pairs "
            "as one object");
}

}  // namespace
}  // namespace sonde
