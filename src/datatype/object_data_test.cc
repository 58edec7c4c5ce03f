// These tests track data types through functions of their own program.
#include "datatype/object_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <set>

#include "datatype/typed_functions.h"

namespace sonde::datatype {
namespace {

using namespace shapes;

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// The code of a function of this program, as in its file.
class OwnProgram {
 public:
  OwnProgram() : image_(ElfFile::open("/proc/self/exe").value()) {
    DebugInfo info{ElfFile::open("/proc/self/exe").value(), {}};
    data_ = ObjectData::open(std::move(info), &image_).value();
    dl_iterate_phdr(
        [](dl_phdr_info* one, size_t, void* out) {
          *static_cast<uint64_t*>(out) = one->dlpi_addr;  // the program itself comes first
          return 1;
        },
        &base_);
  }

  /// "struct Item +0x10 (weight)" for everything that a function's instructions touch.
  std::set<std::string> touched_by(uint64_t run_time_address) {
    uint64_t start = run_time_address - base_, size = 0;
    image_.for_each_symbol(SymbolSection::kSymtab, [&](const ElfSymbol& symbol) {
      if (symbol.value == start && symbol.type == STT_FUNC) size = symbol.size;
    });
    auto offset = image_.segments().offset_of(ElfAddr(start));
    Bytes code = image_.bytes().subspan(offset->value, size);
    abi::Arch arch = image_.machine() == EM_AARCH64 ? abi::Arch::kArm64 : abi::Arch::kX86_64;
    std::set<std::string> found;
    for (uint64_t at = start; at < start + size; ++at) {
      DataAccess access = data_->access_at(code, start, arch, true, at);
      if (access.kind != AccessKind::kData) {
        if (access.kind != AccessKind::kNoCode && access.kind != AccessKind::kNoMemory)
          found.insert(std::string(describe(access.kind)));
        continue;
      }
      DataField field = data_->types().field_at(access.type, access.offset, access.size);
      found.insert(fmt::format("{} +{} ({})", data_->types().plain_name(access.type), access.offset,
                               field.path));
    }
    return found;
  }
  template <typename Function>
  std::set<std::string> touched(Function* function) {
    return touched_by(reinterpret_cast<uint64_t>(function));
  }
  [[nodiscard]] ObjectData& data() { return *data_; }
  [[nodiscard]] uint64_t in_file(uint64_t run_time_address) const {
    return run_time_address - base_;
  }

 private:
  ElfFile image_;
  std::unique_ptr<ObjectData> data_;
  uint64_t base_ = 0;
};

/// Opened once: its debug information takes a while to read.
OwnProgram& own_program() {
  static OwnProgram program;
  return program;
}

const std::string kSpace = "shapes::";

std::string of(std::string_view keyword, std::string_view name, std::string_view rest) {
  return fmt::format("{} {}{} {}", keyword, kSpace, name, rest);
}

TEST(ObjectData, FieldsOfAnArrayOfStructures) {
  EXPECT_GT(walk_items(table.slots, 1), -1);
  std::set<std::string> found = own_program().touched(&walk_items);
  EXPECT_THAT(found, IsSupersetOf({of("struct", "Item", "+16 (weight)"),
                                   of("struct", "Item", "+12 (inner.second)")}));
  EXPECT_THAT(found, Not(Contains(describe(AccessKind::kNoVariable))));
}

TEST(ObjectData, PointersThatAreLoadedOutOfStructures) {
  Node node{.value = 1, .next = nullptr, .item = table.slots};
  EXPECT_EQ(walk_list(&node), 1);
  std::set<std::string> found = own_program().touched(&walk_list);
  EXPECT_THAT(
      found,
      IsSupersetOf({of("struct", "Node", "+0 (value)"), of("struct", "Node", "+8 (next)"),
                    of("struct", "Node", "+16 (item)"), of("struct", "Item", "+8 (inner.first)")}));
  EXPECT_THAT(found, Not(Contains(describe(AccessKind::kNoVariable))));
}

TEST(ObjectData, VariablesWithAnAddress) {
  EXPECT_EQ(walk_table(1), 0);
  EXPECT_THAT(own_program().touched(&walk_table), Contains(of("struct", "Table", "+0 (count)")));
}

TEST(ObjectData, WhatACallGives) {
  Node node{.value = 5, .next = nullptr, .item = nullptr};
  EXPECT_EQ(read_given(&node), 5);
  EXPECT_THAT(own_program().touched(&read_given), Contains(of("struct", "Node", "+0 (value)")));
}

TEST(ObjectData, WhatIsReachedOnlyByAJumpKeepsWhatWasKnownThere) {
  Node node{.value = 5, .next = &node, .item = table.slots};
  EXPECT_EQ(read_rarely(&node), 7);
  std::set<std::string> found = own_program().touched(&read_rarely);
  EXPECT_THAT(found, IsSupersetOf({of("struct", "Node", "+16 (item)"),
                                   of("struct", "Item", "+12 (inner.second)")}));
  EXPECT_THAT(found, Not(Contains(describe(AccessKind::kNoVariable))));
}

TEST(ObjectData, StructuresThatAreReturnedInMemory) {
  EXPECT_EQ(make_item(3).key, 3);
  EXPECT_THAT(own_program().touched(&make_item), Contains(of("struct", "Item", "+0 (key)")));
}

TEST(ObjectData, APointerToAMemberSaysLessThanOneToTheWhole) {
  EXPECT_EQ(read_inner(table.slots), 0);
  EXPECT_THAT(own_program().touched(&read_inner),
              Contains(of("struct", "Item", "+12 (inner.second)")));
}

TEST(ObjectData, CallsThatNeverReturnAreToldApart) {
  Node node{.value = 1, .next = nullptr, .item = nullptr};
  EXPECT_EQ(read_or_stop(&node), 1);
  OwnProgram& program = own_program();
  auto index = DataIndex::open(ElfFile::open("/proc/self/exe").value(), {}).value();
  const FunctionVariables* function =
      index->function_at(program.in_file(reinterpret_cast<uint64_t>(&read_or_stop)));
  ASSERT_NE(function, nullptr);
  ASSERT_FALSE(function->calls.empty());
  EXPECT_TRUE(function->calls.front().never_returns);
  const FunctionVariables* other =
      index->function_at(program.in_file(reinterpret_cast<uint64_t>(&on_stack)));
  ASSERT_NE(other, nullptr);
  for (const CallResult& call : other->calls) EXPECT_FALSE(call.never_returns);
}

TEST(ObjectData, VariablesOnTheStack) {
  EXPECT_EQ(on_stack(1), sink);
  EXPECT_THAT(own_program().touched(&on_stack), Contains(of("struct", "Item", "+0 (key)")));
}

TEST(ObjectData, TheMemberOfAUnionThatHasTheSizeOfTheAccess) {
  Either either{.whole = 7};
  EXPECT_EQ(read_either(&either), 7);
  EXPECT_THAT(own_program().touched(&read_either), Contains(of("union", "Either", "+0 (half)")));
}

TEST(ObjectData, StructuresThatOnlyAnAliasNames) {
  Bare bare{.size = 1, .item = table.slots};
  EXPECT_EQ(read_bare(&bare), 0);
  // g++ gives the structure its linkage name; clang leaves the name to the alias.
  EXPECT_THAT(own_program().touched(&read_bare),
              Contains(AnyOf(of("struct", "Bare", "+8 (item)"), kSpace + "Bare +8 (item)")));
}

TEST(ObjectData, MembersOfBaseClasses) {
  Derived derived;
  EXPECT_EQ(read_derived(&derived), 2);
  EXPECT_THAT(
      own_program().touched(&read_derived),
      IsSupersetOf({of("struct", "Derived", "+0 (of_base)"), of("struct", "Derived", "+8 (own)")}));
}

TEST(ObjectData, MembersOfClassesByThis) {
  Counter counter;
  counter.add(1);
  EXPECT_EQ(counter.hits(), 1);
  void (Counter::*add)(long) = &Counter::add;
  uint64_t address = 0;
  std::memcpy(&address, &add, sizeof address);
  EXPECT_THAT(own_program().touched_by(address), Contains(of("class", "Counter", "+24 (hits_)")));
}

TEST(ObjectData, VoidIsNoType) {
  EXPECT_EQ(read_void(&table), 0);
  std::set<std::string> found = own_program().touched(&read_void);
  EXPECT_THAT(found, Not(Contains(of("struct", "Table", "+0 (count)"))));
}

}  // namespace
}  // namespace sonde::datatype
