#include "bpf/kernel_btf.h"

#include <bpf/btf.h>

#include <memory>

namespace sonde {

bool switches_tell_state() {
  // include/trace/bpf_probe.h: a pointer to void (*)(void* data, bool preempt, prev, next[, state])
  constexpr uint32_t kWithState = 5;
  std::unique_ptr<btf, decltype(&btf__free)> kernel(btf__load_vmlinux_btf(), &btf__free);
  if (!kernel) return false;
  int id = btf__find_by_name_kind(kernel.get(), "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
  if (id < 0) return false;
  const btf_type* type = btf__type_by_id(kernel.get(), static_cast<uint32_t>(id));
  type = btf__type_by_id(kernel.get(), type->type);
  if (type == nullptr || !btf_is_ptr(type)) return false;
  type = btf__type_by_id(kernel.get(), type->type);
  return type != nullptr && btf_is_func_proto(type) && btf_vlen(type) >= kWithState;
}

}  // namespace sonde
