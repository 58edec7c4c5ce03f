#include "bpf/unwinding/stack_walker.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "base/file.h"
#include "bpf/aggregation/sum_skeleton.h"
#include "bpf/bpf_log.h"
#include "bpf/bpf_ring.h"
#include "bpf/skeletons/stack_walk.skel.h"
#include "bpf/unwinding/walk_machine.h"

namespace sonde {
namespace {

constexpr BpfSubject kStackWalker{"the BPF program that walks user stacks",
                                  "--call-graph dwarf unwinds without it"};

/// Names what of the features that appeared last (helpers and types) the kernel lacks, if any. It
/// takes as long as loading, so it is asked where that failed.
Result<> check_kernel() {
  btf* kernel = btf__load_vmlinux_btf();
  if (kernel == nullptr)
    return fail(ErrorCode::kUnsupported,
                "--call-graph bpf: this kernel describes no types (CONFIG_DEBUG_INFO_BTF): use "
                "--call-graph dwarf");
  bool has_maple_trees = btf__find_by_name_kind(kernel, "maple_arange_64", BTF_KIND_STRUCT) > 0;
  btf__free(kernel);
  if (!has_maple_trees ||
      libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, nullptr) == 0)
    return fail(ErrorCode::kUnsupported,
                "--call-graph bpf: this kernel has no maple trees of mappings (Linux 6.1): use "
                "--call-graph dwarf");
  return {};
}

Result<BpfRing> map_ring(bpf_map* map) {
  return BpfRing::map(Fd(::fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 0)), bpf_map__max_entries(map));
}

}  // namespace

struct StackWalker::Program {
  explicit Program(stack_walk* opened) : skeleton(opened) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { stack_walk__destroy(skeleton); }
  stack_walk* skeleton;
  bool counts = false;
  SumMaps sums;
  std::vector<Fd> links;
  std::optional<BpfRing> ring, codes;
};

StackWalker::StackWalker(std::unique_ptr<Program> program) : program_(std::move(program)) {}
StackWalker::StackWalker(StackWalker&&) noexcept = default;
StackWalker& StackWalker::operator=(StackWalker&&) noexcept = default;
StackWalker::~StackWalker() = default;

Result<StackWalker> StackWalker::open(const std::optional<StackSumOptions>& sums) {
  BpfLog log;
  std::optional<walk_machine> machine = walk_machine_of(abi::host_arch());
  if (!machine)
    return fail(ErrorCode::kUnsupported,
                "--call-graph bpf: the kernel part unwinds x86-64 and arm64: use --call-graph "
                "dwarf");
  auto program = std::make_unique<Program>(stack_walk__open());
  stack_walk* skeleton = program->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kStackWalker);
  skeleton->rodata->is_arm64 = abi::host_arch() == abi::Arch::kArm64;
  std::memcpy(&skeleton->rodata->machine, &*machine, sizeof *machine);
  program->counts = sums.has_value();
  if (sums) program->sums = sum_maps_of(*skeleton, *sums);
  bpf_program__set_autoload(skeleton->progs.walk_stack, !program->counts);
  bpf_program__set_autoload(skeleton->progs.sum_stack, program->counts);
  if (stack_walk__load(skeleton) != 0) {
    Error refused = bpf_refused(log, "load", kStackWalker).error();
    TRY(check_kernel());
    return std::unexpected(std::move(refused));
  }
  program->sums.set_state(&skeleton->bss->sum_state);
  program->ring.emplace(TRY(map_ring(skeleton->maps.requests)));
  program->codes.emplace(TRY(map_ring(skeleton->maps.described_codes)));
  return StackWalker(std::move(program));
}

int StackWalker::program() const {
  auto& programs = program_->skeleton->progs;
  return bpf_program__fd(program_->counts ? programs.sum_stack : programs.walk_stack);
}

int StackWalker::attach_counted(int fd, uint16_t event) {
  bpf_link_create_opts options{};
  options.sz = sizeof options;
  options.perf_event.bpf_cookie = event;
  int link = ::bpf_link_create(program(), fd, BPF_PERF_EVENT, &options);
  if (link < 0) return -link;
  program_->links.emplace_back(link);
  return 0;
}

SumMaps& StackWalker::sums() {
  return program_->sums;
}

Result<> StackWalker::set_carrier(int cpu, int fd) {
  if (bpf_map_update_elem(bpf_map__fd(program_->skeleton->maps.carriers), &cpu, &fd, BPF_ANY) == 0)
    return {};
  return fail(ErrorCode::kFailed, "cannot give {} the ring of CPU {}: {}", kStackWalker.program,
              cpu, std::strerror(errno));
}

Result<> StackWalker::watch_programs(std::optional<pid_t> below) {
  BpfLog log;
  stack_walk& skeleton = *program_->skeleton;
  skeleton.bss->programs_below = static_cast<uint32_t>(below.value_or(0));
  skeleton.links.on_exec = bpf_program__attach(skeleton.progs.on_exec);
  if (skeleton.links.on_exec == nullptr) return bpf_refused(log, "attach", kStackWalker);
  return {};
}

bool StackWalker::put_rules(uint32_t first, std::span<const walk_rule> rules) {
  std::vector<uint32_t> numbers(rules.size());
  std::iota(numbers.begin(), numbers.end(), first);
  bpf_map_batch_opts options{};
  options.sz = sizeof options;
  auto count = static_cast<uint32_t>(rules.size());
  return bpf_map_update_batch(bpf_map__fd(program_->skeleton->maps.rules), numbers.data(),
                              rules.data(), &count, &options) == 0;
}

Fd StackWalker::make_table(std::span<const walk_row> rows) {
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_INNER_MAP | BPF_F_MMAPABLE;
  Fd table(::bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(uint32_t), sizeof(walk_row),
                            static_cast<uint32_t>(rows.size()), &options));
  if (!table.valid()) return {};
  void* memory =
      ::mmap(nullptr, rows.size_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, table.get(), 0);
  if (memory == MAP_FAILED) return {};
  std::memcpy(memory, rows.data(), rows.size_bytes());
  ::munmap(memory, rows.size_bytes());
  return table;
}

bool StackWalker::put_tables(std::span<const uint32_t> slots, std::span<const int> tables) {
  int map = bpf_map__fd(program_->skeleton->maps.tables);
  bpf_map_batch_opts options{};
  options.sz = sizeof options;
  auto count = static_cast<uint32_t>(slots.size());
  if (bpf_map_update_batch(map, slots.data(), tables.data(), &count, &options) == 0) return true;
  // Before Linux 5.16 there are no batches of maps.
  for (size_t i = 0; i < slots.size(); ++i)
    if (bpf_map_update_elem(map, &slots[i], &tables[i], BPF_ANY) != 0) return false;
  return true;
}

void StackWalker::drop_table(uint32_t slot) {
  (void)bpf_map_delete_elem(bpf_map__fd(program_->skeleton->maps.tables), &slot);
}

bool StackWalker::put_object(const walk_object_key& key, const walk_object& object) {
  return bpf_map_update_elem(bpf_map__fd(program_->skeleton->maps.objects), &key, &object,
                             BPF_ANY) == 0;
}

std::optional<walk_object> StackWalker::find_object(const walk_object_key& key) const {
  walk_object object;
  int map = bpf_map__fd(program_->skeleton->maps.objects);
  return bpf_map_lookup_elem(map, &key, &object) == 0 ? std::optional(object) : std::nullopt;
}

void StackWalker::forget_object(const walk_object_key& key) {
  (void)bpf_map_delete_elem(bpf_map__fd(program_->skeleton->maps.objects), &key);
}

int StackWalker::requests() const {
  return bpf_map__fd(program_->skeleton->maps.requests);
}

std::vector<walk_request> StackWalker::take_requests() {
  std::vector<walk_request> requests;
  BpfRing& ring = *program_->ring;
  ring.look();
  for (Bytes record = ring.front(); !record.empty(); record = ring.front()) {
    walk_request request;
    if (record.size() >= sizeof request) {
      std::memcpy(&request, record.data(), sizeof request);
      requests.push_back(request);
    }
    ring.pop();
  }
  ring.release();
  return requests;
}

bool StackWalker::put_python(uint32_t index, const python_layout& layout) {
  return bpf_map_update_elem(bpf_map__fd(program_->skeleton->maps.pythons), &index, &layout,
                             BPF_ANY) == 0;
}

bool StackWalker::put_ruby(uint32_t index, const ruby_layout& layout) {
  return bpf_map_update_elem(bpf_map__fd(program_->skeleton->maps.rubies), &index, &layout,
                             BPF_ANY) == 0;
}

void StackWalker::take_codes(
    const std::function<void(const code_description&, Bytes lines)>& visit) {
  BpfRing& ring = *program_->codes;
  ring.look();
  for (Bytes record = ring.front(); !record.empty(); record = ring.front()) {
    code_description code;
    if (record.size() >= CODE_HEADER) {
      std::memcpy(&code, record.data(), CODE_HEADER);
      visit(code, record.subspan(CODE_HEADER));
    }
    ring.pop();
  }
  ring.release();
}

StackWalker::CodeLosses StackWalker::codes_lost(interpreter of) const {
  CodeLosses lost{};
  std::copy_n(program_->skeleton->bss->codes_lost[of], lost.size(), lost.begin());
  return lost;
}

StackWalker::Lost StackWalker::lost() const {
  return {.chains = program_->skeleton->bss->chains_lost,
          .objects = program_->skeleton->bss->objects_lost};
}

}  // namespace sonde
