#include "event/print_fmt/print_fmt_names.h"

#include <algorithm>
#include <array>

namespace sonde::print_fmt {
namespace {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

template <typename T, size_t n>
const T* find(const std::array<Named<T>, n>& list, std::string_view name) {
  auto found = std::ranges::find(list, name, &Named<T>::name);
  return found == list.end() ? nullptr : &found->value;
}

constexpr uint8_t kWord = 99;  // the width of the machine's long

constexpr auto kTypes = std::to_array<Named<IntType>>({
    {"char", {1, true}},
    {"bool", {1, false}},
    {"_Bool", {1, false}},
    {"short", {2, true}},
    {"int", {4, true}},
    {"unsigned", {4, false}},
    {"signed", {4, true}},
    {"long", {kWord, true}},
    {"u8", {1, false}},
    {"s8", {1, true}},
    {"u16", {2, false}},
    {"s16", {2, true}},
    {"u32", {4, false}},
    {"s32", {4, true}},
    {"u64", {8, false}},
    {"s64", {8, true}},
    {"__le16", {2, false}},
    {"__be16", {2, false}},
    {"__le32", {4, false}},
    {"__be32", {4, false}},
    {"__le64", {8, false}},
    {"__be64", {8, false}},
    {"uint8_t", {1, false}},
    {"int8_t", {1, true}},
    {"uint16_t", {2, false}},
    {"int16_t", {2, true}},
    {"uint32_t", {4, false}},
    {"int32_t", {4, true}},
    {"uint64_t", {8, false}},
    {"int64_t", {8, true}},
    {"uint", {4, false}},
    {"ushort", {2, false}},
    {"ulong", {kWord, false}},
    {"size_t", {kWord, false}},
    {"ssize_t", {kWord, true}},
    {"uintptr_t", {kWord, false}},
    {"off_t", {kWord, true}},
    {"loff_t", {8, true}},
    {"sector_t", {8, false}},
    {"blkcnt_t", {8, false}},
    {"pgoff_t", {kWord, false}},
    {"ino_t", {kWord, false}},
    {"dev_t", {4, false}},
    {"umode_t", {2, false}},
    {"pid_t", {4, true}},
    {"uid_t", {4, false}},
    {"gid_t", {4, false}},
    {"gfp_t", {4, false}},
    {"fmode_t", {4, false}},
    {"slab_flags_t", {4, false}},
    {"blk_opf_t", {4, false}},
    {"vm_fault_t", {4, false}},
    {"__kernel_rwf_t", {4, true}},
    {"rwf_t", {4, true}},
    {"ktime_t", {8, true}},
    {"time64_t", {8, true}},
    {"dma_addr_t", {8, false}},
    {"phys_addr_t", {8, false}},
    {"resource_size_t", {8, false}},
    {"gpa_t", {8, false}},
    {"gfn_t", {8, false}},
    {"gva_t", {kWord, false}},
    {"void", {0, false}},
});

// Kernel enumerators whose values are ABI or have not changed since they were introduced. The
// kernel writes most enumerators as numbers to format files (TRACE_DEFINE_ENUM); it forgot these.
constexpr auto kConstants = std::to_array<Named<int64_t>>({
    {"true", 1},
    {"false", 0},
    {"NULL", 0},
    {"HI_SOFTIRQ", 0},
    {"TIMER_SOFTIRQ", 1},
    {"NET_TX_SOFTIRQ", 2},
    {"NET_RX_SOFTIRQ", 3},
    {"BLOCK_SOFTIRQ", 4},
    {"IRQ_POLL_SOFTIRQ", 5},
    {"BLOCK_IOPOLL_SOFTIRQ", 5},
    {"TASKLET_SOFTIRQ", 6},
    {"SCHED_SOFTIRQ", 7},
    {"HRTIMER_SOFTIRQ", 8},
    {"RCU_SOFTIRQ", 9},
    {"HRTIMER_NORESTART", 0},
    {"HRTIMER_RESTART", 1},
    {"HRTIMER_MODE_ABS", 0},
    {"HRTIMER_MODE_REL", 1},
    {"HRTIMER_MODE_ABS_PINNED", 2},
    {"HRTIMER_MODE_REL_PINNED", 3},
    {"HRTIMER_MODE_ABS_SOFT", 4},
    {"HRTIMER_MODE_REL_SOFT", 5},
    {"HRTIMER_MODE_ABS_PINNED_SOFT", 6},
    {"HRTIMER_MODE_REL_PINNED_SOFT", 7},
    {"HRTIMER_MODE_ABS_HARD", 8},
    {"HRTIMER_MODE_REL_HARD", 9},
    {"HRTIMER_MODE_ABS_PINNED_HARD", 10},
    {"HRTIMER_MODE_REL_PINNED_HARD", 11},
    {"IOPRIO_CLASS_NONE", 0},
    {"IOPRIO_CLASS_RT", 1},
    {"IOPRIO_CLASS_BE", 2},
    {"IOPRIO_CLASS_IDLE", 3},
    {"IOPRIO_CLASS_INVALID", 7},
    {"TCP_ESTABLISHED", 1},
    {"TCP_SYN_SENT", 2},
    {"TCP_SYN_RECV", 3},
    {"TCP_FIN_WAIT1", 4},
    {"TCP_FIN_WAIT2", 5},
    {"TCP_TIME_WAIT", 6},
    {"TCP_CLOSE", 7},
    {"TCP_CLOSE_WAIT", 8},
    {"TCP_LAST_ACK", 9},
    {"TCP_LISTEN", 10},
    {"TCP_CLOSING", 11},
    {"TCP_NEW_SYN_RECV", 12},
    {"FAULT_FLAG_WRITE", 0x1},
    {"FAULT_FLAG_MKWRITE", 0x2},
    {"FAULT_FLAG_ALLOW_RETRY", 0x4},
    {"FAULT_FLAG_RETRY_NOWAIT", 0x8},
    {"FAULT_FLAG_KILLABLE", 0x10},
    {"FAULT_FLAG_TRIED", 0x20},
    {"FAULT_FLAG_USER", 0x40},
    {"FAULT_FLAG_REMOTE", 0x80},
    {"FAULT_FLAG_INSTRUCTION", 0x100},
    {"FAULT_FLAG_INTERRUPTIBLE", 0x200},
    {"VM_FAULT_OOM", 0x1},
    {"VM_FAULT_SIGBUS", 0x2},
    {"VM_FAULT_MAJOR", 0x4},
    {"VM_FAULT_HWPOISON", 0x10},
    {"VM_FAULT_HWPOISON_LARGE", 0x20},
    {"VM_FAULT_SIGSEGV", 0x40},
    {"VM_FAULT_NOPAGE", 0x100},
    {"VM_FAULT_LOCKED", 0x200},
    {"VM_FAULT_RETRY", 0x400},
    {"VM_FAULT_FALLBACK", 0x800},
    {"VM_FAULT_DONE_COW", 0x1000},
    {"VM_FAULT_NEEDDSYNC", 0x2000},
    {"VM_FAULT_COMPLETED", 0x4000},
    {"PM_QOS_ADD_REQ", 0},
    {"PM_QOS_UPDATE_REQ", 1},
    {"PM_QOS_REMOVE_REQ", 2},
});

// arch/x86/include/asm/kvm_host.h, union kvm_mmu_page_role.
constexpr auto kPageRole = std::to_array<Named<BitField>>({
    {"word", {0, 32}},
    {"level", {0, 4}},
    {"has_4_byte_gpte", {4, 1}},
    {"quadrant", {5, 2}},
    {"direct", {7, 1}},
    {"access", {8, 3}},
    {"invalid", {11, 1}},
    {"efer_nx", {12, 1}},
    {"cr0_wp", {13, 1}},
    {"smep_andnot_wp", {14, 1}},
    {"smap_andnot_wp", {15, 1}},
    {"ad_disabled", {16, 1}},
    {"guest_mode", {17, 1}},
    {"smm", {24, 8}},
});

}  // namespace

std::optional<IntType> named_type(std::string_view name, uint32_t word_size) {
  const IntType* known =
      find(kTypes, name.starts_with("__u") || name.starts_with("__s") ? name.substr(2) : name);
  if (known == nullptr) return std::nullopt;
  IntType type = *known;
  if (type.bytes == kWord) type.bytes = static_cast<uint8_t>(word_size);
  return type;
}

bool is_type_keyword(std::string_view word) {
  static constexpr std::array kWords = std::to_array<std::string_view>(
      {"const", "volatile", "struct", "union", "enum", "unsigned", "signed", "char", "short", "int",
       "long", "void", "static", "__user", "__force", "__kernel", "__percpu", "__seg_gs"});
  return std::ranges::find(kWords, word) != kWords.end();
}

std::optional<int64_t> named_constant(std::string_view name) {
  const int64_t* known = find(kConstants, name);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

std::optional<BitField> bit_field(std::string_view tag, std::string_view member) {
  if (tag != "kvm_mmu_page_role") return std::nullopt;
  const BitField* known = find(kPageRole, member);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

}  // namespace sonde::print_fmt
