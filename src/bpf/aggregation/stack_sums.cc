#include "bpf/aggregation/stack_sums.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>

#include "abi/regs.h"
#include "bpf/aggregation/sum_skeleton.h"
#include "bpf/bpf_log.h"
#include "bpf/skeletons/stack_sums.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kSummer{"the BPF program that counts samples", "record without --aggregate"};

}  // namespace

struct StackSums::Program {
  explicit Program(stack_sums* opened) : skeleton(opened) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { stack_sums__destroy(skeleton); }
  stack_sums* skeleton;
  SumMaps maps;
};

StackSums::StackSums(std::unique_ptr<Program> program) : program_(std::move(program)) {}
StackSums::StackSums(StackSums&&) noexcept = default;
StackSums& StackSums::operator=(StackSums&&) noexcept = default;
StackSums::~StackSums() = default;

Result<StackSums> StackSums::open(const StackSumOptions& options) {
  BpfLog log;
  auto program = std::make_unique<Program>(stack_sums__open());
  stack_sums* skeleton = program->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kSummer);
  program->maps = sum_maps_of(*skeleton, options);
  skeleton->rodata->is_arm64 = abi::host_arch() == abi::Arch::kArm64;
  if (stack_sums__load(skeleton) != 0) return bpf_refused(log, "load", kSummer);
  program->maps.set_state(&skeleton->bss->sum_state);
  return StackSums(std::move(program));
}

int StackSums::program() const {
  return bpf_program__fd(program_->skeleton->progs.sum_sample);
}

bool StackSums::is_nearly_full() const {
  return program_->maps.is_nearly_full();
}

StackSumWindow StackSums::take() {
  return program_->maps.take();
}

}  // namespace sonde
