// Law 4 for records: decode(encode(x)) == x, in both byte orders, with random sample types.
#include "perfdata/records/record_encoder.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <random>

namespace sonde {
namespace {

constexpr ByteOrder kOrders[] = {ByteOrder::kLittle, ByteOrder::kBig};

RecordView only_record(const ByteBuilder& bytes) {
  RecordBlock block;
  block.bytes = bytes.view();
  RecordRange range(block, bytes.order());
  RecordView record;
  EXPECT_TRUE(range.next(record));
  EXPECT_EQ(range.stopped_at(), bytes.size());
  return record;
}

abi::EventAttr attr_with_ids() {
  abi::EventAttr attr;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleId |
                     abi::kSampleCpu | abi::kSampleIdentifier | abi::kSampleStreamId;
  attr.sample_id_all = 1;
  return attr;
}
constexpr SampleId kSomeId{
    .pid = 11, .tid = 12, .time = 1'000'000'007, .id = 77, .stream_id = 78, .cpu = 3};

void expect_same_id(const SampleId& a, const SampleId& b) {
  EXPECT_EQ(a.pid, b.pid);
  EXPECT_EQ(a.tid, b.tid);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.stream_id, b.stream_id);
  EXPECT_EQ(a.cpu, b.cpu);
}

/// Encodes with an id block, decodes, checks the id block and passes the decoded record to `check`.
template <typename Record, typename Check>
void round_trip(const Record& record, uint32_t type, Check check, uint16_t misc = abi::kMiscUser) {
  abi::EventAttr attr = attr_with_ids();
  SampleLayout layout(attr);
  for (ByteOrder order : kOrders) {
    ByteBuilder out(order);
    ASSERT_TRUE(encode(record, {.type = type, .misc = misc, .attr = &attr, .id = kSomeId}, out));
    EXPECT_EQ(out.size() % 8, 0u);
    RecordView view = only_record(out);
    EXPECT_EQ(view.type, type);
    EXPECT_EQ(view.misc & misc, misc);
    auto decoded = decode_as<Record>(view, layout);
    ASSERT_TRUE(decoded);
    check(*decoded);
    expect_same_id(decode_trailing_id(view, layout), kSomeId);
  }
}

TEST(RecordEncoder, MapsOfTheFirstVersion) {
  MmapRecord m{.pid = 1,
               .tid = 2,
               .start = RuntimeAddr(0x400000),
               .length = 0x1000,
               .offset = FileOffset(0x2000),
               .path = "/bin/true",
               .build_id = {}};
  round_trip(m, abi::kRecordMmap, [&](const MmapRecord& d) {
    EXPECT_EQ(d.pid, m.pid);
    EXPECT_EQ(d.tid, m.tid);
    EXPECT_EQ(d.start, m.start);
    EXPECT_EQ(d.length, m.length);
    EXPECT_EQ(d.offset, m.offset);
    EXPECT_EQ(d.path, m.path);
    EXPECT_FALSE(d.is_v2);
    EXPECT_TRUE(d.executable());
  });
}

TEST(RecordEncoder, MapsWithInode) {
  MmapRecord m{.pid = 1,
               .tid = 2,
               .start = RuntimeAddr(0x400000),
               .length = 0x1000,
               .offset = FileOffset(0x2000),
               .path = "/lib/x.so",
               .major = 8,
               .minor = 1,
               .inode = 4711,
               .inode_generation = 5,
               .protection = 5,
               .flags = 2,
               .build_id = {},
               .is_v2 = true};
  round_trip(m, abi::kRecordMmap2, [&](const MmapRecord& d) {
    EXPECT_TRUE(d.is_v2);
    EXPECT_EQ(d.major, m.major);
    EXPECT_EQ(d.minor, m.minor);
    EXPECT_EQ(d.inode, m.inode);
    EXPECT_EQ(d.inode_generation, m.inode_generation);
    EXPECT_EQ(d.protection, m.protection);
    EXPECT_EQ(d.flags, m.flags);
    EXPECT_EQ(d.path, m.path);
  });
}

TEST(RecordEncoder, MapsWithBuildId) {
  MmapRecord m{.pid = 1,
               .tid = 2,
               .start = RuntimeAddr(0x400000),
               .length = 0x1000,
               .offset = FileOffset(0),
               .path = "/lib/x.so",
               .protection = 5,
               .flags = 2,
               .build_id = as_bytes("0123456789abcdef"),
               .is_v2 = true};
  round_trip(m, abi::kRecordMmap2, [&](const MmapRecord& d) {
    EXPECT_EQ(as_text(d.build_id), as_text(m.build_id));
    EXPECT_EQ(d.protection, m.protection);
    EXPECT_NE(d.misc & abi::kMiscMmapBuildId, 0);
  });
}

TEST(RecordEncoder, TasksAndNames) {
  for (bool exec : {false, true})
    round_trip(CommRecord{1, 2, "a long comm", exec}, abi::kRecordComm, [&](const CommRecord& d) {
      EXPECT_EQ(d.pid, 1u);
      EXPECT_EQ(d.tid, 2u);
      EXPECT_EQ(d.comm, "a long comm");
      EXPECT_EQ(d.exec, exec);
    });
  for (uint32_t type : {abi::kRecordFork, abi::kRecordExit})
    round_trip(TaskRecord{1, 2, 3, 4, 5}, type, [](const TaskRecord& d) {
      EXPECT_EQ(d.pid, 1u);
      EXPECT_EQ(d.ppid, 2u);
      EXPECT_EQ(d.tid, 3u);
      EXPECT_EQ(d.ptid, 4u);
      EXPECT_EQ(d.time, 5u);
    });
}

TEST(RecordEncoder, Losses) {
  round_trip(LostRecord{1, 2}, abi::kRecordLost, [](const LostRecord& d) {
    EXPECT_EQ(d.id, 1u);
    EXPECT_EQ(d.lost, 2u);
  });
  round_trip(LostSamplesRecord{9}, abi::kRecordLostSamples,
             [](const LostSamplesRecord& d) { EXPECT_EQ(d.lost, 9u); });
  for (uint32_t type : {abi::kRecordThrottle, abi::kRecordUnthrottle})
    round_trip(ThrottleRecord{1, 2, 3}, type, [](const ThrottleRecord& d) {
      EXPECT_EQ(d.time, 1u);
      EXPECT_EQ(d.id, 2u);
      EXPECT_EQ(d.stream_id, 3u);
    });
}

TEST(RecordEncoder, Switches) {
  for (bool out : {false, true})
    for (bool wide : {false, true}) {
      SwitchRecord s{out, out, wide, wide ? 7u : 0u, wide ? 8u : 0u};
      round_trip(s, wide ? abi::kRecordSwitchCpuWide : abi::kRecordSwitch,
                 [&](const SwitchRecord& d) {
                   EXPECT_EQ(d.out, s.out);
                   EXPECT_EQ(d.preempt, s.preempt);
                   EXPECT_EQ(d.cpu_wide, s.cpu_wide);
                   EXPECT_EQ(d.other_pid, s.other_pid);
                   EXPECT_EQ(d.other_tid, s.other_tid);
                 });
    }
}

TEST(RecordEncoder, KernelObjects) {
  round_trip(KsymbolRecord{RuntimeAddr(0xffffffffc0000000), 64, 1, 2, "bpf_prog_x"},
             abi::kRecordKsymbol, [](const KsymbolRecord& d) {
               EXPECT_EQ(d.address, RuntimeAddr(0xffffffffc0000000));
               EXPECT_EQ(d.length, 64u);
               EXPECT_EQ(d.ksym_type, 1);
               EXPECT_EQ(d.flags, 2);
               EXPECT_EQ(d.name, "bpf_prog_x");
             });
  round_trip(BpfEventRecord{1, 2, 3, as_bytes("8 bytes!")}, abi::kRecordBpfEvent,
             [](const BpfEventRecord& d) {
               EXPECT_EQ(d.event_type, 1);
               EXPECT_EQ(d.flags, 2);
               EXPECT_EQ(d.id, 3u);
               EXPECT_EQ(as_text(d.tag), "8 bytes!");
             });
  round_trip(CgroupRecord{5, "/user.slice"}, abi::kRecordCgroup, [](const CgroupRecord& d) {
    EXPECT_EQ(d.id, 5u);
    EXPECT_EQ(d.path, "/user.slice");
  });
  round_trip(TextPokeRecord{RuntimeAddr(0x10), as_bytes("abc"), as_bytes("defgh")},
             abi::kRecordTextPoke, [](const TextPokeRecord& d) {
               EXPECT_EQ(d.address, RuntimeAddr(0x10));
               EXPECT_EQ(as_text(d.old_bytes), "abc");
               EXPECT_EQ(as_text(d.new_bytes), "defgh");
             });
}

TEST(RecordEncoder, WordsKeepTheirValuesAcrossByteOrders) {
  ByteBuilder words;
  for (uint64_t word : {1u, 2u, 3u, 4u}) words.u64(word);
  WordView view(words.view(), words.order());
  auto same = [](WordView d) {
    ASSERT_EQ(d.size(), 4u);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(d[i], i + 1);
  };
  round_trip(NamespacesRecord{1, 2, 2, view}, abi::kRecordNamespaces,
             [&](const NamespacesRecord& d) {
               EXPECT_EQ(d.count, 2u);
               same(d.links);
             });
  round_trip(CallchainDeferredRecord{99, view}, abi::kRecordCallchainDeferred,
             [&](const CallchainDeferredRecord& d) {
               EXPECT_EQ(d.cookie, 99u);
               same(d.ips);
             });
}

TEST(RecordEncoder, AuxRecords) {
  round_trip(AuxRecord{1, 2, 3}, abi::kRecordAux, [](const AuxRecord& d) {
    EXPECT_EQ(d.offset, 1u);
    EXPECT_EQ(d.size, 2u);
    EXPECT_EQ(d.flags, 3u);
  });
  round_trip(ItraceStartRecord{1, 2}, abi::kRecordItraceStart, [](const ItraceStartRecord& d) {
    EXPECT_EQ(d.pid, 1u);
    EXPECT_EQ(d.tid, 2u);
  });
  round_trip(AuxOutputHwIdRecord{7}, abi::kRecordAuxOutputHwId,
             [](const AuxOutputHwIdRecord& d) { EXPECT_EQ(d.hw_id, 7u); });
}

TEST(RecordEncoder, TooLongIsRefusedAndLeavesNothing) {
  std::string path(70'000, 'x');
  ByteBuilder out;
  EXPECT_TRUE(encode(LostSamplesRecord{1}, {}, out));
  size_t before = out.size();
  EXPECT_FALSE(encode(CgroupRecord{1, path}, {}, out));
  EXPECT_EQ(out.size(), before);
  EXPECT_FALSE(encode_raw(9, 0, as_bytes(path), out));
  EXPECT_EQ(out.size(), before);
}

/// Random samples of random shapes, reproducible from the seed.
class SampleBuilder {
 public:
  explicit SampleBuilder(uint64_t seed) : random_(seed) {}

  abi::EventAttr attr() {
    abi::EventAttr a;
    a.sample_type = word() & ((uint64_t{1} << 25) - 1);
    if ((a.sample_type & abi::kSampleWeight) != 0) a.sample_type &= ~abi::kSampleWeightStruct;
    a.read_format = word() & 31;
    a.branch_sample_type =
        abi::kBranchAny | (word() & (abi::kBranchHwIndex | abi::kBranchCounters));
    a.sample_regs_user = word() & 0xffffff;
    a.sample_regs_intr = word() & 0xffffff;
    a.sample_period = word();
    a.sample_id_all = word() & 1;
    return a;
  }
  Sample sample(const abi::EventAttr& a) {
    Sample s;
    auto has = [&](uint64_t bit) { return a.samples(bit); };
    s.misc = abi::kMiscKernel | abi::kMiscExactIp;
    s.id.pid = has(abi::kSampleTid) ? half() : UINT32_MAX;
    s.id.tid = has(abi::kSampleTid) ? half() : UINT32_MAX;
    s.id.time = has(abi::kSampleTime) ? word() : UINT64_MAX;
    s.id.id = has(abi::kSampleId | abi::kSampleIdentifier) ? word() : 0;
    s.id.stream_id = has(abi::kSampleStreamId) ? word() : 0;
    s.id.cpu = has(abi::kSampleCpu) ? half() : UINT32_MAX;
    s.period = has(abi::kSamplePeriod) ? word() : a.sample_period;
    auto set = [&](uint64_t bit, uint64_t& field) {
      if (has(bit)) field = word();
    };
    set(abi::kSampleIp, s.ip);
    set(abi::kSampleAddr, s.addr);
    set(abi::kSampleDataSrc, s.data_src);
    set(abi::kSampleTransaction, s.transaction);
    set(abi::kSamplePhysAddr, s.phys_addr);
    set(abi::kSampleCgroup, s.cgroup);
    set(abi::kSampleDataPageSize, s.data_page_size);
    set(abi::kSampleCodePageSize, s.code_page_size);
    if (has(abi::kSampleWeight)) s.weight = word();
    if (has(abi::kSampleWeightStruct)) {
      s.weight = half();
      s.ins_latency = static_cast<uint16_t>(half());
      s.p_stage_cycles = static_cast<uint16_t>(half());
    }
    if (has(abi::kSampleRead)) s.read = read_block(a.read_format);
    if (has(abi::kSampleCallchain)) s.callchain = words(word() % 40);
    if (has(abi::kSampleRaw)) s.raw = words(word() % 10).bytes();
    if (has(abi::kSampleBranchStack)) {
      size_t count = word() % 32;
      s.has_branches = true;
      s.branches = words(count * 3);
      if ((a.branch_sample_type & abi::kBranchHwIndex) != 0 && count > 0)
        s.branch_hw_index = word();
      if ((a.branch_sample_type & abi::kBranchCounters) != 0) s.branch_counters = words(count);
    }
    if (has(abi::kSampleRegsUser)) s.regs_user = regs(a.sample_regs_user);
    if (has(abi::kSampleRegsIntr)) s.regs_intr = regs(a.sample_regs_intr);
    if (has(abi::kSampleStackUser)) s.stack_user = words(word() % 20).bytes();
    if (has(abi::kSampleStackUser) && !s.stack_user.empty())
      s.stack_user = s.stack_user.first(s.stack_user.size() - word() % 8);
    if (has(abi::kSampleAux)) s.aux = words(word() % 5).bytes();
    return s;
  }

 private:
  uint64_t word() { return random_(); }
  uint32_t half() { return static_cast<uint32_t>(random_()); }
  WordView words(size_t count) {
    ByteBuilder& store = stores_.emplace_back();
    for (size_t i = 0; i < count; ++i) store.u64(word());
    return {store.view(), store.order()};
  }
  SampleRegs regs(uint64_t mask) {
    if (word() % 4 == 0) return {};
    return {abi::kRegsAbi64, mask, words(static_cast<size_t>(std::popcount(mask)))};
  }
  ReadBlock read_block(uint64_t format) {
    ReadBlock r;
    r.present = true;
    r.read_format = format;
    r.count = (format & abi::kFormatGroup) != 0 ? word() % 5 : 1;
    if ((format & abi::kFormatTotalTimeEnabled) != 0) r.time_enabled = word();
    if ((format & abi::kFormatTotalTimeRunning) != 0) r.time_running = word();
    size_t each = 1u + ((format & abi::kFormatId) != 0) + ((format & abi::kFormatLost) != 0);
    r.values = words(r.count * each);
    return r;
  }

  std::mt19937_64 random_;
  std::deque<ByteBuilder> stores_;
};

void expect_same_words(WordView a, WordView b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]);
}

void expect_same_regs(const SampleRegs& a, const SampleRegs& b) {
  EXPECT_EQ(a.abi, b.abi);
  expect_same_words(a.words, b.words);
  if (a.abi != abi::kRegsAbiNone) {
    EXPECT_EQ(a.mask, b.mask);
  }
}

void expect_same_read(const ReadBlock& a, const ReadBlock& b) {
  ASSERT_EQ(a.present, b.present);
  if (!a.present) return;
  EXPECT_EQ(a.read_format, b.read_format);
  EXPECT_EQ(a.time_enabled, b.time_enabled);
  EXPECT_EQ(a.time_running, b.time_running);
  ASSERT_EQ(a.count, b.count);
  for (size_t i = 0; i < a.count; ++i) {
    EXPECT_EQ(a.at(i).value, b.at(i).value);
    EXPECT_EQ(a.at(i).id, b.at(i).id);
    EXPECT_EQ(a.at(i).lost, b.at(i).lost);
  }
}

void expect_same_sample(const Sample& a, const Sample& b) {
  expect_same_id(a.id, b.id);
  EXPECT_EQ(a.misc, b.misc);
  EXPECT_EQ(a.ip, b.ip);
  EXPECT_EQ(a.addr, b.addr);
  EXPECT_EQ(a.period, b.period);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.ins_latency, b.ins_latency);
  EXPECT_EQ(a.p_stage_cycles, b.p_stage_cycles);
  EXPECT_EQ(a.data_src, b.data_src);
  EXPECT_EQ(a.transaction, b.transaction);
  EXPECT_EQ(a.phys_addr, b.phys_addr);
  EXPECT_EQ(a.cgroup, b.cgroup);
  EXPECT_EQ(a.data_page_size, b.data_page_size);
  EXPECT_EQ(a.code_page_size, b.code_page_size);
  expect_same_read(a.read, b.read);
  expect_same_words(a.callchain, b.callchain);
  EXPECT_EQ(as_text(a.raw), as_text(b.raw));
  EXPECT_EQ(a.has_branches, b.has_branches);
  EXPECT_EQ(a.branch_hw_index, b.branch_hw_index);
  expect_same_words(a.branches, b.branches);
  expect_same_words(a.branch_counters, b.branch_counters);
  expect_same_regs(a.regs_user, b.regs_user);
  expect_same_regs(a.regs_intr, b.regs_intr);
  EXPECT_EQ(as_text(a.stack_user), as_text(b.stack_user));
  EXPECT_EQ(as_text(a.aux), as_text(b.aux));
}

TEST(RecordEncoder, SamplesOfEveryShape) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    SampleBuilder make(seed);
    abi::EventAttr attr = make.attr();
    Sample sample = make.sample(attr);
    for (ByteOrder order : kOrders) {
      ByteBuilder out(order);
      ASSERT_TRUE(encode_sample(sample, attr, out));
      Sample decoded;
      ASSERT_TRUE(decode_sample(only_record(out), SampleLayout(attr), decoded));
      expect_same_sample(sample, decoded);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RecordEncoder, ReadRecordsOfEveryFormat) {
  for (uint64_t seed = 0; seed < 64; ++seed) {
    SampleBuilder make(seed);
    abi::EventAttr attr = attr_with_ids();
    attr.read_format = seed & 31;
    abi::EventAttr only_read = attr;
    only_read.sample_type = abi::kSampleRead;
    ReadRecord record{5, 6, make.sample(only_read).read};
    for (ByteOrder order : kOrders) {
      ByteBuilder out(order);
      ASSERT_TRUE(encode(record, {.attr = &attr, .id = kSomeId}, out));
      auto decoded = decode_as<ReadRecord>(only_record(out), SampleLayout(attr));
      ASSERT_TRUE(decoded);
      EXPECT_EQ(decoded->pid, 5u);
      EXPECT_EQ(decoded->tid, 6u);
      expect_same_read(record.read, decoded->read);
    }
  }
}

}  // namespace
}  // namespace sonde
