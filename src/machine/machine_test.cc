#include "machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

class MachineTest : public testing::Test {
 protected:
  MachineTest() : machine(strings) {}

  template <typename Record>
  void apply(const Record& record, uint64_t time, uint32_t type = 0, uint16_t misc = abi::kMiscUser,
             const GuestCpu* guest = nullptr) {
    ByteBuilder bytes;
    RecordFrame frame;
    frame.type = type;
    frame.misc = misc;
    ASSERT_TRUE(encode(record, frame, bytes));
    RecordView view;
    RecordBlock block;
    block.bytes = bytes.view();
    ASSERT_TRUE(RecordRange(block, kHostOrder).next(view));
    machine.apply(view, SampleLayout(), time, losses, guest);
  }
  void map(uint32_t pid, uint64_t time, uint64_t start, std::string_view path,
           uint32_t protection = 5) {
    MmapRecord record{};
    record.pid = record.tid = pid;
    record.start = RuntimeAddr(start);
    record.length = 0x1000;
    record.path = path;
    record.protection = protection;
    record.is_v2 = true;
    apply(record, time);
  }
  std::string dso_at(uint32_t pid, uint64_t time, uint64_t address) {
    machine.freeze();
    SpaceId space = machine.space_at(pid, time).space;
    if (!space.valid()) return "no process";
    MappingId mapping = machine.space(space).find(RuntimeAddr(address), time).mapping;
    return mapping.valid() ? machine.dsos()[machine.mapping(mapping).dso].path : "nothing";
  }
  std::string comm(uint32_t tid, uint64_t time) {
    return std::string(strings.view(machine.comm_at(tid, time)));
  }

  StringPool strings;
  Machine machine;
  LossLedger losses;
};

TEST_F(MachineTest, KnowsTheIdleTaskAndNamesUnknownThreadsByNumber) {
  EXPECT_EQ(comm(0, 5), "swapper");
  EXPECT_EQ(comm(77, 5), ":77");
  EXPECT_EQ(comm(UINT32_MAX, 5), ":-1");
}

TEST_F(MachineTest, CommsChangeOverTime) {
  apply(CommRecord{7, 7, "bash", false}, 10);
  apply(CommRecord{7, 7, "ls", true}, 20);
  EXPECT_EQ(comm(7, 9), ":7");
  EXPECT_EQ(comm(7, 10), "bash");
  EXPECT_EQ(comm(7, 19), "bash");
  EXPECT_EQ(comm(7, 20), "ls");
  EXPECT_FALSE(machine.exec_at(7, 15));
  EXPECT_TRUE(machine.exec_at(7, 25));
}

TEST_F(MachineTest, ALateNameIsTheThreadsFromTheBeginning) {
  auto late = [this](uint32_t tid, uint64_t time) {
    Machine::CommAt at = machine.late_comm_span_at(tid, time);
    EXPECT_TRUE(at.valid_from <= time && time < at.valid_to);
    return std::string(strings.view(at.comm));
  };
  apply(CommRecord{7, 7, "client", false}, 10);
  apply(CommRecord{7, 7, "later", false}, 20);
  EXPECT_EQ(comm(7, 9), ":7");
  EXPECT_EQ(late(7, 9), "client");
  EXPECT_EQ(late(7, 10), "client");
  EXPECT_EQ(late(7, 25), "later");
  EXPECT_EQ(late(77, 5), ":77");
  // What had the number before a fork was another task.
  apply(TaskRecord{8, 7, 8, 7, 30}, 30, abi::kRecordFork);
  apply(CommRecord{8, 8, "child", true}, 40);
  EXPECT_EQ(late(8, 25), ":8");
  EXPECT_EQ(late(8, 35), "later");
  EXPECT_EQ(late(8, 45), "child");
  apply(TaskRecord{90, 91, 90, 91, 50}, 50, abi::kRecordFork);  // of a parent without a name
  apply(CommRecord{90, 90, "named", true}, 60);
  EXPECT_EQ(late(90, 45), ":90");
  EXPECT_EQ(late(90, 55), "named");
}

TEST_F(MachineTest, AChildHasItsParentsNameAndMemoryUntilItExecs) {
  apply(CommRecord{7, 7, "bash", false}, 1);
  map(7, 2, 0x1000, "/bin/bash");
  apply(TaskRecord{8, 7, 8, 7, 10}, 10, abi::kRecordFork);
  apply(CommRecord{8, 8, "ls", true}, 20);
  map(8, 21, 0x5000, "/bin/ls");
  EXPECT_EQ(comm(8, 15), "bash");
  EXPECT_EQ(comm(8, 21), "ls");
  EXPECT_EQ(dso_at(8, 15, 0x1000), "/bin/bash");
  EXPECT_EQ(dso_at(8, 22, 0x1000), "nothing");
  EXPECT_EQ(dso_at(8, 22, 0x5000), "/bin/ls");
  EXPECT_EQ(dso_at(8, 9, 0x1000), "no process");
  EXPECT_EQ(dso_at(7, 22, 0x1000), "/bin/bash");
}

TEST_F(MachineTest, AProgramKeepsTheNameOfItsExec) {
  auto program = [this](uint32_t pid, uint64_t time) {
    return std::string(strings.view(machine.program_at(pid, time).comm));
  };
  apply(CommRecord{7, 7, "bash", false}, 1);
  apply(TaskRecord{8, 7, 8, 7, 10}, 10, abi::kRecordFork);
  apply(CommRecord{8, 8, "server", true}, 20);
  apply(CommRecord{8, 8, "server: busy", false}, 30);  // prctl
  apply(CommRecord{8, 8, "cleanup", true}, 40);
  EXPECT_EQ(program(8, 15), "bash");
  EXPECT_EQ(program(8, 25), "server");
  EXPECT_EQ(program(8, 35), "server");
  EXPECT_EQ(comm(8, 35), "server: busy");
  EXPECT_EQ(program(8, 45), "cleanup");
  Machine::CommAt server = machine.program_at(8, 35);
  EXPECT_EQ(server.valid_from, 20u);
  EXPECT_EQ(server.valid_to, 40u);
  // Without an exec the name is all that is known; another process with the number is another.
  apply(CommRecord{7, 7, "login", false}, 50);
  EXPECT_EQ(program(7, 49), "bash");
  EXPECT_EQ(program(7, 50), "login");
  apply(TaskRecord{8, 7, 8, 7, 60}, 60, abi::kRecordFork);
  EXPECT_EQ(program(8, 59), "cleanup");
  EXPECT_EQ(program(8, 60), "login");
  EXPECT_EQ(program(99, 5), ":99");
}

/// What a recorder in a PID namespace sees of all others is about task 0.
TEST_F(MachineTest, TasksOutsideOfThePidNamespaceHaveNoName) {
  const std::string outside(kOutsideName);
  apply(CommRecord{0, 0, "swapper/1", false}, 1);
  apply(TaskRecord{0, 0, 0, 0, 2}, 2, abi::kRecordFork);
  EXPECT_EQ(comm(0, 5), "swapper");
  EXPECT_FALSE(machine.has_outside_tasks());
  apply(CommRecord{0, 0, "cron", true}, 10);
  EXPECT_TRUE(machine.has_outside_tasks());
  for (uint64_t time : {uint64_t{0}, uint64_t{5}, uint64_t{10}, UINT64_MAX})
    EXPECT_EQ(comm(0, time), outside);
  EXPECT_EQ(strings.view(machine.program_at(0, 20).comm), outside);
  // Nor do they have memory: it would be everybody's.
  map(0, 11, 0x1000, "/usr/sbin/cron");
  EXPECT_EQ(dso_at(0, 12, 0x1000), "no process");
  // One that comes in has a number, but its parent had none.
  apply(TaskRecord{8, 0, 8, 0, 20}, 20, abi::kRecordFork);
  EXPECT_EQ(comm(8, 21), ":8");
  apply(CommRecord{8, 8, "nsenter", true}, 22);
  EXPECT_EQ(comm(8, 23), "nsenter");
}

TEST_F(MachineTest, AMappingOfTask0IsOfATaskOutside) {
  map(0, 1, 0x1000, "/bin/spinner");
  EXPECT_EQ(comm(0, 0), std::string(kOutsideName));
  EXPECT_EQ(losses.total(), 0u);
}

TEST_F(MachineTest, TheIdleTaskNeverEnds) {
  apply(TaskRecord{0, 0, 0, 0, 5}, 5, abi::kRecordExit);
  EXPECT_EQ(comm(0, 0), std::string(kOutsideName));
}

TEST_F(MachineTest, ThreadsShareTheirProcess) {
  map(7, 1, 0x1000, "/bin/x");
  apply(TaskRecord{7, 7, 9, 7, 5}, 5, abi::kRecordFork);
  EXPECT_EQ(dso_at(7, 6, 0x1000), "/bin/x");
  ASSERT_NE(machine.thread(9), nullptr);
  EXPECT_EQ(machine.thread(9)->pid, 7u);
}

TEST_F(MachineTest, GeneratedCodeBelongsToThePerfMapOfTheProcess) {
  map(42, 1, 0x7000, "//anon");
  EXPECT_EQ(dso_at(42, 2, 0x7100), "/tmp/perf-42.map");
  DsoId dso = machine.dsos().find("/tmp/perf-42.map");
  EXPECT_EQ(machine.dsos()[dso].short_name, "[JIT] tid 42");
  EXPECT_EQ(machine.dsos()[dso].kind, DsoKind::kJit);
}

TEST_F(MachineTest, TheKernelIsOneSpaceForAll) {
  MmapRecord record{};
  record.pid = UINT32_MAX;
  record.start = RuntimeAddr(0xffffffff81000000);
  record.length = 0x1000000;
  record.offset = FileOffset(0xffffffff81000000);
  record.path = "[kernel.kallsyms]_text";
  apply(record, 0, 0, abi::kMiscKernel);
  machine.freeze();
  auto found = machine.space(machine.kernel_space()).find(RuntimeAddr(0xffffffff81000100), 50);
  ASSERT_TRUE(found.mapping.valid());
  const Dso& dso = machine.dsos()[machine.mapping(found.mapping).dso];
  EXPECT_EQ(dso.path, "[kernel.kallsyms]");
  EXPECT_EQ(dso.reference_symbol, "_text");
  EXPECT_EQ(dso.reference_address, RuntimeAddr(0xffffffff81000000));
}

TEST_F(MachineTest, BpfProgramsComeAndGo) {
  KsymbolRecord program{RuntimeAddr(0xffffffffc0000000), 0x100, 1, 0, "bpf_prog_1234_probe"};
  apply(program, 10, 0, abi::kMiscKernel);
  program.flags = 1;
  apply(program, 30, 0, abi::kMiscKernel);
  program.flags = 0;
  program.address = RuntimeAddr(0xffffffffc0001000);
  apply(program, 40, 0, abi::kMiscKernel);
  machine.freeze();
  const AddressSpace& kernel = machine.space(machine.kernel_space());
  DsoId dso = machine.dsos().find("bpf_prog_1234_probe");
  EXPECT_THAT(machine.dsos()[dso].programs,
              testing::ElementsAre(
                  Dso::Program{RuntimeAddr(0xffffffffc0000000), RuntimeAddr(0xffffffffc0000100)},
                  Dso::Program{RuntimeAddr(0xffffffffc0001000), RuntimeAddr(0xffffffffc0001100)}));
  EXPECT_TRUE(kernel.find(RuntimeAddr(0xffffffffc0000010), 20).mapping.valid());
  EXPECT_FALSE(kernel.find(RuntimeAddr(0xffffffffc0000010), 30).mapping.valid());
}

TEST_F(MachineTest, ForgetsWhatNobodyCanAskForAgain) {
  for (uint32_t pid : {10u, 20u}) {
    apply(CommRecord{pid, pid, "old", false}, 1);
    map(pid, 2, 0x1000, "/lib/old.so");
    apply(CommRecord{pid, pid, "new", true}, 5);
    map(pid, 6, 0x1000, "/lib/new.so");
  }
  apply(TaskRecord{20, 1, 20, 1, 8}, 8, abi::kRecordExit);
  machine.forget_before(100);
  EXPECT_EQ(dso_at(10, 200, 0x1000), "/lib/new.so");
  EXPECT_EQ(strings.view(machine.comm_at(10, 200)), "new");
  EXPECT_EQ(dso_at(20, 200, 0x1000), "no process");
  EXPECT_EQ(strings.view(machine.comm_at(20, 200)), ":20");
  EXPECT_EQ(machine.thread(20), nullptr);
  // Their slots are reused.
  map(30, 300, 0x1000, "/lib/next.so");
  EXPECT_EQ(dso_at(30, 301, 0x1000), "/lib/next.so");
  EXPECT_EQ(dso_at(10, 301, 0x1000), "/lib/new.so");
}

TEST_F(MachineTest, ForgetsNothingThatIsStillThere) {
  apply(CommRecord{10, 10, "shell", false}, 1);
  map(10, 2, 0x1000, "/bin/sh");
  apply(TaskRecord{10, 10, 11, 10, 3}, 3, abi::kRecordFork);  // a second thread
  apply(TaskRecord{10, 1, 10, 1, 8}, 8, abi::kRecordExit);    // the first one ends
  map(10, 20, 0x3000, "/lib/late.so");
  machine.forget_before(10);
  EXPECT_EQ(dso_at(10, 30, 0x1000), "/bin/sh");
  EXPECT_EQ(dso_at(10, 30, 0x3000), "/lib/late.so");
  EXPECT_EQ(strings.view(machine.comm_at(11, 30)), "shell");
}

TEST(Dso, ModulesAreNamedAsTheKernelNamesThem) {
  DsoTable table;
  EXPECT_EQ(
      table[table.find_or_add("/lib/modules/6.1/kernel/fs/nf-conn.ko.xz", DsoKind::kModule, true)]
          .short_name,
      "[nf_conn]");
  EXPECT_EQ(table[table.find_or_add("[ext4]", DsoKind::kModule, true)].short_name, "[ext4]");
  EXPECT_EQ(table[table.find_or_add("/usr/lib/libc.so.6", DsoKind::kFile, false)].short_name,
            "libc.so.6");
}

// Compilers repeatedly map and protect the memory of their code.
TEST_F(MachineTest, GeneratedCodeStaysWhereAnonymousMemoryIsMappedOverIt) {
  map(42, 1, 0x7000, "//anon");
  DsoId dump = machine.edit_dsos().add_jit_dump("/tmp/jit-42.dump", 42);
  machine.apply_code(42, 5, RuntimeAddr(0x7100), 0x100, dump, FileOffset(0x40));
  map(42, 9, 0x7000, "//anon");
  EXPECT_EQ(dso_at(42, 4, 0x7100), "/tmp/perf-42.map");
  EXPECT_EQ(dso_at(42, 10, 0x7100), "/tmp/jit-42.dump");
  EXPECT_EQ(dso_at(42, 10, 0x7200), "/tmp/perf-42.map");
  map(42, 10, 0x7000, "[anon:v8]");
  EXPECT_EQ(dso_at(42, 11, 0x7100), "/tmp/jit-42.dump");
  map(42, 11, 0x7000, "/usr/lib/libother.so");
  EXPECT_EQ(dso_at(42, 12, 0x7100), "/usr/lib/libother.so");
}

TEST_F(MachineTest, CodeOfDotNetIsGenerated) {
  map(42, 1, 0x7000, "/memfd:doublemapper (deleted)");
  EXPECT_EQ(dso_at(42, 2, 0x7000), "/tmp/perf-42.map");
}

TEST_F(MachineTest, CodeWithoutATimeIsThereFromTheBeginning) {
  map(42, 10, 0x7000, "//anon");
  DsoId dump = machine.edit_dsos().add_jit_dump("/tmp/jit-42.dump", 42);
  machine.apply_code(42, std::nullopt, RuntimeAddr(0x7100), 0x100, dump, FileOffset(0x40));
  EXPECT_EQ(dso_at(42, 10, 0x7100), "/tmp/jit-42.dump");
  EXPECT_EQ(dso_at(42, 99, 0x71ff), "/tmp/jit-42.dump");
}

TEST_F(MachineTest, GuestsHaveAddressesOfTheirOwn) {
  auto map_kernel = [this](uint32_t pid, std::string_view path, uint64_t start, uint16_t mode) {
    MmapRecord record{};
    record.pid = pid;
    record.start = RuntimeAddr(start);
    record.offset = FileOffset(start);
    record.length = 0x1000;
    record.path = path;
    apply(record, 10, abi::kRecordMmap, mode);
  };
  machine.add_guest_mapping(kAnyGuest, "[early]", RuntimeAddr(0x9000), RuntimeAddr(0xa000),
                            RuntimeAddr(0x9000));
  map_kernel(UINT32_MAX, "[kernel.kallsyms]_text", 0x1000, abi::kMiscKernel);
  map_kernel(kAnyGuest, "[guest.kernel.kallsyms]_text", 0x1000, abi::kMiscGuestKernel);
  map_kernel(200, "[guest.kernel.kallsyms.200]_stext", 0x1000, abi::kMiscGuestKernel);
  map_kernel(200, "/lib/modules/6.1/ext4.ko", 0x3000, abi::kMiscGuestKernel);
  map_kernel(UINT32_MAX, "/lib/modules/6.1/ext4.ko", 0x5000, abi::kMiscKernel);
  machine.freeze();
  auto object_at = [this](SpaceId space, uint64_t address) -> const Dso& {
    MappingId mapping = machine.space(space).find(RuntimeAddr(address), 20).mapping;
    static const Dso kNone;
    return mapping.valid() ? machine.dsos()[machine.mapping(mapping).dso] : kNone;
  };
  EXPECT_EQ(object_at(machine.kernel_space(), 0x1010).path, "[kernel.kallsyms]");
  EXPECT_EQ(object_at(machine.guest_kernel_space(300), 0x1010).path, "[guest.kernel.kallsyms]");
  EXPECT_EQ(object_at(machine.guest_kernel_space(300), 0x9010).path, "[early]");
  const Dso& kernel = object_at(machine.guest_kernel_space(200), 0x1010);
  EXPECT_EQ(kernel.path, "[guest.kernel.kallsyms.200]");
  EXPECT_EQ(kernel.reference_symbol, "_stext");
  EXPECT_EQ(kernel.pid, 200u);
  EXPECT_TRUE(object_at(machine.guest_kernel_space(200), 0x3010).is_guest);
  EXPECT_FALSE(object_at(machine.kernel_space(), 0x5010).is_guest);
  EXPECT_EQ(object_at(machine.guest_kernel_space(200), 0x9010).path, "");
}

TEST_F(MachineTest, WhatGuestsMapAndTheirBuildIdsAreNotTheHosts) {
  MmapRecord record{};
  record.pid = record.tid = 7;
  record.start = RuntimeAddr(0x1000);
  record.length = 0x1000;
  record.path = "/usr/lib/libc.so.6";
  apply(record, 1, abi::kRecordMmap2, abi::kMiscGuestUser);
  machine.set_build_id("/usr/lib/libc.so.6", "guest", abi::kMiscGuestUser);
  machine.set_build_id("[kernel.kallsyms]", "guest", abi::kMiscGuestKernel);
  EXPECT_EQ(dso_at(7, 2, 0x1010), "no process");
  EXPECT_EQ(machine.dsos().size(), 0u);
}

TEST_F(MachineTest, TasksOfAGuestAreApartFromThoseOfTheSameNumber) {
  const GuestCpu first{.guest = 0, .machine_pid = 100, .vcpu = 0};
  const GuestCpu second{.guest = 1, .machine_pid = 300, .vcpu = 2};
  machine.set_guests({100, 300});
  auto map_program = [&](uint64_t start, const GuestCpu* guest) {
    MmapRecord record{};
    record.pid = record.tid = 7;
    record.start = RuntimeAddr(start);
    record.length = 0x1000;
    record.path = "/bin/program";
    record.is_v2 = true;
    apply(record, 1, abi::kRecordMmap2, guest == nullptr ? abi::kMiscUser : abi::kMiscGuestUser,
          guest);
  };
  map_program(0x1000, nullptr);
  map_program(0x2000, &first);
  map_program(0x3000, &second);
  apply(CommRecord{7, 7, "host", false}, 1);
  apply(CommRecord{7, 7, "guest", false}, 1, 0, abi::kMiscGuestUser, &second);
  apply(TaskRecord{8, 7, 8, 7, 2}, 2, abi::kRecordFork, abi::kMiscGuestKernel, &second);

  uint32_t of_first = guest_task(0, 7), of_second = guest_task(1, 7);
  EXPECT_EQ(comm(7, 3), "host");
  EXPECT_EQ(comm(of_first, 3), ":7");
  EXPECT_EQ(comm(of_second, 3), "guest");
  EXPECT_EQ(comm(guest_task(1, 8), 3), "guest");
  EXPECT_EQ(comm(8, 3), ":8");
  EXPECT_EQ(comm(guest_task(0, 0), 3), "swapper");
  EXPECT_EQ(dso_at(7, 3, 0x2010), "nothing");
  EXPECT_EQ(dso_at(of_first, 3, 0x2010), "/bin/program");
  EXPECT_EQ(dso_at(guest_task(1, 8), 3, 0x3010), "/bin/program");
  EXPECT_EQ(machine.dsos().size(), 3u);
  EXPECT_EQ(machine.machine_pid_of(of_second), 300u);
  EXPECT_FALSE(machine.machine_pid_of(7).has_value());
  machine.set_guest_build_id("/bin/program", "of first", 100);
  machine.set_guest_build_id("/bin/other", "not mapped", 100);
  EXPECT_EQ(machine.dsos()[machine.dsos().find_guest("/bin/program", 100)].build_id, "of first");
  EXPECT_EQ(machine.dsos()[machine.dsos().find_guest("/bin/program", 300)].build_id, "");
  EXPECT_EQ(machine.dsos()[machine.dsos().find("/bin/program")].build_id, "");
  EXPECT_EQ(machine.dsos().size(), 3u);
}

TEST(TaskNumber, KeepsWhatWasRecordedAndIsNoTaskOfTheHost) {
  for (uint32_t guest : {0u, 1u, 255u})
    for (uint32_t recorded : {0u, 1u, kTaskLimit - 1}) {
      uint32_t number = guest_task(guest, recorded);
      EXPECT_TRUE(is_guest_task(number));
      EXPECT_EQ(recorded_task(number), recorded);
      EXPECT_EQ(guest_of_task(number), guest);
    }
  EXPECT_EQ(guest_task(3, UINT32_MAX), UINT32_MAX);
  EXPECT_EQ(guest_task(3, kTaskLimit), UINT32_MAX);
  for (uint32_t of_host : {0u, kTaskLimit, UINT32_MAX, UINT32_MAX - 1}) {
    EXPECT_FALSE(is_guest_task(of_host));
    EXPECT_EQ(recorded_task(of_host), of_host);
  }
}

}  // namespace
}  // namespace sonde
