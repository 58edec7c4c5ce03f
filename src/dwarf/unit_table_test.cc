// These tests keep the units of their own program.
#include "dwarf/unit_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "dwarf/unit_code.h"

namespace sonde {
namespace {

constexpr uint64_t kStamp = 4711;

std::unique_ptr<DwarfFile> open_own(const UnitTable* known = nullptr) {
  return std::move(*DwarfFile::open(std::move(*ElfFile::open("/proc/self/exe")),
                                    DwarfFile::Kind::kWhole, nullptr, known));
}

class UnitTableTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    read_ = open_own();
    packed_ = UnitTable::pack(*read_, kStamp);
  }
  static void TearDownTestSuite() { read_.reset(); }

  static std::unique_ptr<DwarfFile> read_;
  static std::vector<std::byte> packed_;
};

std::unique_ptr<DwarfFile> UnitTableTest::read_;
std::vector<std::byte> UnitTableTest::packed_;

TEST_F(UnitTableTest, GivesTheUnitsThatReadingGives) {
  auto table = UnitTable::restore(packed_, kStamp);
  ASSERT_TRUE(table);
  auto kept = open_own(&*table);
  ASSERT_GT(read_->units().size(), 1u);
  ASSERT_EQ(kept->units().size(), read_->units().size());
  for (size_t i = 0; i < kept->units().size(); ++i) {
    const DwarfUnit &a = read_->units()[i], &b = kept->units()[i];
    EXPECT_EQ(b.file, kept.get());
    EXPECT_EQ(a.section, b.section);
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_EQ(a.entries, b.entries);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.format, b.format);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.abbrev_offset, b.abbrev_offset);
    EXPECT_EQ(a.dwo_id, b.dwo_id);
    EXPECT_EQ(a.signature, b.signature);
    EXPECT_EQ(a.type_offset, b.type_offset);
    EXPECT_EQ(a.tag, b.tag);
    EXPECT_EQ(a.low_pc, b.low_pc);
    EXPECT_EQ(a.high_pc, b.high_pc);
    EXPECT_EQ(a.line_offset, b.line_offset);
    EXPECT_EQ(a.str_offsets_base, b.str_offsets_base);
    EXPECT_EQ(a.addr_base, b.addr_base);
    EXPECT_EQ(a.rnglists_base, b.rnglists_base);
    EXPECT_EQ(a.loclists_base, b.loclists_base);
    EXPECT_EQ(a.ranges_base, b.ranges_base);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.directory, b.directory);
    EXPECT_EQ(a.dwo_name, b.dwo_name);
    EXPECT_EQ(a.ranges.form, b.ranges.form);
    EXPECT_EQ(a.ranges.number, b.ranges.number);
    EXPECT_EQ(a.abbrevs == nullptr, b.abbrevs == nullptr);
  }
}

TEST_F(UnitTableTest, ItsUnitsCanBeReadOn) {
  auto table = UnitTable::restore(packed_, kStamp);
  auto kept = open_own(&*table);
  size_t functions = 0;
  for (size_t i = 0; i < kept->units().size(); ++i) {
    UnitCode code = UnitCode::read(kept->units()[i]);
    ASSERT_EQ(code.nodes().size(), UnitCode::read(read_->units()[i]).nodes().size());
    functions += code.nodes().size();
  }
  EXPECT_GT(functions, 100u);
}

TEST_F(UnitTableTest, RejectsWhatIsCutShortOrOfAnotherFile) {
  EXPECT_FALSE(UnitTable::restore(packed_, kStamp + 1));
  for (size_t size : {size_t{0}, size_t{8}, size_t{24}, packed_.size() / 2, packed_.size() - 8})
    EXPECT_FALSE(UnitTable::restore(Bytes(packed_).first(size), kStamp)) << size;
}

/// Whatever the numbers are, units end inside of their section; a file of which they don't is read
/// itself.
TEST_F(UnitTableTest, IsNotUsedWhenItsUnitsDoNotFit) {
  constexpr size_t kFirstUnit = 24;  // after the stamp and its count, and the count of units
  for (size_t number = 0; number < 3; ++number) {  // offset, entries, end
    std::vector<std::byte> changed = packed_;
    uint64_t value = uint64_t{1} << 40;
    std::memcpy(changed.data() + kFirstUnit + number * sizeof value, &value, sizeof value);
    auto table = UnitTable::restore(changed, kStamp);
    ASSERT_TRUE(table);
    EXPECT_FALSE(table->units_of(*read_)) << number;
    auto file = open_own(&*table);
    EXPECT_EQ(file->units().size(), read_->units().size());
    EXPECT_EQ(file->units()[0].end, read_->units()[0].end);
  }
}

}  // namespace
}  // namespace sonde
