#include "sched/schedstat_records.h"

#include <algorithm>

#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

void put_values(const std::vector<uint64_t>& values, size_t narrow, ByteBuilder& out) {
  for (size_t i = 0; i < values.size(); ++i)
    if (i < narrow)
      out.u32(static_cast<uint32_t>(values[i]));
    else
      out.u64(values[i]);
}

std::vector<uint64_t> take_values(ByteCursor& in, size_t count, size_t narrow) {
  std::vector<uint64_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = i < narrow ? in.u32() : in.u64();
  return values;
}

bool is_known(uint32_t version) {
  return version >= kFirstSchedstat && version <= kLastSchedstat;
}

std::string take_text(std::string_view& text) {
  std::string found(text.substr(0, text.find('\0')));
  text.remove_prefix(std::min(text.size(), found.size() + 1));
  return found;
}

}  // namespace

bool encode_schedstat(const Schedstat& stat, ByteBuilder& out) {
  auto version = static_cast<uint16_t>(stat.version);
  for (const SchedstatCpu& cpu : stat.cpus) {
    ByteBuilder payload(out.order());
    payload.u64(stat.jiffies);
    payload.u32(cpu.cpu);
    payload.u16(version);
    payload.u16(0);
    put_values(cpu.values, kNarrowCpuValues, payload);
    if (!encode_raw(abi::kRecordSchedstatCpu, 0, payload.view(), out)) return false;
    for (const SchedstatDomain& domain : cpu.domains) {
      payload.clear();
      payload.u64(stat.jiffies);
      payload.u32(cpu.cpu);
      payload.u16(version);
      payload.u16(static_cast<uint16_t>(domain.level));
      put_values(domain.values, domain.values.size(), payload);
      payload.text(domain.name);
      payload.u8(0);
      payload.padded_string(domain.cpus, 1);
      constexpr size_t kAlignment = 8;
      payload.zeros((kAlignment - payload.size() % kAlignment) % kAlignment);
      if (!encode_raw(abi::kRecordSchedstatDomain, 0, payload.view(), out)) return false;
    }
  }
  return true;
}

bool SchedstatReader::consume(const RecordView& record) {
  if (record.type != abi::kRecordSchedstatCpu && record.type != abi::kRecordSchedstatDomain)
    return true;
  ByteCursor in(record.payload, record.order);
  return record.type == abi::kRecordSchedstatCpu ? take_cpu(in) : take_domain(in);
}

bool SchedstatReader::take_cpu(ByteCursor& in) {
  uint64_t jiffies = in.u64();
  SchedstatCpu cpu{.cpu = in.u32(), .values = {}, .domains = {}};
  uint16_t version = in.u16();
  in.skip(sizeof(uint16_t));
  cpu.values = take_values(in, kSchedstatCpuValues, kNarrowCpuValues);
  if (!in.ok() || !is_known(version)) return false;
  // CPUs come in order of their numbers; one out of order begins the next snapshot.
  bool begins = snapshots_.empty() || snapshots_.back().version != version ||
                snapshots_.back().cpus.back().cpu >= cpu.cpu;
  if (begins) snapshots_.push_back({.version = version, .jiffies = jiffies, .cpus = {}});
  snapshots_.back().cpus.push_back(std::move(cpu));
  return true;
}

bool SchedstatReader::take_domain(ByteCursor& in) {
  in.skip(sizeof(uint64_t));
  uint32_t cpu = in.u32();
  uint16_t version = in.u16();
  SchedstatDomain domain{.level = in.u16(), .name = {}, .cpus = {}, .mask = {}, .values = {}};
  if (!is_known(version) || snapshots_.empty() || snapshots_.back().version != version ||
      snapshots_.back().cpus.back().cpu != cpu)
    return false;
  std::vector<SchedstatDomain>& domains = snapshots_.back().cpus.back().domains;
  if (!domains.empty() && domains.back().level >= domain.level) return false;
  size_t count = schedstat_domain_values(version);
  domain.values = take_values(in, count, count);
  if (!in.ok()) return false;
  std::string_view texts = as_text(in.rest());
  domain.name = take_text(texts);
  domain.cpus = take_text(texts);
  domains.push_back(std::move(domain));
  return true;
}

}  // namespace sonde
