#include "bpf/aggregation/stack_sums.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "abi/regs.h"
#include "bpf/bpf_log.h"
#include "bpf/map_entries.h"
#include "bpf/programs/stack_sums.h"
#include "bpf/skeletons/stack_sums.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kSummer{"the BPF program that counts samples", "record without --aggregate"};
constexpr uint64_t kFirstContextMarker = static_cast<uint64_t>(-4095);  // PERF_CONTEXT_MAX

/// Until no BPF program that began before runs any more: they run in read-side sections of RCU.
void wait_for_running_programs() {
  constexpr useconds_t kLongerThanAnyProgram = 10'000;
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) ::usleep(kLongerThanAnyProgram);
}

/// Removes all entries that are in the map now.
template <typename Key>
void clear(const bpf_map* map) {
  int fd = bpf_map__fd(map);
  for (Key key{}; bpf_map_get_next_key(fd, nullptr, &key) == 0;)
    if (bpf_map_delete_elem(fd, &key) != 0) return;
}

std::vector<uint64_t> chain_of(const bpf_map* chains, uint64_t key) {
  summed_chain chain{};
  if (key == 0 || bpf_map_lookup_elem(bpf_map__fd(chains), &key, &chain) != 0) return {};
  std::vector<uint64_t> addresses;
  for (uint64_t address :
       std::span(chain.addresses).first(std::min<uint64_t>(chain.size, SUMMED_CHAIN_DEPTH)))
    if (address != 0 && address < kFirstContextMarker) addresses.push_back(address);
  return addresses;
}

}  // namespace

struct StackSums::Program {
  explicit Program(stack_sums* opened) : skeleton(opened) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { stack_sums__destroy(skeleton); }

  /// Counters of the program since the last call.
  static uint64_t since_last(uint64_t now, uint64_t& before) {
    return now - std::exchange(before, now);
  }

  stack_sums* skeleton;
  uint32_t most_entries = 0;
  uint64_t lost_samples = 0, lost_chains = 0;  // up to the last window
};

StackSums::StackSums(std::unique_ptr<Program> program) : program_(std::move(program)) {}
StackSums::StackSums(StackSums&&) noexcept = default;
StackSums& StackSums::operator=(StackSums&&) noexcept = default;
StackSums::~StackSums() = default;

Result<StackSums> StackSums::open(const Options& options) {
  BpfLog log;
  auto program = std::make_unique<Program>(stack_sums__open());
  stack_sums* skeleton = program->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kSummer);
  program->most_entries = std::max(options.most_entries, 1u);
  for (bpf_map* map : {skeleton->maps.even_chains, skeleton->maps.odd_chains,
                       skeleton->maps.even_sums, skeleton->maps.odd_sums})
    bpf_map__set_max_entries(map, program->most_entries);
  skeleton->rodata->with_kernel = options.kernel_chains;
  skeleton->rodata->with_user = options.user_chains;
  skeleton->rodata->with_cpu = options.by_cpu;
  skeleton->rodata->is_arm64 = abi::host_arch() == abi::Arch::kArm64;
  skeleton->rodata->depth = std::clamp(options.depth, 1u, uint32_t{SUMMED_CHAIN_DEPTH});
  if (stack_sums__load(skeleton) != 0) return bpf_refused(log, "load", kSummer);
  return StackSums(std::move(program));
}

int StackSums::program() const {
  return bpf_program__fd(program_->skeleton->progs.sum_sample);
}

bool StackSums::is_half_full() const {
  const auto& state = *program_->skeleton->bss;
  return __atomic_load_n(&state.used[state.window & 1], __ATOMIC_RELAXED) >=
         program_->most_entries / 2;
}

StackSums::Window StackSums::take() {
  auto& state = *program_->skeleton->bss;
  uint32_t ended = state.window;
  __atomic_store_n(&state.window, ended + 1, __ATOMIC_RELEASE);
  wait_for_running_programs();

  auto& maps = program_->skeleton->maps;
  bool odd = (ended & 1) != 0;
  const bpf_map* chains = odd ? maps.odd_chains : maps.even_chains;
  const bpf_map* sums = odd ? maps.odd_sums : maps.even_sums;
  Window window;
  for_each_entry<stack_sum_key, stack_sum>(
      sums, [&](const stack_sum_key& key, const stack_sum& sum) {
        window.rows.push_back({.pid = key.pid,
                               .tid = key.tid,
                               .cpu = key.cpu,
                               .ip = key.ip,
                               .count = sum.count,
                               .period = sum.period,
                               .last_ns = sum.last_ns,
                               .kernel_chain = chain_of(chains, key.kernel_chain),
                               .user_chain = chain_of(chains, key.user_chain)});
      });
  clear<stack_sum_key>(sums);
  clear<uint64_t>(chains);
  state.used[ended & 1] = 0;
  window.lost_samples = Program::since_last(state.lost_samples, program_->lost_samples);
  window.lost_chains = Program::since_last(state.lost_chains, program_->lost_chains);
  std::ranges::sort(window.rows, {}, &Row::last_ns);
  return window;
}

}  // namespace sonde
