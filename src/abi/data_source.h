// PERF_SAMPLE_DATA_SRC as text, in perf's words: "L1 hit", "L1 or L2 hit", "None". The bits are
// those of union perf_mem_data_src (include/uapi/linux/perf_event.h).
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace sonde::abi
