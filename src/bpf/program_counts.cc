#include "bpf/program_counts.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "bpf/bpf_log.h"
#include "bpf/counter_programs.h"
#include "bpf/programs/cpu_counts.h"
#include "bpf/skeletons/program_counts.skel.h"

namespace sonde {

static_assert(ProgramCounts::kMaxEvents == CPU_COUNT_EVENTS);

struct ProgramCounts::Watched {
  explicit Watched(program_counts* opened) : skeleton(opened) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { program_counts__destroy(skeleton); }
  program_counts* skeleton;
};

ProgramCounts::ProgramCounts(std::vector<std::unique_ptr<Watched>> watched)
    : watched_(std::move(watched)) {}
ProgramCounts::ProgramCounts(ProgramCounts&&) noexcept = default;
ProgramCounts& ProgramCounts::operator=(ProgramCounts&&) noexcept = default;
ProgramCounts::~ProgramCounts() = default;

namespace {

std::unexpected<Error> refused(uint32_t id, const BpfLog& log, std::string_view what) {
  int error = errno;
  std::string cause = log.cause();
  // The verifier's wording, which names neither the program nor its kind.
  if (log.text().contains("Cannot recursively attach"))
    return fail(ErrorCode::kUnsupported,
                "cannot {} BPF program {}: it is itself a tracing program (fentry, fexit, tp_btf), "
                "and this kernel allows no other to be attached to those",
                what, id);
  if (error == EPERM)
    return fail(ErrorCode::kPermission, "cannot {} BPF program {}: {}; {}", what, id,
                std::strerror(error), why_bpf_is_not_permitted());
  return fail(error == EACCES ? ErrorCode::kPermission : ErrorCode::kUnsupported,
              "cannot {} BPF program {}: {}{}{}", what, id, std::strerror(error),
              cause.empty() ? "" : ": ", cause);
}

/// The name of the program's entry function, according to its type information.
Result<std::string> entry_of(uint32_t id, int program_fd) {
  auto unknown = [&] {
    return fail(ErrorCode::kUnsupported,
                "BPF program {} has no type information (BTF): its entry cannot be probed", id);
  };
  bpf_prog_info info{};
  bpf_func_info entry{};
  uint32_t size = sizeof info;
  info.nr_func_info = 1;
  info.func_info_rec_size = sizeof entry;
  info.func_info = reinterpret_cast<uint64_t>(&entry);
  if (bpf_obj_get_info_by_fd(program_fd, &info, &size) != 0 || info.btf_id == 0 ||
      info.nr_func_info == 0)
    return unknown();
  std::unique_ptr<btf, void (*)(btf*)> types(btf__load_from_kernel_by_id(info.btf_id), btf__free);
  if (!types) return unknown();
  const btf_type* function = btf__type_by_id(types.get(), entry.type_id);
  const char* name =
      function != nullptr ? btf__name_by_offset(types.get(), function->name_off) : nullptr;
  if (name == nullptr || *name == 0) return unknown();
  return std::string(name);
}

}  // namespace

Result<ProgramCounts> ProgramCounts::open(const std::vector<uint32_t>& program_ids,
                                          std::span<const Fd> counter_maps) {
  if (counter_maps.size() > kMaxEvents)
    return fail(ErrorCode::kUnsupported, "-b counts at most {} events", kMaxEvents);
  std::vector<std::unique_ptr<Watched>> all;
  for (uint32_t id : program_ids) {
    BpfLog log;
    Fd program(bpf_prog_get_fd_by_id(id));
    if (!program.valid()) return refused(id, log, "find");
    std::string entry = TRY(entry_of(id, program.get()));
    auto watched = std::make_unique<Watched>(program_counts__open());
    program_counts* skeleton = watched->skeleton;
    if (skeleton == nullptr) return refused(id, log, "watch");
    skeleton->rodata->event_count = static_cast<uint32_t>(counter_maps.size());
    for (bpf_program* probe : {skeleton->progs.on_entry, skeleton->progs.on_exit})
      if (bpf_program__set_attach_target(probe, program.get(), entry.c_str()) != 0)
        return refused(id, log, "watch");
    if (program_counts__load(skeleton) != 0) return refused(id, log, "watch");
    if (!put_counters(skeleton->maps.counters, counter_maps)) return refused(id, log, "count in");
    if (program_counts__attach(skeleton) != 0) return refused(id, log, "watch");
    all.push_back(std::move(watched));
  }
  return ProgramCounts(std::move(all));
}

void ProgramCounts::set_enabled(bool enabled) {
  for (const auto& watched : watched_)
    __atomic_store_n(&watched->skeleton->bss->enabled, static_cast<uint8_t>(enabled),
                     __ATOMIC_RELEASE);
}

std::vector<CpuCount> ProgramCounts::by_cpu(uint32_t event) const {
  std::vector<CpuCount> sums;
  for (const auto& watched : watched_) {
    std::vector<CpuCount> counts = counts_by_cpu(watched->skeleton->maps.totals, event);
    sums.resize(counts.size());
    for (size_t i = 0; i < counts.size(); ++i) {
      sums[i].value += counts[i].value;
      sums[i].enabled_ns += counts[i].enabled_ns;
      sums[i].running_ns += counts[i].running_ns;
    }
  }
  return sums;
}

}  // namespace sonde
