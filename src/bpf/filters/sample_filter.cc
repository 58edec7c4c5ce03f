#include "bpf/filters/sample_filter.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>

#include "bpf/bpf_log.h"
#include "bpf/filters/shared_filter.h"
#include "bpf/skeletons/sample_filter.skel.h"

namespace sonde {
namespace {

constexpr BpfSubject kFilterProgram{"the BPF program that filters samples",
                                    "'report' filters afterwards"};

/// Whether the kernel fills in the data of samples before their program runs. It does since it
/// has the function that gives programs access to them.
bool prepares_samples() {
  btf* kernel = btf__load_vmlinux_btf();
  if (libbpf_get_error(kernel) != 0) return false;
  bool has_it = btf__find_by_name_kind(kernel, "bpf_cast_to_kern_ctx", BTF_KIND_FUNC) > 0;
  btf__free(kernel);
  return has_it;
}

}  // namespace

struct BpfSampleFilter::State {
  explicit State(sample_filter* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { sample_filter__destroy(skeleton); }
  sample_filter* skeleton;
  std::optional<SharedSampleFilter> shared;  // used instead
};

BpfSampleFilter::BpfSampleFilter(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfSampleFilter::BpfSampleFilter(BpfSampleFilter&&) noexcept = default;
BpfSampleFilter& BpfSampleFilter::operator=(BpfSampleFilter&&) noexcept = default;
BpfSampleFilter::~BpfSampleFilter() = default;

Result<BpfSampleFilter> BpfSampleFilter::load(const SampleFilterTerms& terms) {
  BpfLog log;
  if (!terms.needs_data.empty() && !prepares_samples())
    return fail(
        ErrorCode::kUnsupported,
        "--filter: '{}' needs Linux 6.2 or later, with BTF; pid, tid, cpu, uid, gid, cgroup "
        "and period work here, and 'report' filters afterwards",
        terms.needs_data);
  auto state = std::make_unique<State>(sample_filter__open());
  if (state->skeleton == nullptr) return bpf_refused(log, "open", kFilterProgram);
  auto& settings = *state->skeleton->rodata;
  std::ranges::copy(terms.tests, settings.tests);
  settings.test_count = static_cast<uint8_t>(terms.tests.size());
  if (sample_filter__load(state->skeleton) != 0) {
    Error refused = bpf_refused(log, "load", kFilterProgram).error();
    if (refused.code != ErrorCode::kPermission) return std::unexpected(std::move(refused));
    if (!SharedSampleFilter::is_pinned())
      return fail(refused.code, "{}; or root runs 'record --setup-filter pin' once, for all users",
                  refused);
    state->shared.emplace(TRY(SharedSampleFilter::open(terms)));
  }
  return BpfSampleFilter(std::move(state));
}

int BpfSampleFilter::fd() const {
  return state_->shared ? state_->shared->fd() : bpf_program__fd(state_->skeleton->progs.on_sample);
}

Result<> BpfSampleFilter::add_event(uint64_t id) {
  return state_->shared ? state_->shared->add_event(id) : Result<>();
}

std::optional<uint64_t> BpfSampleFilter::dropped() const {
  if (state_->shared) return state_->shared->dropped();
  return __atomic_load_n(&state_->skeleton->bss->dropped, __ATOMIC_RELAXED);
}

}  // namespace sonde
