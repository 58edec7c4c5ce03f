#include "script/dlfilters/filter_library.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "script/dlfilters/foreign_call.h"

namespace sonde {
namespace {

// The layout is a contract with filters that were compiled elsewhere (perf-dlfilter(1)).
static_assert(offsetof(perf_dlfilter_sample, ip) == 8);
static_assert(offsetof(perf_dlfilter_sample, cpu) == 96);
static_assert(offsetof(perf_dlfilter_sample, cpumode) == 144);
static_assert(offsetof(perf_dlfilter_sample, raw_data) == 152);
static_assert(offsetof(perf_dlfilter_sample, event) == 192);
static_assert(sizeof(perf_dlfilter_sample) == 208);
static_assert(offsetof(perf_dlfilter_al, sym_binding) == 48);
static_assert(offsetof(perf_dlfilter_al, comm) == 72);
static_assert(sizeof(perf_dlfilter_fns) == 128 * sizeof(void*));

TEST(FilterLibrary, NamesTheFileThatIsMissing) {
  auto filter = FilterLibrary::load("no-such-filter.so", "/nowhere");
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().message.find("no-such-filter.so"), std::string::npos);
}

TEST(FilterLibrary, RejectsAnObjectWithoutTheFunctions) {
  auto filter = FilterLibrary::load("libz.so.1", "/nowhere");  // where the dynamic linker looks
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().message.find("neither filter_event nor"), std::string::npos)
      << filter.error().message;
}

TEST(FilterLibrary, ListsNothingWhereThereIsNothing) {
  EXPECT_TRUE(list_filters("/nowhere").empty());
}

TEST(FilterLibrary, ListsWithoutLoadingWhatOthersCanHaveWritten) {
  std::string pattern = testing::TempDir() + "filtersXXXXXX";
  std::filesystem::path root = ::mkdtemp(pattern.data());
  std::filesystem::create_directory(root / "dlfilters");
  std::filesystem::path planted = root / "dlfilters/planted.so", fifo = root / "dlfilters/waits.so";
  std::ofstream(planted) << "not loaded";
  std::filesystem::permissions(planted, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0644), 0);
  std::vector<FilterDescription> filters = list_filters(root);
  ASSERT_EQ(filters.size(), 2U);
  for (const FilterDescription& filter : filters)
    EXPECT_NE(filter.line.find("not loaded"), std::string::npos) << filter.file;
  std::filesystem::remove_all(root);
}

void crash_in_foreign_code() {
  CrashHandlers handlers("sonde script");
  std::string file = "./broken.so";
  ForeignCall call(file, "filter_event");
  ::raise(SIGFPE);
}
TEST(ForeignCallDeathTest, ACrashIsOneLineThatNamesTheFile) {
  EXPECT_EXIT(crash_in_foreign_code(), testing::ExitedWithCode(1),
              "^sonde script: ./broken.so: crashed .SIGFPE. in filter_event: ");
}

void crash_in_own_code() {
  CrashHandlers handlers("sonde script");
  std::string file = "./innocent.so";
  ForeignCall call(file, "filter_event");
  OwnCode own;
  ::raise(SIGABRT);  // AddressSanitizer leaves this one alone
}
TEST(ForeignCallDeathTest, OurOwnCrashIsNotTheFilters) {
  EXPECT_EXIT(crash_in_own_code(), testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace sonde
