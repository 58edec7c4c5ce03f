#include "profile/call_trie.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Path = std::vector<uint32_t>;  // the root's key first

/// The same paths, as a map from each prefix to the number of paths through it.
std::map<Path, uint32_t> prefixes(const std::vector<Path>& paths) {
  std::map<Path, uint32_t> found;
  for (const Path& path : paths)
    for (size_t length = 1; length <= path.size(); ++length)
      ++found[{path.begin(), path.begin() + static_cast<ptrdiff_t>(length)}];
  return found;
}

Path path_to(const CallTrie& trie, uint32_t node) {
  Path path;
  for (; node != CallTrie::kNone; node = trie.parent(node)) path.push_back(trie.key(node));
  std::ranges::reverse(path);
  return path;
}

/// Paths through each run, as PathTree sums them: a sum belongs to a level until that is closed.
class RunCounts {
 public:
  void add(size_t level, uint32_t count) {
    open_.resize(std::max(open_.size(), level + 1));
    open_[level] += count;
  }
  void close(const CallTrie::ClosedRun& run) {
    uint32_t count = open_[run.level];
    closed_.push_back(count);
    open_[run.level] = 0;
    if (run.is_rest)
      add(run.level, count);
    else if (run.level > 0)
      add(run.level - 1, count);
  }
  [[nodiscard]] const std::vector<uint32_t>& closed() const { return closed_; }

 private:
  std::vector<uint32_t> open_, closed_;
};

void check_paths(std::vector<Path> paths) {
  std::ranges::sort(paths);
  CallTrie trie;
  RunCounts counts;
  auto close = [&counts](const CallTrie::ClosedRun& run) { counts.close(run); };
  std::vector<uint32_t> ends;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i == 0 || paths[i].front() != paths[i - 1].front()) trie.add_root(paths[i].front(), close);
    ends.push_back(trie.append(std::span(paths[i]).subspan(1), close));
    counts.add(trie.levels() - 1, 1);
  }
  LargeVector<uint32_t> numbers = trie.finish(close);

  for (size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(path_to(trie, ends[i]), paths[i]);
  std::map<Path, uint32_t> expected = prefixes(paths);
  ASSERT_EQ(trie.size(), expected.size());
  ASSERT_EQ(numbers.size(), trie.runs().size());
  std::vector<uint32_t> of_run(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) of_run[numbers[i]] = counts.closed()[i];
  // The map is in depth-first order, as nodes are.
  uint32_t node = 0;
  for (auto at = expected.begin(); at != expected.end(); ++at, ++node) {
    const Path& path = at->first;
    ASSERT_EQ(path_to(trie, node), path);
    EXPECT_EQ(of_run[trie.run_of(node)], at->second);
    EXPECT_EQ(trie.is_root(node), path.size() == 1);
    auto is_below = [&path](const auto& other) {
      return other.first.size() >= path.size() &&
             std::equal(path.begin(), path.end(), other.first.begin());
    };
    auto end = std::find_if_not(at, expected.end(), is_below);
    EXPECT_EQ(trie.end_of(node), node + std::distance(at, end));
    for (uint32_t child : trie.children_of(node)) {
      EXPECT_EQ(trie.parent(child), node);
      for (uint32_t below = child; below < trie.end_of(child); ++below)
        EXPECT_EQ(trie.child_towards(node, below), child);
    }
  }
}

TEST(CallTrie, RunsEndWherePathsEndOrBranch) {
  CallTrie trie;
  auto ignore = [](const CallTrie::ClosedRun& /*run*/) {};
  trie.add_root(0, ignore);
  for (const Path& path : {Path{1, 2}, Path{1, 2, 3, 4}, Path{1, 2, 3, 4, 5, 6}, Path{1, 2, 3, 7}})
    trie.append(path, ignore);
  trie.finish(ignore);
  std::vector<uint32_t> firsts;
  for (const CallTrie::Run& run : trie.runs()) firsts.push_back(run.first);
  EXPECT_EQ(firsts, (std::vector<uint32_t>{0, 1, 3, 4, 5, 7}));  // root, 1 2, 3, 4, 5 6, 7
}

TEST(CallTrie, AgreesWithAMapOfPrefixes) {
  std::mt19937 random(1);  // NOLINT(*-msc51-cpp): the same paths in every run
  auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (uint32_t round = 0; round < 200; ++round) {
    std::vector<Path> paths(1 + below(60));
    for (Path& path : paths) {
      path.push_back(below(3));
      for (uint32_t left = below(12); left > 0; --left) path.push_back(below(1 + round % 3));
    }
    check_paths(paths);
  }
}

}  // namespace
}  // namespace sonde
