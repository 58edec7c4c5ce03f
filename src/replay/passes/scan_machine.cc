#include "replay/passes/scan_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/frames/address_resolver.h"
#include "replay/passes/recorded_host.h"

namespace sonde {
namespace {

constexpr uint64_t kAtEnd = UINT64_MAX - 1;

Place place_in_kernel(const Machine& machine, uint64_t address) {
  Place place = locate(machine, machine.kernel_space(), kAtEnd, address, abi::kMiscKernel);
  // The kernel's mapping ends with its text; the boot code, where the stacks of idle CPUs begin, is
  // after it. The kernel's own addresses are those of its symbols.
  constexpr uint64_t kFirstOfKernel = uint64_t{1} << 63;
  if (!place.dso.valid() && address >= kFirstOfKernel)
    return {machine.dsos().find("[kernel.kallsyms]"), address, FrameLevel::kKernel};
  return place;
}

}  // namespace

std::string KernelSymbol::label() const {
  return offset == 0 ? std::string(name) : fmt::format("{}+{:#x}", name, offset);
}

ScanMachine::ScanMachine(const FileScan& scan) : scan_(scan), machine_(strings_) {}

void ScanMachine::finalize(SymbolOptions options, const Env& env) {
  const Features& features = scan_.features();
  builder_.build(machine_, scan_.events(), features, env.losses);
  options.path_trust = path_trust_of(options, host_of(features), machine_);
  if (options.kallsyms.empty()) options.kallsyms = scan_.facts().kernel_symbols;
  symbolizer_ = std::make_unique<Symbolizer>(machine_, std::move(options), env,
                                             features.os_release.value_or(""));
}

void ScanMachine::load(std::span<const uint64_t> addresses) {
  std::vector<DsoId> dsos;
  std::vector<uint64_t> inside;
  for (uint64_t address : addresses) {
    Place place = place_in_kernel(machine_, address);
    if (!place.dso.valid()) continue;
    if (std::ranges::find(dsos, place.dso) == dsos.end()) dsos.push_back(place.dso);
    inside.push_back(place.address);
  }
  symbolizer_->load(dsos, inside);
}

void ScanMachine::load_all() {
  std::vector<DsoId> dsos;
  for (size_t i = 0; i < machine_.dsos().size(); ++i)
    if (machine_.dsos()[DsoId(i)].is_kernel_side) dsos.push_back(DsoId(i));
  symbolizer_->load(dsos);
}

std::optional<KernelSymbol> ScanMachine::kernel_symbol(uint64_t address) const {
  Place place = place_in_kernel(machine_, address);
  if (!place.dso.valid()) return std::nullopt;
  SymbolId symbol = symbolizer_->find(place.dso, place.address);
  if (!symbol.valid()) return std::nullopt;
  uint64_t offset = place.address - symbolizer_->start_of(symbol);
  return KernelSymbol{symbolizer_->name(symbol), address - offset, offset};
}

std::string ScanMachine::kernel_label(uint64_t address) const {
  auto symbol = kernel_symbol(address);
  return symbol ? symbol->label() : fmt::format("{:#x}", address);
}

std::string_view ScanMachine::symbol_source() const {
  DsoId kernel = machine_.dsos().find("[kernel.kallsyms]");
  return kernel.valid() ? symbolizer_->source_of(kernel) : std::string_view();
}

std::string_view ScanMachine::comm(uint32_t tid) const {
  return strings_.view(machine_.comm_at(tid, kAtEnd));
}

}  // namespace sonde
