#include "analysis/sampling/chain_ends.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ChainEnds, KnowsTheFirstFunctionsOfThreads) {
  for (const char* name : {"_start", "__libc_start_call_main", "__libc_start_main@@GLIBC_2.34",
                           "clone3", "start_thread", "runtime.goexit", "runtime.goexit.abi0"})
    EXPECT_TRUE(begins_thread(name)) << name;
  for (const char* name :
       {"", "main", "_start_thread", "clone_tree", "runtime.main", "std::thread::start"})
    EXPECT_FALSE(begins_thread(name)) << name;
}

}  // namespace
}  // namespace sonde
