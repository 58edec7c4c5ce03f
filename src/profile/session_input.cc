#include "profile/session_input.h"

#include <elf.h>

#include <algorithm>

#include "perfdata/records/off_cpu_sample.h"
#include "replay/frames/chain_builder.h"
#include "replay/frames/code_space.h"

namespace sonde {

SessionInput::SessionInput(const Session& session)
    : session_(session), chains_by_address_(has_chains_by_address()) {
  const Machine& machine = session.machine();
  for (const AddressSpace::Piece& piece : machine.space(machine.kernel_space()).pieces()) {
    DsoId dso = machine.mapping(piece.mapping).dso;
    if (machine.dsos()[dso].kind == DsoKind::kModule)
      module_starts_.try_emplace(dso.value, piece.start.value);
  }
}

ProfileInput SessionInput::input() const {
  return {.samples = session_.samples(),
          .chains = session_.chains(),
          .frames = session_.frames(),
          .dsos = session_.machine().dsos(),
          .strings = session_.strings(),
          .symbols = *this,
          .details = *this};
}

std::string_view SessionInput::name(SymbolId symbol) const {
  return session_.symbolizer().label(symbol);
}
std::string SessionInput::identity(SymbolId symbol) const {
  return session_.symbolizer().identity(symbol);
}
std::pair<uint64_t, uint64_t> SessionInput::range(SymbolId symbol) const {
  SymbolInfo info = session_.symbolizer().info(symbol);
  return {info.start, info.end};
}
bool SessionInput::is_data(SymbolId symbol) const {
  return session_.symbolizer().info(symbol).type == STT_OBJECT;
}
char SessionInput::origin(DsoId dso) const {
  return session_.symbolizer().origin_of(dso);
}
std::string SessionInput::srcline(DsoId dso, uint64_t address) const {
  return session_.symbolizer().srcline(dso, address);
}
std::string SessionInput::srcfile(DsoId dso, uint64_t address) const {
  return session_.symbolizer().srcfile(dso, address);
}

bool SessionInput::may_wait(size_t sample) const {
  const EventDesc& event = session_.events()[session_.events().of(session_.record(sample))];
  return is_off_cpu_event(event.attr, event.name) || is_waker_event(event.attr, event.name) ||
         event.attr.type == abi::kTypeTracepoint;
}

std::string_view SessionInput::waker_of(const Sample& wait) const {
  std::call_once(wakers_made_, [this] { wakers_.emplace(session_); });
  auto waker = wakers_->of(wait);
  return waker ? wakers_->name(*waker) : std::string_view();
}

bool SessionInput::decode(size_t sample, Sample& out) const {
  return session_.decode(sample, out);
}

void SessionInput::chain_addresses(const Sample& sample, size_t index,
                                   std::vector<uint64_t>& out) const {
  EventId event = session_.events().of(session_.record(index));
  if (has_branch_path(event)) {
    std::vector<PathStep> steps;
    append_branch_path(sample, *session_.branch_history(), steps);
    for (const PathStep& step : steps) out.push_back(step.ip);
    return;
  }
  append_recorded_addresses(sample, session_.events()[event].attr, out);
}

/// Not of branches: a processor's open calls, or what was put into chains.
bool SessionInput::has_chains_by_address() const {
  return !session_.branch_history() &&
         std::ranges::all_of(session_.events().all(), [](const EventDesc& event) {
           return sonde::has_branch_path(event.attr);
         });
}

const Machine* SessionInput::machine_of_chains() const {
  return chains_by_address_ ? &session_.machine() : nullptr;
}

bool SessionInput::has_branch_path(EventId event) const {
  return session_.branch_history() && sonde::has_branch_path(session_.events()[event].attr);
}

void SessionInput::branch_path(const Sample& sample, size_t index,
                               std::vector<PathStep>& out) const {
  if (has_branch_path(session_.events().of(session_.record(index))))
    append_branch_path(sample, *session_.branch_history(), out);
}

Frame SessionInput::resolve(size_t sample, uint64_t address) const {
  const SampleColumns& samples = session_.samples();
  return session_.resolve(samples.pid[sample], samples.time[sample], RuntimeAddr(address),
                          samples.cpu_mode[sample]);
}

Frame SessionInput::resolve_anywhere(size_t sample, uint64_t address) const {
  const SampleColumns& samples = session_.samples();
  Frame frame;
  for (uint16_t mode : {abi::kMiscUser, abi::kMiscKernel}) {
    frame = session_.resolve(samples.pid[sample], samples.time[sample], RuntimeAddr(address), mode);
    if (frame.dso.valid()) return frame;
  }
  frame.level = FrameLevel::kHypervisor;
  return frame;
}

// perf treats a module's addresses as run-time addresses only once kallsyms gave the module
// symbols.
uint64_t SessionInput::shown_address(const Frame& frame) const {
  if (!frame.dso.valid() || frame.symbol.valid()) return frame.address;
  auto module = module_starts_.find(frame.dso.value);
  if (module == module_starts_.end() || frame.address < module->second) return frame.address;
  return frame.address - module->second;
}

std::string_view SessionInput::last_comm(uint32_t tid) const {
  return session_.strings().view(session_.machine().comm_at(tid, UINT64_MAX));
}

int SessionInput::socket_of(uint32_t cpu) const {
  const auto& topology = session_.recording().features().cpu_topology;
  if (!topology || cpu >= topology->cpus.size()) return -1;
  return static_cast<int>(topology->cpus[cpu].socket);
}

std::string_view SessionInput::cgroup_path(uint64_t id) const {
  return session_.machine().cgroup_path(id);
}

Machine::Namespace SessionInput::cgroup_namespace(size_t sample) const {
  constexpr uint32_t kCgroupIndex = 6;  // in the kernel's order of namespaces
  const SampleColumns& samples = session_.samples();
  return session_.machine().namespace_of(samples.pid[sample], kCgroupIndex, samples.time[sample]);
}

const Mapping* SessionInput::mapping_at(size_t sample, uint64_t address) const {
  const SampleColumns& samples = session_.samples();
  const Machine& machine = session_.machine();
  SpaceId space =
      space_of(machine, samples.pid[sample], samples.time[sample], samples.cpu_mode[sample]);
  if (!space.valid()) return nullptr;
  MappingId found = machine.space(space).find(RuntimeAddr(address), samples.time[sample]).mapping;
  return found.valid() ? &machine.mapping(found) : nullptr;
}

uint64_t SessionInput::mapped_size(size_t sample) const {
  const SampleColumns& samples = session_.samples();
  const Frame& leaf = session_.frame(samples.leaf[sample]);
  if (!leaf.dso.valid()) return 0;
  Sample content;
  if (!session_.decode(sample, content)) return 0;
  const Machine& machine = session_.machine();
  SpaceId space =
      space_of(machine, samples.pid[sample], samples.time[sample], samples.cpu_mode[sample]);
  if (!space.valid()) return 0;
  AddressSpace::Found found =
      machine.space(space).find(RuntimeAddr(content.ip), samples.time[sample]);
  if (!found.mapping.valid()) return 0;
  const Mapping& mapping = machine.mapping(found.mapping);
  return mapping.end - mapping.start;
}

}  // namespace sonde
