#include <gtest/gtest.h>

#include "lock/lock_names.h"
#include "lock/lock_tables.h"
#include "lock/lock_types.h"

namespace sonde {
namespace {

LockRow row(uint64_t key, std::string name, uint64_t contended, std::vector<uint64_t> waits) {
  LockRow row;
  row.key = key;
  row.name = std::move(name);
  row.contended = contended;
  for (uint64_t wait : waits) row.add_wait(wait);
  row.acquired = waits.size();
  return row;
}
std::vector<std::string> names_of(const std::vector<LockRow>& rows) {
  std::vector<std::string> names;
  for (const LockRow& row : rows) names.push_back(row.name);
  return names;
}
const LockColumn& key(std::string_view name) {
  return *choose_lock_key(name, report_columns()).value();
}

TEST(LockRow, WaitsAddUp) {
  LockRow waits = row(1, "a", 3, {100, 300});
  EXPECT_EQ(waits.total_ns, 400u);
  EXPECT_EQ(waits.average_ns(), 200u);
  EXPECT_EQ(waits.longest_ns, 300u);
  EXPECT_EQ(waits.shortest_or_0(), 100u);
  EXPECT_EQ(row(1, "a", 1, {}).shortest_or_0(), 0u);
  EXPECT_EQ(row(1, "a", 1, {}).average_ns(), 0u);
}

TEST(LockRows, AreSortedByAnyColumn) {
  std::vector<LockRow> rows = {row(1, "a", 5, {10}), row(2, "b", 1, {400}), row(3, "c", 2, {5, 6})};
  sort_lock_rows(rows, key("wait_total"));
  EXPECT_EQ(names_of(rows), (std::vector<std::string>{"b", "c", "a"}));
  sort_lock_rows(rows, key("contended"));
  EXPECT_EQ(names_of(rows), (std::vector<std::string>{"a", "c", "b"}));
  sort_lock_rows(rows, key("acquired"));
  EXPECT_EQ(names_of(rows), (std::vector<std::string>{"c", "a", "b"}));
}

TEST(LockRows, OfOneNameBecomeOne) {
  std::vector<LockRow> rows = {row(1, "b", 1, {10}), row(2, "a", 1, {20}), row(3, "b", 3, {30})};
  combine_lock_rows(rows);
  EXPECT_EQ(names_of(rows), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(rows[0].total_ns, 40u);
  EXPECT_EQ(rows[0].acquired, 2u);
  EXPECT_EQ(rows[0].average_ns(), 10u);
}

TEST(LockColumns, AreChosenByName) {
  auto chosen = choose_lock_columns("wait_max, contended", contention_columns());
  ASSERT_TRUE(chosen);
  EXPECT_EQ((*chosen)[0]->heading, "max wait");
  EXPECT_EQ(chosen->size(), 2u);
  EXPECT_EQ(choose_lock_columns("acquired", contention_columns()).error().code, ErrorCode::kUsage);
  EXPECT_EQ(choose_lock_key("depth", report_columns()).error().code, ErrorCode::kUsage);
}

TEST(LockColumns, TheKeyIsShown) {
  LockColumns columns = choose_lock_columns("contended", contention_columns()).value();
  const LockColumn* total = choose_lock_key("wait_total", contention_columns()).value();
  show_lock_key(columns, total);
  show_lock_key(columns, total);
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[1]->name, "wait_total");
}

TEST(LockTimeText, HasAUnit) {
  EXPECT_EQ(lock_time_text(0, 12), "        0 ns");
  EXPECT_EQ(lock_time_text(999, 12), "      999 ns");
  EXPECT_EQ(lock_time_text(1234, 12), "     1.23 us");
  EXPECT_EQ(lock_time_text(2'500'000, 12), "     2.50 ms");
  EXPECT_EQ(lock_time_text(90'000'000'000, 12), "     1.50 m ");
}

TEST(LockTypes, HaveNamesAndShortcuts) {
  EXPECT_EQ(lock_type_name(kLockSpin), "spinlock");
  EXPECT_EQ(lock_type_name(kLockWrite), "rwsem:W");
  EXPECT_EQ(lock_type_name(kLockMutex | kLockSpin), "mutex");
  EXPECT_EQ(lock_type_name(0xffff), "unknown");
  LockTypeFilter filter;
  EXPECT_TRUE(filter.passes(kLockRead));
  ASSERT_TRUE(filter.add("rwsem,mutex"));
  EXPECT_TRUE(filter.passes(kLockRead));
  EXPECT_TRUE(filter.passes(kLockWrite));
  EXPECT_TRUE(filter.passes(kLockMutex | kLockSpin));
  EXPECT_FALSE(filter.passes(kLockSpin));
  LockTypeFilter readers;
  ASSERT_TRUE(readers.add("rwlock:R"));
  EXPECT_FALSE(readers.passes(kLockSpin | kLockWrite));
  EXPECT_EQ(readers.add("spin").error().code, ErrorCode::kUsage);
}

TEST(LockNames, AreThoseOfVariables) {
  LockNames names = LockNames::of_text(
      "ffffffff81000000 T _text\n"
      "ffffffff82000000 D tasklist_lock\n"
      "ffffffff82000010 d rcu_state\n"
      "ffffffff83000000 B _end\n");
  EXPECT_EQ(names.name(0xffffffff82000000), "tasklist_lock");
  EXPECT_EQ(names.name(0xffffffff82000020), "rcu_state");
  EXPECT_EQ(names.name(0xffffffff81000004), "");
  EXPECT_EQ(names.name(0xffff888100000000), "");
  std::vector<std::string> words = {"0xffff888100000000", "rcu_state"};
  EXPECT_EQ(names.addresses(words).value(),
            (std::vector<uint64_t>{0xffff888100000000, 0xffffffff82000010}));
  std::vector<std::string> bad = {"no_such_lock"};
  EXPECT_EQ(names.addresses(bad).error().code, ErrorCode::kUsage);
}

TEST(LockTables, ValuesAreDividedByASeparator) {
  LockTableStyle style;
  style.columns = contention_columns();
  style.separator = ",";
  StringSink out;
  std::vector<LockRow> rows = {row(1, "fork+0x1", 2, {100, 300}), row(2, "exit+0x2", 1, {})};
  EXPECT_EQ(write_contention(out, rows, style), 2u);
  EXPECT_EQ(out.text(),
            "# output: contended, total wait, max wait, min wait, avg wait, type, caller\n"
            "2, 400, 300, 100, 200, semaphore, fork+0x1\n"
            "1, 0, 0, 0, 0, semaphore, exit+0x2\n");
}

TEST(LockTables, RowsAreCountedUntilThereAreEnough) {
  LockTableStyle style;
  style.columns = contention_columns();
  style.most_rows = 1;
  StringSink out;
  std::vector<LockRow> rows = {row(1, "begun", 1, {}), row(2, "a", 1, {5}), row(3, "b", 1, {5})};
  EXPECT_EQ(write_contention(out, rows, style), 1u);
  EXPECT_NE(out.text().find(" begun\n"), std::string::npos);
  EXPECT_EQ(out.text().find(" a\n"), std::string::npos);
}

}  // namespace
}  // namespace sonde
