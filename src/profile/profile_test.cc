#include "profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/call_tree.h"
#include "profile/table_rows.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;

/// Functions are letters of one object; 'a' is at 0x100, 'b' at 0x200 …
class FakeNames final : public SymbolNames {
 public:
  std::string_view name(SymbolId symbol) const override {
    return std::string_view(kLetters).substr(symbol.index(), 1);
  }
  std::pair<uint64_t, uint64_t> range(SymbolId symbol) const override {
    uint64_t start = (symbol.index() + 1) * 0x100;
    return {start, start + 0x80};
  }
  char origin(DsoId /*dso*/) const override { return '.'; }
  std::string srcline(DsoId /*dso*/, uint64_t address) const override {
    return fmt::format("file.c:{}", address & 0xff);
  }
  std::string srcfile(DsoId /*dso*/, uint64_t /*address*/) const override { return "file.c"; }

 private:
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
};

class FakeDetails final : public SampleDetails {
 public:
  bool decode(size_t sample, Sample& out) const override {
    if (sample >= raw_chains.size()) return false;
    out.callchain = WordView(as_bytes(raw_chains[sample]), kHostOrder);
    return true;
  }
  Frame resolve(size_t /*sample*/, uint64_t /*address*/) const override { return {}; }
  std::string_view last_comm(uint32_t /*tid*/) const override { return "comm"; }
  int socket_of(uint32_t /*cpu*/) const override { return 0; }
  std::string_view cgroup_path(uint64_t /*id*/) const override { return {}; }
  Machine::Namespace cgroup_namespace(size_t /*sample*/) const override { return {}; }
  uint64_t mapped_size(size_t /*sample*/) const override { return 0; }

  std::vector<std::string> raw_chains;
};

/// A recording whose samples are written as paths from the root: "main" is four one-letter
/// functions.
class Recorded {
 public:
  Recorded() { dso_ = dsos.find_or_add("/bin/prog", DsoKind::kFile, false); }

  void add(std::string_view path, uint64_t period = 1, uint32_t tid = 1,
           std::string_view comm = "comm") {
    std::vector<FrameId> chain;
    std::string raw;
    for (auto letter = path.rbegin(); letter != path.rend(); ++letter) {
      chain.push_back(frame(*letter));
      uint64_t ip = 0x5000 + frames[chain.back().index()].address;
      raw.append(reinterpret_cast<const char*>(&ip), sizeof ip);
    }
    samples.event.push_back(0);
    samples.time.push_back(samples.time.size());
    samples.pid.push_back(tid);
    samples.tid.push_back(tid);
    samples.cpu.push_back(0);
    samples.period.push_back(period);
    samples.comm.push_back(strings.intern(comm));
    samples.leaf.push_back(chain.front());
    samples.chain.push_back(chains.intern(chain));
    samples.cpu_mode.push_back(abi::kMiscUser);
    details.raw_chains.push_back(raw);
  }

  Profile profile(ProfileOptions options) {
    for (std::string_view name : key_names) {
      auto made = find_sort_key(name)->make(input, settings);
      keys.add(std::move(*made));
    }
    keys.seal();
    std::vector<uint32_t> all(samples.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return build_profile(input, keys, all, std::move(options));
  }

  /// The "symbol" text of a row.
  std::string symbol(const Row& row) const {
    std::string text;
    keys.key(key_names.size() - 1)
        .text(keys.value(key_names.size() - 1, row.group, row.place_key), text);
    return text;
  }

  SampleColumns samples;
  ChainTable chains;
  std::vector<Frame> frames;
  DsoTable dsos;
  StringPool strings;
  FakeNames names;
  FakeDetails details;
  ProfileInput input{samples, chains, frames, dsos, strings, names, details};
  KeySettings settings;
  KeySet keys{input};
  std::vector<std::string_view> key_names = {"comm", "dso", "symbol"};

 private:
  // Lower-case letters are functions; upper-case ones are addresses without a symbol. Where nothing
  // is mapped are digits: from 0 on those of user code, from 5 on the same addresses in the kernel.
  FrameId frame(char letter) {
    if (letter >= '0' && letter <= '9') return stray(static_cast<size_t>(letter - '0'));
    auto [found, added] = frame_of_.try_emplace(letter, frames.size());
    if (added) {
      bool resolved = letter >= 'a';
      auto index = static_cast<size_t>(letter - (resolved ? 'a' : 'A'));
      Frame made{.dso = dso_,
                 .symbol = resolved ? SymbolId(index) : SymbolId(),
                 .address = (index + 1) * 0x100 + 4,
                 .symbol_start = resolved ? (index + 1) * 0x100 : 0,
                 .level = FrameLevel::kUser};
      frames.push_back(made);
    }
    return FrameId(found->second);
  }
  FrameId stray(size_t digit) {
    auto [found, added] = frame_of_.try_emplace(static_cast<char>('0' + digit), frames.size());
    if (added) {
      Frame made;
      made.address = (digit % 5 + 1) * 0x100 + 4;
      made.level = digit < 5 ? FrameLevel::kUser : FrameLevel::kKernel;
      frames.push_back(made);
    }
    return FrameId(found->second);
  }
  DsoId dso_;
  std::map<char, size_t> frame_of_;
};

/// "[.] b 3 5": symbol, self, children.
std::vector<std::string> lines(const Recorded& recorded, const Profile& profile) {
  std::vector<std::string> out;
  for (const Row& row : profile.rows())
    out.push_back(fmt::format("{} {} {}", recorded.symbol(row), row.self, row.children));
  std::ranges::sort(out);
  return out;
}

uint64_t self_total(const Profile& profile) {
  uint64_t total = 0;
  for (const Row& row : profile.rows()) total += row.self;
  return total;
}

TEST(Profile, GroupsSamplesByTheirOwnPlace) {
  Recorded recorded;
  recorded.add("ab", 3);
  recorded.add("ac", 2);
  recorded.add("db", 4);
  Profile profile = recorded.profile({});
  EXPECT_THAT(lines(recorded, profile), ElementsAre("[.] b 7 7", "[.] c 2 2"));
  EXPECT_EQ(self_total(profile), profile.totals().period);
}

TEST(Profile, CallersGetWhatIsBelowThem) {
  Recorded recorded;
  recorded.add("ab", 3);
  recorded.add("ac", 2);
  recorded.add("a", 1);
  Profile profile = recorded.profile({.children = true, .call_graph = true, .caller_order = true});
  EXPECT_THAT(lines(recorded, profile), ElementsAre("[.] a 1 6", "[.] b 3 3", "[.] c 2 2"));
}

TEST(Profile, RecursionCountsASampleOnce) {
  Recorded recorded;
  recorded.add("abab", 5);
  Profile profile = recorded.profile({.children = true, .caller_order = true});
  EXPECT_THAT(lines(recorded, profile), ElementsAre("[.] a 0 5", "[.] b 5 5"));
}

TEST(Profile, CommsKeepTheirPathsApart) {
  Recorded recorded;
  recorded.add("ab", 1, 1, "x");
  recorded.add("ab", 1, 2, "y");
  Profile profile = recorded.profile({.children = true, .caller_order = true});
  EXPECT_EQ(profile.rows().size(), 4U);
}

TEST(Profile, KeysWithoutAPlaceCountEverySampleOnce) {
  Recorded recorded;
  recorded.key_names = {"comm"};
  recorded.add("abc", 2);
  recorded.add("a", 1);
  Profile profile = recorded.profile({.children = true, .caller_order = true});
  ASSERT_EQ(profile.rows().size(), 1U);
  EXPECT_EQ(profile.rows()[0].self, 3U);
  EXPECT_EQ(profile.rows()[0].children, 3U);
}

TEST(Profile, UnresolvedCallersAreToldApartByTheirRunTimeAddress) {
  Recorded recorded;
  recorded.add("aB", 2);  // the sample's own row shows the offset in the object …
  Profile profile = recorded.profile({.children = true, .caller_order = true});
  EXPECT_THAT(lines(recorded, profile),
              ElementsAre("[.] 0x0000000000000204 2 2",
                          "[.] 0x0000000000005204 0 2",  // … and the path step shows this address
                          "[.] a 0 2"));
}

TEST(Profile, AddressesWhereNothingIsMappedAreOneCallOnAllLevels) {
  Recorded recorded;
  recorded.add("0a");
  recorded.add("5a");
  recorded.add("1a");
  recorded.add("6");
  Profile profile = recorded.profile({.children = true, .call_graph = true, .caller_order = true});
  EXPECT_EQ(profile.frames().call_count(), 3U);
  EXPECT_THAT(lines(recorded, profile),
              ElementsAre("[.] 0x0000000000000104 0 2", "[.] 0x0000000000000204 1 2", "[.] a 3 3"));
}

TEST(Profile, OneAddressInAnObjectAndOutsideOfItIsTwoRowsOnlyByObject) {
  for (bool by_object : {true, false}) {
    Recorded recorded;
    if (!by_object) recorded.key_names = {"comm", "symbol"};
    recorded.add("B", 1);
    recorded.add("1", 2);
    recorded.add("B", 4);
    recorded.add("a6", 8);  // the same address in the kernel
    Profile profile = recorded.profile({});
    std::vector<std::string> expected = {"[.] 0x0000000000000204 15 15"};
    if (by_object) expected = {"[.] 0x0000000000000204 10 10", "[.] 0x0000000000000204 5 5"};
    EXPECT_EQ(lines(recorded, profile), expected);
  }
}

TEST(Profile, HiddenSamplesHideRowsButStayInTheTotal) {
  Recorded recorded;
  recorded.add("ab", 3);
  recorded.add("ac", 2);
  Profile profile = recorded.profile({.hidden = {0, 1}});
  EXPECT_EQ(profile.totals().period, 5U);
  EXPECT_EQ(profile.totals().shown_period, 3U);
  EXPECT_EQ(profile.totals().shown_samples, 1U);
}

/// "b:5(c:3 d:2)" for a tree; runs joined by '-'.
std::string shape(const CallTree& tree, const Profile& profile, const Recorded& recorded,
                  const std::vector<uint32_t>& nodes) {
  std::string out;
  for (uint32_t id : nodes) {
    const CallTree::Node& node = tree.node(id);
    if (!out.empty()) out += ' ';
    for (size_t i = 0; i < node.calls.size(); ++i) {
      const Frame& frame = recorded.frames[profile.frames().call(node.calls[i]).frame.index()];
      out += fmt::format("{}{}", i == 0 ? "" : "-", recorded.names.name(frame.symbol));
    }
    out += fmt::format(":{}", node.cumulative);
    if (!node.children.empty()) out += "(" + shape(tree, profile, recorded, node.children) + ")";
  }
  return out;
}

std::string tree_of(Recorded& recorded, ProfileOptions options, std::string_view symbol,
                    CallTreeOptions tree_options = {}) {
  Profile profile = recorded.profile(std::move(options));
  for (size_t i = 0; i < profile.rows().size(); ++i) {
    if (recorded.symbol(profile.rows()[i]) != symbol) continue;
    CallTree tree = CallTreeBuilder(profile).build(i, tree_options);
    return shape(tree, profile, recorded, tree.top());
  }
  return "no such row";
}

const ProfileOptions kChildren{.children = true, .call_graph = true, .caller_order = true};

TEST(CallTree, CallersShowWhatTheyCall) {
  Recorded recorded;
  recorded.add("xabc", 3);
  recorded.add("yabd", 2);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a"), "a-b:5(c:3 d:2)");
}

TEST(CallTree, OwnSamplesShowTheWholePathBesidesWhatIsCalled) {
  Recorded recorded;
  recorded.add("xa", 3);
  recorded.add("xab", 2);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a"), "x-a:3 a-b:2");
}

TEST(CallTree, RecursionHangsBelowItsFirstOccurrence) {
  Recorded recorded;
  recorded.add("xabac", 4);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a"), "a-b-a-c:4");
}

TEST(CallTree, ARunEndsWhereSamplesEnd) {
  Recorded recorded;
  recorded.add("ab", 1);
  recorded.add("abc", 1);
  recorded.add("abcd", 1);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a"), "a-b:3(c:2(d:1))");
}

TEST(CallTree, WithoutChildrenCalleesStandFirst) {
  Recorded recorded;
  recorded.add("xab", 3);
  recorded.add("yab", 2);
  recorded.add("zb", 1);
  EXPECT_EQ(tree_of(recorded, {.call_graph = true}, "[.] b"), "b:6(a:5(x:3 y:2) z:1)");
}

TEST(CallTree, InvertedWithoutChildrenShowsThePathsFromTheRoot) {
  Recorded recorded;
  recorded.add("xab", 3);
  recorded.add("xb", 2);
  EXPECT_EQ(tree_of(recorded, {.call_graph = true, .caller_order = true}, "[.] b"),
            "x:5(a-b:3 b:2)");
}

TEST(CallTree, CalleeOrderWithChildrenGoesOnToTheRoot) {
  Recorded recorded;
  recorded.add("xab", 3);
  EXPECT_EQ(tree_of(recorded, {.children = true, .call_graph = true}, "[.] a"), "a-x:3");
}

TEST(CallTree, NodesBelowTheThresholdAreLeftOut) {
  Recorded recorded;
  recorded.add("ab", 9);
  recorded.add("ac", 1);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a", {.min_weight = 2}), "a:10(b:9)");
}

TEST(CallTree, SharesAreOfWhatLiesBelowTheParent) {
  Recorded recorded;
  recorded.add("ab", 90);
  recorded.add("acd", 6);
  recorded.add("ace", 4);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a", {.min_share_of_parent = 0.5}), "a:100(b:90)");
}

TEST(CallTree, EqualWeightsStandByDescendingAddress) {
  Recorded recorded;
  recorded.add("ab", 1);
  recorded.add("ac", 1);
  EXPECT_EQ(tree_of(recorded, kChildren, "[.] a"), "a:2(c:1 b:1)");
}

std::vector<std::string> ordered(Recorded& recorded, ProfileOptions options,
                                 const TableRows::SortOptions& sorting) {
  Profile profile = recorded.profile(std::move(options));
  TableRows rows({&profile}, recorded.keys);
  rows.sort(sorting);
  std::vector<std::string> out;
  for (uint32_t row : rows.order()) out.push_back(recorded.symbol(rows.any(row)));
  return out;
}

TEST(TableRows, HeaviestFirstThenByName) {
  Recorded recorded;
  recorded.add("c", 1);
  recorded.add("b", 1);
  recorded.add("a", 5);
  EXPECT_THAT(ordered(recorded, {},
                      {.terms = {OrderTerm::of(Weight::kOverhead), OrderTerm::of_key(0),
                                 OrderTerm::of_key(2)}}),
              ElementsAre("[.] a", "[.] b", "[.] c"));
}

TEST(TableRows, DeeperPathsFirstWhereOneThreadMadeBothRows) {
  Recorded recorded;
  recorded.add("zyx", 1);
  EXPECT_THAT(ordered(recorded, kChildren,
                      {.terms = {OrderTerm::of(Weight::kChildren), OrderTerm::of_key(2)},
                       .depth = TableRows::DepthRule::kDeepestFirst}),
              ElementsAre("[.] x", "[.] z", "[.] y"));
}

TEST(TableRows, GroupsPutEventsSideBySide) {
  Recorded recorded;
  recorded.add("a", 2);
  recorded.add("b", 3);
  Profile first = recorded.profile({});
  std::vector<uint32_t> one{1};
  Profile second = build_profile(recorded.input, recorded.keys, one, {});
  TableRows rows({&second, &first}, recorded.keys);
  rows.sort({.terms = {OrderTerm::of(Weight::kOverhead)}});
  ASSERT_EQ(rows.order().size(), 2U);
  EXPECT_EQ(rows.weight(rows.order()[0], 0, Weight::kOverhead), 3U);
  EXPECT_EQ(rows.weight(rows.order()[1], 0, Weight::kOverhead), 0U);
  EXPECT_EQ(rows.weight(rows.order()[1], 1, Weight::kOverhead), 2U);
}

TEST(SortKeys, AreFoundByAnyBeginning) {
  EXPECT_EQ(find_sort_key("sym")->name, "symbol");
  EXPECT_EQ(find_sort_key("PID")->name, "pid");
  EXPECT_EQ(find_sort_key("symbol_f")->name, "symbol_from");
  EXPECT_EQ(find_sort_key("nonsense"), nullptr);
  EXPECT_EQ(find_sort_key(""), nullptr);
}

/// Function 'a' accesses a field of a page; what others access is not known.
class FakeTypes final : public DataTypeSource {
 public:
  DataPlace place_of(const Frame& frame) override {
    ++asked;
    if (frame.symbol_start != 0x100) return {.type = "(unknown)", .field = {}};
    return {.type = "struct page", .field = "lru.next", .offset = 0x48, .type_size = 0x80};
  }
  int asked = 0;
};

std::vector<std::string> rows_by(std::string_view key, FakeTypes& types) {
  Recorded recorded;
  recorded.settings.data_types = &types;
  recorded.key_names = {key};
  for (std::string_view path : {"ma", "ma", "mb"}) recorded.add(path);
  return lines(recorded, recorded.profile({}));
}

TEST(Profile, TypesOfDataAreAskedForOncePerPlace) {
  FakeTypes types;
  EXPECT_THAT(rows_by("type", types), ElementsAre("(unknown) 1 1", "struct page 2 2"));
  EXPECT_EQ(types.asked, 2);
}

TEST(Profile, FieldsAndCacheLinesOfTypes) {
  FakeTypes types;
  EXPECT_THAT(rows_by("typeoff", types),
              ElementsAre("(unknown) +0 (no field) 1 1", "struct page +0x48 (lru.next) 2 2"));
  EXPECT_THAT(rows_by("typecln", types),
              ElementsAre("(unknown) 1 1", "struct page: cache-line 1 2 2"));
  EXPECT_THAT(rows_by("symoff", types), ElementsAre("[.] a+0x4 2 2", "[.] b+0x4 1 1"));
}

}  // namespace
}  // namespace sonde
