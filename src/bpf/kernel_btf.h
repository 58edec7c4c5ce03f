// Facts from the running kernel's BTF that a BPF program cannot find out by CO-RE.
#pragma once

namespace sonde {

/// Whether sched_switch passes the state in which a task left its CPU (Linux 5.18; backported to
/// some earlier kernels). Otherwise the state is read from the task, where a waker may already have
/// changed it.
[[nodiscard]] bool switches_tell_state();

}  // namespace sonde
