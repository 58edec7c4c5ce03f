#include "capture/recorders/record_scan.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "capture/synthesis/object_build_id.h"

namespace sonde {
namespace {

constexpr uint32_t kKernelPid = UINT32_MAX;
constexpr unsigned kPageShift = 12;
constexpr int kRoundsToRemember = 2;
constexpr int kMaxAncestors = 16;

/// Names that do not denote an object with a build id.
bool is_anonymous(std::string_view path) {
  if (path.empty() || path.starts_with("//anon") || path.starts_with("/dev/zero") ||
      path.starts_with("/anon_hugepage") || path.starts_with("/SYSV"))
    return true;
  return path.starts_with('[') && path != "[vdso]";
}

}  // namespace

RecordScan::RecordScan(const std::vector<abi::EventAttr>& attrs, Options options)
    : options_(options) {
  bool all_times = true;
  bool identifier = false;
  for (const abi::EventAttr& attr : attrs) {
    all_times &= attr.samples(abi::kSampleTime);
    identifier |= attr.samples(abi::kSampleIdentifier);
  }
  uint32_t base = identifier ? 8 : 0;
  places_ = {.ip = base, .tid = base + 8, .time = all_times ? base + 16 : Places::kNone};
}

void RecordScan::piece(Bytes first, Bytes second) {
  std::lock_guard lock(mutex_);
  walk(first);
  if (second.empty()) return;
  // A record that wraps around the end of the ring is assembled in a separate buffer.
  size_t position = 0;
  while (position + sizeof(abi::RecordHeader) <= first.size()) {
    uint16_t size = load<uint16_t>(first.data() + position + 6);
    if (size < sizeof(abi::RecordHeader) || position + size > first.size()) break;
    position += size;
  }
  Bytes begun = first.subspan(position);
  size_t rest = 0;
  if (!begun.empty()) {
    uint16_t size = load<uint16_t>(begun.data() + 6);  // a header never wraps
    rest = std::min<size_t>(size - std::min<size_t>(size, begun.size()), second.size());
    joined_.assign(begun.begin(), begun.end());
    joined_.insert(joined_.end(), second.begin(),
                   second.begin() + static_cast<std::ptrdiff_t>(rest));
    walk(joined_);
  }
  walk(second.subspan(rest));
}

void RecordScan::walk(Bytes records) {
  const std::byte* at = records.data();
  size_t left = records.size();
  while (left >= sizeof(abi::RecordHeader)) {
    abi::RecordHeader header;
    std::memcpy(&header, at, sizeof header);
    if (header.size < sizeof header || header.size > left) return;
    record(at, header);
    at += header.size;
    left -= header.size;
  }
}

void RecordScan::record(const std::byte* at, const abi::RecordHeader& header) {
  const std::byte* payload = at + sizeof header;
  size_t size = header.size - sizeof header;
  switch (header.type) {
    case abi::kRecordSample:
      sample(payload, header);
      break;
    case abi::kRecordLost:
      if (size < 16) break;
      counts_.lost_events += load<uint64_t>(payload + 8);
      ++counts_.lost_chunks;
      break;
    case abi::kRecordLostSamples:
      if (size >= 8) counts_.lost_samples += load<uint64_t>(payload);
      break;
    case abi::kRecordAux: {
      // linux/perf_event.h: PERF_AUX_FLAG_TRUNCATED, PERF_AUX_FLAG_PARTIAL, after offset and size.
      constexpr uint64_t kTruncated = 1, kPartial = 4;
      if (size >= 24 && (load<uint64_t>(payload + 16) & (kTruncated | kPartial)) != 0)
        ++counts_.lost_aux;
      break;
    }
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      if (options_.objects) mapping(at, header);
      break;
    case abi::kRecordFork:
    case abi::kRecordExit:
      if (options_.objects && size >= 16) task(payload, header.type);
      break;
    default:
      break;
  }
}

void RecordScan::sample(const std::byte* payload, const abi::RecordHeader& header) {
  ++counts_.samples;
  size_t size = header.size - sizeof header;
  if (size < places_.tid + 8) return;
  if (places_.time != Places::kNone && size >= places_.time + 8) {
    uint64_t time = load<uint64_t>(payload + places_.time);
    counts_.first_ns = std::min(counts_.first_ns, time);
    counts_.last_ns = std::max(counts_.last_ns, time);
  }
  if (!options_.objects || options_.all_objects) return;
  uint64_t page = load<uint64_t>(payload + places_.ip) >> kPageShift;
  switch (header.misc & abi::kMiscCpuModeMask) {
    case abi::kMiscUser:
      touched_.insert({load<uint32_t>(payload + places_.tid), page});
      break;
    case abi::kMiscKernel:
      touched_.insert({kKernelPid, page});
      break;
    default:
      break;
  }
}

void RecordScan::mapping(const std::byte* at, const abi::RecordHeader& header) {
  // perf_event_open(2): pid, tid, addr, len, pgoff; for MMAP2 then inode or build id, prot, flags;
  // then the name.
  size_t name_at = sizeof header + (header.type == abi::kRecordMmap2 ? 64 : 32);
  if (header.size <= name_at) return;
  const std::byte* payload = at + sizeof header;
  auto pid = load<uint32_t>(payload);
  uint64_t start = load<uint64_t>(payload + 8);
  uint64_t length = load<uint64_t>(payload + 16);
  std::string_view name(reinterpret_cast<const char*>(at + name_at), header.size - name_at);
  name = name.substr(0, name.find('\0'));

  bool kernel = (header.misc & abi::kMiscCpuModeMask) == abi::kMiscKernel;
  if (kernel) {
    pid = kKernelPid;
    if (name.starts_with("[kernel.kallsyms]")) name = "[kernel.kallsyms]";
  } else if (is_anonymous(name)) {
    return;
  }
  FileIdentity file;
  bool carries_file =
      header.type == abi::kRecordMmap2 && (header.misc & abi::kMiscMmapBuildId) == 0;
  if (!kernel && carries_file)
    file = {load<uint32_t>(payload + 32), load<uint32_t>(payload + 36),
            load<uint64_t>(payload + 40)};
  uint32_t object =
      object_of({name, file}, kernel ? HitObject::Kind::kKernel : HitObject::Kind::kUser, pid);
  if (options_.all_objects) hit(object);
  Process& process = processes_[pid];
  uint64_t end = start + length;
  process.mappings.add(start, end < start ? UINT64_MAX : end, object);
  process.objects.insert(object);
}

void RecordScan::task(const std::byte* payload, uint32_t type) {
  auto pid = load<uint32_t>(payload);
  auto parent = load<uint32_t>(payload + 4);
  auto tid = load<uint32_t>(payload + 8);
  if (type == abi::kRecordFork) {
    if (pid != parent) processes_[pid].parent = parent;
  } else if (pid == tid) {
    if (auto found = processes_.find(pid); found != processes_.end())
      found->second.ended_rounds = 0;
  }
}

void RecordScan::end_round() {
  std::lock_guard lock(mutex_);
  touch_mapped_objects();
  forget_ended();
}

void RecordScan::touch_mapped_objects() {
  for (const Key& key : touched_)
    if (auto object = find(key.pid, key.page)) hit(*object);
  if (options_.call_chains) touch_whole_processes();
  touched_.clear();
}

/// Callers may be anywhere in the process of a sample. Chains are not read for this: an object too
/// many costs less than that.
void RecordScan::touch_whole_processes() {
  std::unordered_set<uint32_t> seen;
  for (const Key& key : touched_) {
    uint32_t pid = key.pid;
    for (int depth = 0; depth < kMaxAncestors && pid != kKernelPid && seen.insert(pid).second;
         ++depth) {
      auto process = processes_.find(pid);
      if (process == processes_.end()) break;
      for (uint32_t object : process->second.objects) hit(object);
      if (!process->second.mappings.empty()) break;
      pid = process->second.parent;
    }
  }
}

void RecordScan::forget_ended() {
  std::erase_if(processes_,
                [](const auto& entry) { return entry.second.ended_rounds > kRoundsToRemember; });
  for (auto& [pid, process] : processes_)
    if (process.ended_rounds >= 0) ++process.ended_rounds;
}

std::optional<uint32_t> RecordScan::find(uint32_t pid, uint64_t page) const {
  uint64_t begin = page << kPageShift;
  uint64_t end = begin + (uint64_t{1} << kPageShift);
  for (int depth = 0; depth < kMaxAncestors; ++depth) {
    auto process = processes_.find(pid);
    if (process == processes_.end()) return std::nullopt;
    if (auto object = process->second.mappings.find(begin, end)) return object;
    // A child that has not called exec still runs in its parent's mappings.
    pid = process->second.parent;
  }
  return std::nullopt;
}

size_t RecordScan::ObjectHash::operator()(const ObjectName& name) const {
  return XXH3_64bits_withSeed(name.path.data(), name.path.size(), name.file.inode);
}

uint32_t RecordScan::object_of(const ObjectName& name, HitObject::Kind kind, uint32_t pid) {
  constexpr size_t kMaxPids = 8;
  bool is_kernel = kind == HitObject::Kind::kKernel;
  uint32_t object = 0;
  if (auto known = object_ids_.find(name); known != object_ids_.end()) {
    object = *known;
  } else {
    object = static_cast<uint32_t>(objects_.size());
    objects_.push_back(
        {std::string(name.path), kind, is_kernel ? -1 : static_cast<int32_t>(pid), name.file});
    object_hit_.push_back(false);
    object_ids_.insert(object);
  }
  std::vector<uint32_t>& pids = objects_[object].pids;
  if (!is_kernel && pids.size() < kMaxPids && std::ranges::find(pids, pid) == pids.end())
    pids.push_back(pid);
  return object;
}

void RecordScan::hit(uint32_t object) {
  if (object_hit_[object]) return;
  object_hit_[object] = true;
  hits_.push_back(object);
  if (options_.hold_files) hold(objects_[object]);
}

void RecordScan::hold(HitObject& object) {
  constexpr size_t kMaxHeld = 512;
  if (object.held_fd >= 0 || held_.size() >= kMaxHeld || !path_will_not_do(object)) return;
  Fd fd = open_object(object);
  if (!fd.valid()) return;
  object.held_fd = fd.get();
  held_.push_back(std::move(fd));
}

std::vector<HitObject> RecordScan::hits(size_t first, size_t most) const {
  std::lock_guard lock(mutex_);
  std::vector<HitObject> hits;
  for (size_t i = first; i < hits_.size() && hits.size() < most; ++i)
    hits.push_back(objects_[hits_[i]]);
  return hits;
}

void RecordScan::restart() {
  std::lock_guard lock(mutex_);
  counts_ = {};
  hits_.clear();
  object_hit_.assign(object_hit_.size(), false);
}

}  // namespace sonde
