#include "objects/hidden_addresses.h"

#include <algorithm>

#include "abi/record_names.h"
#include "abi/regs.h"
#include "perfdata/header/tracing_data.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

constexpr uint64_t kFirstRegion = uint64_t{1} << 40, kEndOfRegions = uint64_t{0x7f} << 40;
constexpr uint64_t kRegionStep = uint64_t{1} << 30;
constexpr uint64_t kMaxObject = uint64_t{1} << 40;
constexpr uint64_t kModuleStep = uint64_t{1} << 16;
constexpr uint64_t kFirstKernelAddress = uint64_t{1} << 63;

/// Where the kernel is without randomisation, and where its modules may follow.
struct KernelPlaces {
  uint64_t base, modules;
};
KernelPlaces kernel_places(abi::Arch arch) {
  if (arch == abi::Arch::kArm64) return {0xffff800080000000, 0xffff800090000000};
  return {0xffffffff81000000, 0xffffffffc0000000};
}

constexpr uint64_t kTellTale = abi::kSampleRaw | abi::kSampleRegsUser | abi::kSampleRegsIntr |
                               abi::kSampleStackUser | abi::kSamplePhysAddr | abi::kSampleAux;

Bytes bytes_of(const std::vector<uint64_t>& words) {
  return std::as_bytes(std::span(words));
}

bool is_kernel_record_without_addresses(uint32_t type) {
  switch (type) {
    case abi::kRecordLost:
    case abi::kRecordComm:
    case abi::kRecordExit:
    case abi::kRecordThrottle:
    case abi::kRecordUnthrottle:
    case abi::kRecordFork:
    case abi::kRecordRead:
    case abi::kRecordLostSamples:
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
    case abi::kRecordNamespaces:
    case abi::kRecordBpfEvent:
    case abi::kRecordCgroup:
      return true;
    default:
      return false;
  }
}

}  // namespace

HiddenAddresses::HiddenAddresses(const Recording& recording)
    : events_(recording.events().all().begin(), recording.events().all().end()),
      next_region_(kFirstRegion) {
  KernelPlaces places =
      kernel_places(abi::arch_from_machine(recording.features().arch.value_or("")));
  kernel_base_ = places.base;
  next_module_ = places.modules;
  for (EventDesc& event : events_) {
    event.attr.sample_type &= ~kTellTale;
    event.attr.sample_regs_user = event.attr.sample_regs_intr = 0;
    event.attr.sample_stack_user = 0;
    if (event.attr.type != abi::kTypeBreakpoint) continue;
    event.attr.bp_addr = 0;
    event.name = "mem";
  }
}

/// perf refuses recordings of tracepoints without their formats, which have no addresses; the
/// kernel's symbols and strings, which follow them, do.
void HiddenAddresses::clean(Features& features) {
  Bytes whole = features.tracing_data;
  TracingData parsed = TracingData::parse(whole);
  const auto* rest = reinterpret_cast<const std::byte*>(parsed.kallsyms().data());
  if (parsed.complete() && rest > whole.data() + sizeof(uint32_t) &&
      rest <= whole.data() + whole.size()) {
    formats_.assign(whole.data(), rest - sizeof(uint32_t));
    constexpr size_t kEmptySections = 2 * sizeof(uint32_t) + sizeof(uint64_t);
    formats_.resize(formats_.size() + kEmptySections);
  }
  features.tracing_data = formats_;
  features.bpf_programs.clear();
  features.bpf_btf.clear();
  std::erase_if(features.present, [this](uint32_t section) {
    return (section == abi::kFeatureTracingData && formats_.empty()) ||
           section == abi::kFeatureBpfProgInfo || section == abi::kFeatureBpfBtf;
  });
}

bool HiddenAddresses::rewrite(const InjectedRecord& record, ByteBuilder& out) {
  switch (record.view.type) {
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return mapping(record, out);
    case abi::kRecordKsymbol:
      return kernel_symbol(record, out);
    case abi::kRecordCallchainDeferred:
      return deferred_chain(record, out);
    case abi::kRecordSample:
      return sample(record, out);
    default:
      break;
  }
  task(record);
  if (record.view.type >= abi::kRecordUserStart)
    return abi::record_type_name(record.view.type).empty();
  return !is_kernel_record_without_addresses(record.view.type);
}

void HiddenAddresses::map(Space& space, uint64_t start, uint64_t end, uint64_t shift) {
  auto at = space.lower_bound(start);
  if (at != space.begin()) {
    auto before = std::prev(at);
    Piece piece = before->second;
    if (piece.end > start) before->second.end = start;
    if (piece.end > end) space[end] = piece;
  }
  while (at != space.end() && at->first < end) {
    Piece piece = at->second;
    at = space.erase(at);
    if (piece.end > end) space[end] = piece;
  }
  space[start] = {end, shift};
}

uint64_t HiddenAddresses::translate(const Space& space, uint64_t address) {
  auto after = space.upper_bound(address);
  if (after == space.begin()) return 0;
  const Piece& piece = std::prev(after)->second;
  return address < piece.end ? address + piece.shift : 0;
}

uint64_t HiddenAddresses::hidden(uint32_t pid, uint64_t address) const {
  if (address >= kFirstKernelAddress) return translate(kernel_, address);
  auto process = processes_.find(pid);
  return process == processes_.end() ? 0 : translate(process->second, address);
}

std::vector<uint64_t> HiddenAddresses::hidden_chain(uint32_t pid, const WordView& chain) const {
  std::vector<uint64_t> words;
  words.reserve(chain.size());
  for (size_t i = 0; i < chain.size(); ++i)
    words.push_back(abi::is_callchain_context(chain[i]) ? chain[i] : hidden(pid, chain[i]));
  return words;
}

bool HiddenAddresses::mapping(const InjectedRecord& record, ByteBuilder& out) {
  auto mapped = decode_as<MmapRecord>(record.view, record.layout);
  if (!mapped || mapped->length == 0 || mapped->start.value + mapped->length < mapped->start.value)
    return true;
  uint16_t mode = record.view.cpu_mode();
  if (mode == abi::kMiscKernel)
    map_kernel(*mapped);
  else if (mode != abi::kMiscUser || !map_user(*mapped))
    return true;
  RecordFrame frame{.type = record.view.type,
                    .misc = record.view.misc,
                    .attr = &record.layout.attr(),
                    .id = decode_trailing_id(record.view, record.layout)};
  encode(*mapped, frame, out);
  return true;
}

/// Memory without a file has its address as offset, or none that means anything.
bool HiddenAddresses::map_user(MmapRecord& mapped) {
  uint64_t start = mapped.start.value;
  bool has_file = mapped.path.starts_with('/') && !mapped.path.starts_with("//") &&
                  mapped.offset.value != start;
  uint64_t offset = has_file ? mapped.offset.value : 0;
  if (offset > kMaxObject || mapped.length > kMaxObject) return false;
  uint64_t size = (offset + mapped.length + kRegionStep - 1) / kRegionStep * kRegionStep;
  Region& region = regions_[{std::string(mapped.path), start - offset}];
  if (region.size < size) {
    if (next_region_ + size > kEndOfRegions) return false;
    region = {next_region_, size};
    next_region_ += size;
  }
  uint64_t to = region.base + offset;
  map(processes_[mapped.pid], start, start + mapped.length, to - start);
  if (!has_file && mapped.offset.value == start) mapped.offset = FileOffset(to);
  mapped.start = RuntimeAddr(to);
  return true;
}

/// The offset of the kernel's own mapping is the address of the symbol that it is named after.
void HiddenAddresses::map_kernel(MmapRecord& mapped) {
  uint64_t start = mapped.start.value;
  bool is_image = mapped.path.starts_with("[kernel");
  uint64_t to = is_image ? kernel_base_ : place_in_kernel(mapped.length);
  map(kernel_, start, start + mapped.length, to - start);
  mapped.start = RuntimeAddr(to);
  if (is_image && mapped.offset.value >= kFirstKernelAddress)
    mapped.offset = FileOffset(mapped.offset.value + (to - start));
}

uint64_t HiddenAddresses::place_in_kernel(uint64_t size) {
  uint64_t place = next_module_;
  next_module_ += (size + kModuleStep - 1) / kModuleStep * kModuleStep;
  return place;
}

bool HiddenAddresses::kernel_symbol(const InjectedRecord& record, ByteBuilder& out) {
  auto symbol = decode_as<KsymbolRecord>(record.view, record.layout);
  if (!symbol) return true;
  uint64_t start = symbol->address.value;
  uint64_t end = start + symbol->length;
  if (end <= start) return true;
  constexpr uint16_t kUnregister = 1;  // linux/perf_event.h, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
  if ((symbol->flags & kUnregister) == 0)
    map(kernel_, start, end, place_in_kernel(symbol->length) - start);
  symbol->address = RuntimeAddr(translate(kernel_, start));
  RecordFrame frame{.type = record.view.type,
                    .misc = record.view.misc,
                    .attr = &record.layout.attr(),
                    .id = decode_trailing_id(record.view, record.layout)};
  encode(*symbol, frame, out);
  return true;
}

bool HiddenAddresses::deferred_chain(const InjectedRecord& record, ByteBuilder& out) const {
  auto deferred = decode_as<CallchainDeferredRecord>(record.view, record.layout);
  if (!deferred) return true;
  RecordFrame frame{.type = record.view.type,
                    .misc = record.view.misc,
                    .attr = &record.layout.attr(),
                    .id = decode_trailing_id(record.view, record.layout)};
  std::vector<uint64_t> words = hidden_chain(frame.id.pid, deferred->ips);
  deferred->ips = WordView(bytes_of(words), kHostOrder);
  encode(*deferred, frame, out);
  return true;
}

bool HiddenAddresses::sample(const InjectedRecord& record, ByteBuilder& out) const {
  Sample sample;
  if (!record.event.valid() || !decode_sample(record.view, record.layout, sample)) return true;
  uint32_t pid = sample.id.pid;
  sample.misc = record.view.misc;
  sample.ip = hidden(pid, sample.ip);
  sample.addr = hidden(pid, sample.addr);
  std::vector<uint64_t> chain = hidden_chain(pid, sample.callchain);
  sample.callchain = WordView(bytes_of(chain), kHostOrder);
  constexpr size_t kWordsPerBranch = 3;  // from, to, flags
  std::vector<uint64_t> branches;
  for (size_t i = 0; i < sample.branches.size(); ++i)
    branches.push_back(i % kWordsPerBranch == 2 ? sample.branches[i]
                                                : hidden(pid, sample.branches[i]));
  sample.branches = WordView(bytes_of(branches), kHostOrder);
  encode_sample(sample, events_[record.event.index()].attr, out);
  return true;
}

/// Processes inherit their parent's memory, until they replace it.
void HiddenAddresses::task(const InjectedRecord& record) {
  if (record.view.type == abi::kRecordFork) {
    auto fork = decode_as<TaskRecord>(record.view, record.layout);
    if (!fork || fork->pid == fork->ppid) return;
    auto parent = processes_.find(fork->ppid);
    if (parent != processes_.end()) processes_[fork->pid] = parent->second;
  } else if (record.view.type == abi::kRecordComm) {
    auto comm = decode_as<CommRecord>(record.view, record.layout);
    if (comm && comm->exec) processes_.erase(comm->pid);
  }
}

}  // namespace sonde
