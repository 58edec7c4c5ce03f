#include "perfdata/header/early_sections.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

class EarlySections : public testing::Test {
 protected:
  void SetUp() override {
    EventDesc event;
    event.attr.type = abi::kTypeSoftware;
    event.ids = {7};
    std::vector<EncodedSection> early;
    for (uint32_t bit : {abi::kFeatureHostname, abi::kFeatureOsRelease}) {
      early.push_back({bit, ByteBuilder()});
      early.back().content.text(bit == abi::kFeatureHostname ? "vm" : "6.1");
    }
    std::vector<EventDesc> events = {event};
    layout_ = encode_prologue(events, stored_attr_size(events), file_, early);
    table_ = layout_.attrs_offset + layout_.attrs_size;
  }
  [[nodiscard]] std::vector<FeatureTable::Entry> read() const {
    return read_early_sections(parse_file_header(file_.view(), "file").value(), file_.view());
  }
  [[nodiscard]] std::string_view text(FileSection section) const {
    return as_text(file_.view().subspan(section.offset, section.size));
  }

  ByteBuilder file_;
  FileLayout layout_;
  size_t table_ = 0;
  static constexpr size_t kHead = 16, kEntry = 24;
};

TEST_F(EarlySections, AreInFrontOfTheRecords) {
  EXPECT_EQ(file_.size(), layout_.data_offset);
  EXPECT_EQ(file_.size() % 8, 0u);
  std::vector<FeatureTable::Entry> entries = read();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].bit, abi::kFeatureHostname);
  EXPECT_EQ(text(entries[0].section), "vm");
  EXPECT_EQ(text(entries[1].section), "6.1");
}

TEST_F(EarlySections, NothingOfADamagedTableIsBelieved) {
  constexpr uint64_t kHuge = UINT64_MAX / kEntry;
  struct Damage {
    size_t at;
    uint64_t value;
  };
  for (auto [at, value] :
       {Damage{0, 1}, Damage{8, kHuge}, Damage{8, 3}, Damage{kHead, abi::kFeatureOsRelease},
        Damage{kHead + kEntry, abi::kFeatureBits}, Damage{kHead + 8, file_.size()},
        Damage{kHead + 16, file_.size()}, Damage{kHead + 16, UINT64_MAX}}) {
    SetUp();
    SCOPED_TRACE(testing::Message() << at << " " << value);
    file_.patch(table_ + at, value);
    EXPECT_TRUE(read().empty());
    file_.clear();
  }
}

TEST_F(EarlySections, ATableThatIsCutOffIsNone) {
  Bytes whole = file_.view();
  FileHeader header = parse_file_header(whole, "file").value();
  for (size_t size = table_; size < whole.size(); ++size) {
    // The last bytes only align the records.
    std::vector<FeatureTable::Entry> entries = read_early_sections(header, whole.first(size));
    for (const FeatureTable::Entry& entry : entries)
      EXPECT_LE(entry.section.offset + entry.section.size, size);
  }
  header.attrs.size = UINT64_MAX;
  EXPECT_TRUE(read_early_sections(header, whole).empty());
}

}  // namespace
}  // namespace sonde
