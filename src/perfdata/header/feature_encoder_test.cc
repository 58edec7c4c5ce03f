// Law 4 for feature sections: encoding, decoding and encoding again yields the same bytes and the
// same meaning, in both byte orders.
#include "perfdata/header/feature_encoder.h"

#include <gtest/gtest.h>

#include "perfdata/header/feature_decoder.h"
#include "perfdata/write/writer.h"

namespace sonde {
namespace {

constexpr uint32_t kAttrSize = 128;

Features rich_features() {
  Features f;
  f.hostname = "vm";
  f.os_release = "6.18.0";
  f.version = "6.1.192";
  f.arch = "x86_64";
  f.cpu_desc = "A CPU";
  f.cpu_id = "Vendor,1,2,3";
  f.cpus_available = 2;
  f.cpus_online = 1;
  f.total_mem_kb = 4096;
  f.command_line = {"/usr/bin/perf", "record", "-a", std::string(63, 'x'), std::string(64, 'y')};
  f.build_ids = {{abi::kMiscKernel, -1, std::string(20, 'k'), "[kernel.kallsyms]"},
                 {abi::kMiscUser, -1, std::string(16, 'u'), "/usr/lib/libc.so.6"}};
  f.cpu_topology = CpuTopology{{"0-1"}, {"0-1"}, {"0", "1"}, {{0, 0, 0}, {1, 0, 0}}};
  f.numa = {{0, 1000, 500, "0-1"}};
  f.branch_stack = true;
  f.pmu_mappings = {{1, "software"}, {2, "tracepoint"}};
  f.groups = {{"{a,b}", 0, 2}, {"", 2, 1}};
  f.caches = {{1, 64, 64, 8, "Data", "32K", "0"}, {2, 64, 1024, 8, "Unified", "512K", "0-1"}};
  f.sample_time = SampleTimeRange{10, 20};
  f.mem_topology = MemTopology{1, 0x8000000, {{0, 130, {~uint64_t{0}, 1, 3}}}};
  f.clock_resolution_ns = 1;
  f.clock_data = ClockData{1, 4, 1'700'000'000'000'000'000, 55};
  f.dir_format_version = 1;
  f.compressed = CompressionInfo{1, 1, 3, 4, 528384};
  f.hybrid_pmus = {{"cpu_core", "0-3"}, {"cpu_atom", "4-7"}};
  f.pmu_caps = {{"cpu", {{"branches", "32"}}}, {"cpu_atom", {{"branches", "16"}, {"max", "3"}}}};
  f.sched_domains = SchedDomains{
      17, 2, {{0, {{0, "SMT", "00000003", "0-1"}, {1, "PKG", "0000000f", "0-3"}}}, {1, {}}}};
  f.tracing_data = as_bytes("pretend tracing data");
  f.event_descriptions = {{abi::EventAttr{}, "cycles", {1, 2}}, {abi::EventAttr{}, "faults", {}}};
  for (EventDescription& event : f.event_descriptions) event.attr.size = kAttrSize;
  f.auxtrace_index = {{100, 200}};
  f.interpreted_files = {
      {"/app/main.py", kInterpretedBase, {{0, 12, 3, "main"}, {4, 0, 0, "Main.<locals>.<lambda>"}}},
      {"<string>", kInterpretedBase + kInterpretedFileBytes, {}}};
  f.simpleperf_meta = {{"app", "x"}, {"android_version", "14"}};
  using File = SimpleperfFile;
  f.simpleperf_files = {{"/lib/a.so", File::Kind::kElf, 0x1000, 0x400, {{16, 4, "main"}}, {}},
                        {"base.dex", File::Kind::kDex, 0, 0, {}, {8, 16}}};
  mark_present(f);
  f.present.insert(std::ranges::lower_bound(f.present, uint32_t{abi::kFeatureCpuPmuCaps}),
                   abi::kFeatureCpuPmuCaps);
  f.present.push_back(abi::kFeatureSimpleperfFile);
  f.present.push_back(abi::kFeatureSimpleperfMetaInfo);
  return f;
}

TEST(FeatureEncoder, TraceIndexAsSimpleperfWritesIt) {
  ByteBuilder entries;
  for (uint64_t word : {100U, 48U, 900U, 48U}) entries.u64(word);
  Features read;
  ASSERT_TRUE(decode_feature(abi::kFeatureAuxtrace, entries.view(), kHostOrder, read));
  ByteBuilder section;
  ASSERT_TRUE(encode_feature(abi::kFeatureAuxtrace, read, {}, kAttrSize, section));
  Features again;
  ASSERT_TRUE(decode_feature(abi::kFeatureAuxtrace, section.view(), kHostOrder, again));
  for (const Features* features : {&read, &again}) {
    std::vector<uint64_t> words;
    for (const AuxtraceIndexEntry& entry : features->auxtrace_index) {
      words.push_back(entry.file_offset);
      words.push_back(entry.size);
    }
    EXPECT_EQ(words, (std::vector<uint64_t>{100, 48, 900, 48}));
  }
}

TEST(FeatureEncoder, SymbolsAsProtobuf) {
  using File = SimpleperfFile;
  Features features;
  features.simpleperf_files = {
      {"/lib/a.so", File::Kind::kElf, 0x1000, 0x400, {{16, 4, "main"}, {300, 0, ""}}, {}},
      {"base.dex", File::Kind::kDex, 0, 0, {}, {8, 0, UINT64_MAX}},
      {"[kernel.kallsyms]", File::Kind::kKernel, 0, 0, {{UINT64_MAX - 1, 8, "f"}}, {}},
      {"nfs.ko", File::Kind::kKernelModule, 0, 0x80, {}, {}}};
  ByteBuilder section;
  ASSERT_TRUE(encode_feature(abi::kFeatureSimpleperfFile2, features, {}, kAttrSize, section));
  Features read;
  ASSERT_TRUE(decode_feature(abi::kFeatureSimpleperfFile2, section.view(), kHostOrder, read));
  ASSERT_EQ(read.simpleperf_files.size(), features.simpleperf_files.size());
  for (size_t i = 0; i < read.simpleperf_files.size(); ++i) {
    const File& before = features.simpleperf_files[i];
    const File& after = read.simpleperf_files[i];
    EXPECT_EQ(after.path, before.path);
    EXPECT_EQ(after.kind, before.kind);
    EXPECT_EQ(after.min_address, before.min_address);
    EXPECT_EQ(after.min_address_offset, before.min_address_offset);
    EXPECT_EQ(after.dex_offsets, before.dex_offsets);
    ASSERT_EQ(after.symbols.size(), before.symbols.size());
    for (size_t j = 0; j < after.symbols.size(); ++j) {
      EXPECT_EQ(after.symbols[j].address, before.symbols[j].address);
      EXPECT_EQ(after.symbols[j].size, before.symbols[j].size);
      EXPECT_EQ(after.symbols[j].name, before.symbols[j].name);
    }
  }
}

struct Section {
  uint32_t bit;
  ByteBuilder bytes;
};

std::vector<Section> encode_all(const Features& features, ByteOrder order) {
  std::vector<Section> sections;
  for (uint32_t bit : features.present) {
    Section& section = sections.emplace_back(bit, ByteBuilder(order));
    EXPECT_TRUE(encode_feature(bit, features, {}, kAttrSize, section.bytes)) << bit;
  }
  return sections;
}

Features decode_all(const std::vector<Section>& sections, ByteOrder order) {
  Features features;
  for (const Section& section : sections) {
    EXPECT_TRUE(decode_feature(section.bit, section.bytes.view(), order, features)) << section.bit;
    features.present.push_back(section.bit);
  }
  return features;
}

void expect_same_texts(const Features& a, const Features& b) {
  EXPECT_EQ(a.hostname, b.hostname);
  EXPECT_EQ(a.os_release, b.os_release);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.cpu_desc, b.cpu_desc);
  EXPECT_EQ(a.cpu_id, b.cpu_id);
  EXPECT_EQ(a.command_line, b.command_line);
  EXPECT_EQ(a.simpleperf_meta, b.simpleperf_meta);
  EXPECT_EQ(a.interpreted_files, b.interpreted_files);
  EXPECT_EQ(as_text(a.tracing_data), as_text(b.tracing_data));
}

void expect_same_numbers(const Features& a, const Features& b) {
  EXPECT_EQ(a.present, b.present);
  EXPECT_EQ(a.cpus_available, b.cpus_available);
  EXPECT_EQ(a.cpus_online, b.cpus_online);
  EXPECT_EQ(a.total_mem_kb, b.total_mem_kb);
  EXPECT_EQ(a.branch_stack, b.branch_stack);
  EXPECT_EQ(a.clock_resolution_ns, b.clock_resolution_ns);
  EXPECT_EQ(a.dir_format_version, b.dir_format_version);
  EXPECT_EQ(a.sample_time->first_ns, b.sample_time->first_ns);
  EXPECT_EQ(a.sample_time->last_ns, b.sample_time->last_ns);
  EXPECT_EQ(a.clock_data->wall_clock_ns, b.clock_data->wall_clock_ns);
  EXPECT_EQ(a.compressed->mmap_length, b.compressed->mmap_length);
}

void expect_same_lists(const Features& a, const Features& b) {
  ASSERT_EQ(a.build_ids.size(), b.build_ids.size());
  for (size_t i = 0; i < a.build_ids.size(); ++i) {
    EXPECT_EQ(a.build_ids[i].build_id, b.build_ids[i].build_id);
    EXPECT_EQ(a.build_ids[i].path, b.build_ids[i].path);
    EXPECT_EQ(a.build_ids[i].misc, b.build_ids[i].misc);
  }
  ASSERT_TRUE(b.cpu_topology);
  EXPECT_EQ(a.cpu_topology->thread_siblings, b.cpu_topology->thread_siblings);
  EXPECT_EQ(a.cpu_topology->die_siblings, b.cpu_topology->die_siblings);
  ASSERT_EQ(a.cpu_topology->cpus.size(), b.cpu_topology->cpus.size());
  EXPECT_EQ(a.cpu_topology->cpus[1].core, b.cpu_topology->cpus[1].core);
  ASSERT_EQ(b.pmu_caps.size(), 2u);
  EXPECT_EQ(a.pmu_caps[0].caps, b.pmu_caps[0].caps);
  EXPECT_EQ(a.pmu_caps[1].pmu, b.pmu_caps[1].pmu);
  ASSERT_TRUE(b.sched_domains && b.sched_domains->cpus.size() == 2);
  EXPECT_EQ(b.sched_domains->most_levels, 2u);
  EXPECT_EQ(b.sched_domains->cpus[0].domains.at(1).name, "PKG");
  EXPECT_EQ(b.sched_domains->cpus[0].domains.at(1).mask, "0000000f");
  EXPECT_EQ(b.sched_domains->cpus[0].domains.at(1).cpus, "0-3");
  ASSERT_EQ(b.mem_topology->nodes.size(), 1u);
  EXPECT_EQ(a.mem_topology->nodes[0].bitmap, b.mem_topology->nodes[0].bitmap);
  ASSERT_EQ(b.event_descriptions.size(), 2u);
  EXPECT_EQ(a.event_descriptions[0].ids, b.event_descriptions[0].ids);
  EXPECT_EQ(a.event_descriptions[1].name, b.event_descriptions[1].name);
  EXPECT_EQ(a.groups.size(), b.groups.size());
  EXPECT_EQ(a.caches.size(), b.caches.size());
  EXPECT_EQ(a.hybrid_pmus.size(), b.hybrid_pmus.size());
  ASSERT_EQ(b.simpleperf_files.size(), 2u);
  EXPECT_EQ(a.simpleperf_files[1].dex_offsets, b.simpleperf_files[1].dex_offsets);
}

TEST(FeatureEncoder, EverySectionSurvivesBothByteOrders) {
  Features features = rich_features();
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    std::vector<Section> sections = encode_all(features, order);
    Features decoded = decode_all(sections, order);
    expect_same_texts(features, decoded);
    expect_same_numbers(features, decoded);
    expect_same_lists(features, decoded);
    std::vector<Section> again = encode_all(decoded, order);
    ASSERT_EQ(sections.size(), again.size());
    for (size_t i = 0; i < sections.size(); ++i)
      EXPECT_EQ(as_text(sections[i].bytes.view()), as_text(again[i].bytes.view()))
          << "section " << sections[i].bit;
  }
}

TEST(FeatureEncoder, EventsDescribeThemselves) {
  EventDesc event;
  event.attr.type = 1;
  event.name = "cpu-clock";
  event.ids = {5, 6};
  ByteBuilder out;
  ASSERT_TRUE(encode_feature(abi::kFeatureEventDesc, {}, std::span(&event, 1), kAttrSize, out));
  Features decoded;
  ASSERT_TRUE(decode_feature(abi::kFeatureEventDesc, out.view(), out.order(), decoded));
  ASSERT_EQ(decoded.event_descriptions.size(), 1u);
  EXPECT_EQ(decoded.event_descriptions[0].name, "cpu-clock");
  EXPECT_EQ(decoded.event_descriptions[0].ids, event.ids);
  EXPECT_EQ(decoded.event_descriptions[0].attr.type, 1u);
}

TEST(FeatureEncoder, UnknownBitsAreRefused) {
  ByteBuilder out;
  EXPECT_FALSE(encode_feature(200, {}, {}, kAttrSize, out));
  EXPECT_EQ(out.size(), 0u);
}

}  // namespace
}  // namespace sonde
