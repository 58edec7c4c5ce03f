// PERF_SAMPLE_DATA_SRC as text, in perf's words: "L1 hit", "L1 or L2 hit", "None". The bits are
// those of union perf_mem_data_src (include/uapi/linux/perf_event.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sonde::abi {

/// What a sample without a data source has: every part not available (PERF_MEM_DATA_SRC_NONE).
inline constexpr uint64_t kNoDataSource = 0x5080021;

std::string memory_op_text(uint64_t data_src);     // "LOAD", "STORE"
std::string memory_level_text(uint64_t data_src);  // "L1 hit", "LFB/MAB hit", "N/A"
std::string memory_snoop_text(uint64_t data_src);  // "None", "HitM"
std::string memory_tlb_text(uint64_t data_src);    // "L1 or L2 hit"
std::string memory_lock_text(uint64_t data_src);   // "Yes", "No", "N/A"
std::string memory_block_text(uint64_t data_src);  // " N/A", " Data", " Addr"

/// "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
std::string data_source_text(uint64_t data_src);

/// What accesses can be told apart by, each with a few values: perf's output fields `op`, `cache`,
/// `memory`, `snoop` and `dtlb`.
enum class MemoryAspect : uint8_t { kOperation, kCache, kMemory, kSnoop, kTlb };
inline constexpr size_t kMemoryAspects = 5;
inline constexpr size_t kMostAspectValues = 7;  // of any aspect

struct MemoryAspectText {
  std::string_view field;                    // "op"
  std::string_view title;                    // "Mem Op"
  std::span<const std::string_view> values;  // "Load", "Store", …, "Other"
};
const MemoryAspectText& memory_aspect_text(MemoryAspect aspect);
/// The index of the value. Levels are those of the level's number: the older bits do not say what
/// kind of memory it is.
size_t memory_aspect_value(MemoryAspect aspect, uint64_t data_src);

}  // namespace sonde::abi
