// These tests look up the functions of their own program.
#include "dwarf/names/function_index.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dwarf/entry_cursor.h"
#include "dwarf/unit_code.h"

namespace sonde {
namespace {

volatile int deposited;

[[gnu::noinline]] void deposit_for_function_index(int amount) {
  // A function inside of a function, in a type that has no name.
  auto twice = [](int value) __attribute__((noinline)) { return value * deposited; };
  deposited = twice(amount);
}

template <typename Amount>
[[gnu::noinline]] void withdraw_for_function_index(Amount amount) {
  deposited = deposited - static_cast<int>(amount);
}

class FunctionIndexTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    deposit_for_function_index(1);
    withdraw_for_function_index(1.0);
    file_ = std::move(
        *DwarfFile::open(std::move(*ElfFile::open("/proc/self/exe")), DwarfFile::Kind::kWhole));
  }
  static void TearDownTestSuite() { file_.reset(); }

  static std::vector<size_t> units_naming(const FunctionIndex& index, std::string_view name) {
    std::vector<size_t> found;
    for (size_t i = 0; i < file_->units().size(); ++i)
      if (index.may_name(i, name)) found.push_back(i);
    return found;
  }

  static std::unique_ptr<DwarfFile> file_;
};

std::unique_ptr<DwarfFile> FunctionIndexTest::file_;

/// Every entry of a function that has code, wherever it is.
std::set<std::string_view> names_in(const DwarfUnit& unit) {
  std::set<std::string_view> names;
  for (EntryCursor in(unit, unit.entries); in.ok();) {
    if (!in.next()) continue;  // the end of a list
    bool is_function =
        in.tag() == DW_TAG_subprogram && address_of(unit, in.value(DW_AT_low_pc)).value_or(0) != 0;
    if (!is_function && in.tag() != DW_TAG_inlined_subroutine) continue;
    EntryFacts facts = EntryFacts::of(in.entry());
    for (std::string_view name : {facts.name, facts.linkage_name})
      if (!name.empty() && FunctionIndex::has_names_like(name)) names.insert(name);
  }
  return names;
}

TEST_F(FunctionIndexTest, HasTheNamesOfAllFunctionsWithCode) {
  FunctionIndex index = FunctionIndex::read(*file_);
  size_t count = 0;
  for (size_t i = 0; i < file_->units().size(); ++i)
    for (std::string_view name : names_in(file_->units()[i])) {
      ++count;
      EXPECT_TRUE(index.may_name(i, name)) << name;
      EXPECT_TRUE(index.may_name(i, name.substr(0, name.find('<')))) << name;
    }
  EXPECT_GT(count, 100u);
}

/// Without an index, for one unit at a time.
TEST_F(FunctionIndexTest, KnowsTheSameOfOneUnit) {
  FunctionIndex index = FunctionIndex::read(*file_);
  std::set<std::string_view> wanted{"main", "operator()", "withdraw_for_function_index<double>"};
  for (const DwarfUnit& unit : file_->units()) {
    std::set<std::string_view> names = names_in(unit);
    if (names.empty()) continue;
    wanted.insert({*names.begin(), names.begin()->substr(0, 4), *names.rbegin()});
    if (wanted.size() > 16) break;
  }
  for (std::string_view name : wanted)
    for (size_t i = 0; i < file_->units().size(); ++i)
      EXPECT_EQ(FunctionIndex::may_name(file_->units()[i], name), index.may_name(i, name)) << name;
}

TEST_F(FunctionIndexTest, SelectsNoOtherUnits) {
  FunctionIndex index = FunctionIndex::read(*file_);
  EXPECT_EQ(units_naming(index, "deposit_for_function_index").size(), 1u);
  EXPECT_EQ(units_naming(index, "withdraw_for_function_index").size(), 1u);
  EXPECT_EQ(units_naming(index, "withdraw_for_function_index<double>").size(), 1u);
  EXPECT_TRUE(units_naming(index, "deposit_for").empty());
  EXPECT_TRUE(units_naming(index, "").empty());
}

TEST_F(FunctionIndexTest, IsTheSameWhenItIsRestored) {
  FunctionIndex index = FunctionIndex::read(*file_);
  std::vector<std::byte> packed = index.pack(*file_);
  auto restored = FunctionIndex::restore(packed, *file_);
  ASSERT_TRUE(restored);
  for (std::string_view name : {"deposit_for_function_index", "main", "operator()", "nothing"})
    EXPECT_EQ(units_naming(*restored, name), units_naming(index, name)) << name;
}

TEST_F(FunctionIndexTest, RejectsWhatIsDamagedOrOfAnotherFile) {
  std::vector<std::byte> packed = FunctionIndex::read(*file_).pack(*file_);
  for (size_t size : {size_t{0}, size_t{8}, size_t{24}, packed.size() / 2, packed.size() - 8})
    EXPECT_FALSE(FunctionIndex::restore(Bytes(packed).first(size), *file_)) << size;
  for (size_t at : {size_t{8}, size_t{16}, size_t{24}}) {  // fingerprint, count and first of starts
    std::vector<std::byte> changed = packed;
    uint64_t value = load<uint64_t>(changed.data() + at) + 1;
    std::memcpy(changed.data() + at, &value, sizeof value);
    auto restored = FunctionIndex::restore(changed, *file_);
    EXPECT_TRUE(at == 24 || !restored) << at;
    if (restored) units_naming(*restored, "main");  // must not crash
  }
}

}  // namespace
}  // namespace sonde
