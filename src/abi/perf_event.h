// The kernel's perf_event ABI up to Linux 6.19, as data. We have our own definitions because the
// build machine's header may be older than the recordings that we read; numbers and layouts are
// those of include/uapi/linux/perf_event.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::abi {

/// perf_event_attr.type: the kernel's own PMUs. Others get their number from sysfs.
enum EventType : uint32_t {
  kTypeHardware = 0,
  kTypeSoftware = 1,
  kTypeTracepoint = 2,
  kTypeHwCache = 3,
  kTypeRaw = 4,
  kTypeBreakpoint = 5,
};

enum HardwareEvent : uint64_t {
  kHwCpuCycles = 0,
  kHwInstructions,
  kHwCacheReferences,
  kHwCacheMisses,
  kHwBranchInstructions,
  kHwBranchMisses,
  kHwBusCycles,
  kHwStalledCyclesFrontend,
  kHwStalledCyclesBackend,
  kHwRefCpuCycles,
};

enum SoftwareEvent : uint64_t {
  kSwCpuClock = 0,
  kSwTaskClock,
  kSwPageFaults,
  kSwContextSwitches,
  kSwCpuMigrations,
  kSwPageFaultsMin,
  kSwPageFaultsMaj,
  kSwAlignmentFaults,
  kSwEmulationFaults,
  kSwDummy,
  kSwBpfOutput,
  kSwCgroupSwitches,
};

/// perf_event_attr.sample_type
enum SampleBit : uint64_t {
  kSampleIp = 1u << 0,
  kSampleTid = 1u << 1,
  kSampleTime = 1u << 2,
  kSampleAddr = 1u << 3,
  kSampleRead = 1u << 4,
  kSampleCallchain = 1u << 5,
  kSampleId = 1u << 6,
  kSampleCpu = 1u << 7,
  kSamplePeriod = 1u << 8,
  kSampleStreamId = 1u << 9,
  kSampleRaw = 1u << 10,
  kSampleBranchStack = 1u << 11,
  kSampleRegsUser = 1u << 12,
  kSampleStackUser = 1u << 13,
  kSampleWeight = 1u << 14,
  kSampleDataSrc = 1u << 15,
  kSampleIdentifier = 1u << 16,
  kSampleTransaction = 1u << 17,
  kSampleRegsIntr = 1u << 18,
  kSamplePhysAddr = 1u << 19,
  kSampleAux = 1u << 20,
  kSampleCgroup = 1u << 21,
  kSampleDataPageSize = 1u << 22,
  kSampleCodePageSize = 1u << 23,
  kSampleWeightStruct = 1u << 24,
};
inline constexpr uint64_t kSampleWeightAny = kSampleWeight | kSampleWeightStruct;

/// perf_event_attr.read_format
enum ReadFormat : uint64_t {
  kFormatTotalTimeEnabled = 1u << 0,
  kFormatTotalTimeRunning = 1u << 1,
  kFormatId = 1u << 2,
  kFormatGroup = 1u << 3,
  kFormatLost = 1u << 4,
};

/// perf_event_attr.branch_sample_type
enum BranchBit : uint64_t {
  kBranchUser = 1u << 0,
  kBranchKernel = 1u << 1,
  kBranchHv = 1u << 2,
  kBranchAny = 1u << 3,
  kBranchAnyCall = 1u << 4,
  kBranchAnyReturn = 1u << 5,
  kBranchIndCall = 1u << 6,
  kBranchAbortTx = 1u << 7,
  kBranchInTx = 1u << 8,
  kBranchNoTx = 1u << 9,
  kBranchCond = 1u << 10,
  kBranchCallStack = 1u << 11,
  kBranchIndJump = 1u << 12,
  kBranchCall = 1u << 13,
  kBranchNoFlags = 1u << 14,
  kBranchNoCycles = 1u << 15,
  kBranchTypeSave = 1u << 16,
  kBranchHwIndex = 1u << 17,
  kBranchPrivSave = 1u << 18,
  kBranchCounters = 1u << 19,
};

/// perf_event_attr.sample_regs_* ABI word in samples.
enum SampleRegsAbi : uint64_t { kRegsAbiNone = 0, kRegsAbi32 = 1, kRegsAbi64 = 2 };

/// Markers inside call chains: the entries after a marker are from this context.
enum CallchainContext : uint64_t {
  kContextHv = static_cast<uint64_t>(-32),
  kContextKernel = static_cast<uint64_t>(-128),
  kContextUser = static_cast<uint64_t>(-512),
  kContextUserDeferred = static_cast<uint64_t>(-640),
  kContextGuest = static_cast<uint64_t>(-2048),
  kContextGuestKernel = static_cast<uint64_t>(-2176),
  kContextGuestUser = static_cast<uint64_t>(-2560),
  kContextMax = static_cast<uint64_t>(-4095),
};
[[nodiscard]] constexpr bool is_callchain_context(uint64_t ip) {
  return ip >= kContextMax;
}

/// Record types. From 64 on they are the recording tool's own; record_types.def lists them with
/// names.
enum RecordType : uint32_t {
#define RECORD_TYPE(number, name, text) kRecord##name = number,
#include "abi/record_types.def"
#undef RECORD_TYPE
};
inline constexpr uint32_t kRecordUserStart = 64;
/// simpleperf's private records start here.
inline constexpr uint32_t kRecordSimpleperfStart = 32768;

/// perf_event_header.misc
enum RecordMisc : uint16_t {
  kMiscCpuModeMask = 7,
  kMiscCpuModeUnknown = 0,
  kMiscKernel = 1,
  kMiscUser = 2,
  kMiscHypervisor = 3,
  kMiscGuestKernel = 4,
  kMiscGuestUser = 5,
  kMiscProcMapParseTimeout = 1u << 12,  // MMAP*
  kMiscMmapData = 1u << 13,             // MMAP*
  kMiscCommExec = 1u << 13,             // COMM
  kMiscForkExec = 1u << 13,             // FORK, perf's own
  kMiscSwitchOut = 1u << 13,            // SWITCH*
  kMiscExactIp = 1u << 14,              // SAMPLE
  kMiscSwitchOutPreempt = 1u << 14,     // SWITCH*
  kMiscMmapBuildId = 1u << 14,          // MMAP2
};

/// The eight bytes before every record.
struct RecordHeader {
  uint32_t type;
  uint16_t misc;
  uint16_t size;  // whole record, header included
};
static_assert(sizeof(RecordHeader) == 8);

/// Sizes of perf_event_attr over the years.
inline constexpr uint32_t kAttrSizeVer0 = 64;
inline constexpr uint32_t kAttrSizeVer8 = 136;

/// perf_event_attr, VER8. Bit fields are declared in the order of a little-endian kernel; a file of
/// the other byte order is decoded field by field (perfdata/records/attr_codec.h), never by
/// swapping this struct in place.
struct EventAttr {
  uint32_t type = 0;
  uint32_t size = kAttrSizeVer8;
  uint64_t config = 0;
  uint64_t sample_period = 0;  // or sample_freq, if `freq`
  uint64_t sample_type = 0;
  uint64_t read_format = 0;

#define ATTR_FLAG(name) uint64_t name : 1 = 0;
#define ATTR_FLAG_BITS(name, bits) uint64_t name : bits = 0;
#include "abi/attr_flags.def"
#undef ATTR_FLAG
#undef ATTR_FLAG_BITS

  uint32_t wakeup_events = 0;  // or wakeup_watermark, if `watermark`
  uint32_t bp_type = 0;
  uint64_t bp_addr = 0;  // config1
  uint64_t bp_len = 0;   // config2
  uint64_t branch_sample_type = 0;
  uint64_t sample_regs_user = 0;
  uint32_t sample_stack_user = 0;
  int32_t clockid = 0;
  uint64_t sample_regs_intr = 0;
  uint32_t aux_watermark = 0;
  uint16_t sample_max_stack = 0;
  uint16_t reserved_2 = 0;
  uint32_t aux_sample_size = 0;
  uint32_t aux_action = 0;  // aux_start_paused, aux_pause, aux_resume in bits 0 to 2
  uint64_t sig_data = 0;
  uint64_t config3 = 0;

  [[nodiscard]] uint64_t config1() const { return bp_addr; }
  [[nodiscard]] uint64_t config2() const { return bp_len; }
  [[nodiscard]] bool samples(uint64_t bits) const { return (sample_type & bits) != 0; }
  bool operator==(const EventAttr&) const = default;
};
static_assert(sizeof(EventAttr) == kAttrSizeVer8);

/// One entry of a branch stack (PERF_SAMPLE_BRANCH_STACK).
struct BranchEntry {
  uint64_t from;
  uint64_t to;
  uint64_t
      flags;  // mispred:1 predicted:1 in_tx:1 abort:1 cycles:16 type:4 spec:2 new_type:4 priv:3

  [[nodiscard]] bool mispredicted() const { return (flags & 1) != 0; }
  [[nodiscard]] bool predicted() const { return (flags & 2) != 0; }
  [[nodiscard]] bool in_tx() const { return (flags & 4) != 0; }
  [[nodiscard]] bool aborted() const { return (flags & 8) != 0; }
  [[nodiscard]] uint32_t cycles() const { return static_cast<uint32_t>((flags >> 4) & 0xffff); }
  [[nodiscard]] uint32_t branch_type() const { return static_cast<uint32_t>((flags >> 20) & 0xf); }
  bool operator==(const BranchEntry&) const = default;
};

}  // namespace sonde::abi
