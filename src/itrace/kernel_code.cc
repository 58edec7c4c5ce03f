#include "itrace/kernel_code.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "perfdata/header/bpf_code.h"

namespace sonde::itrace {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kMostPages = 16'384;  // 64 MiB: more than a kernel has code

size_t copy(Bytes from, std::span<std::byte> to) {
  size_t count = std::min(from.size(), to.size());
  if (count > 0) std::memcpy(to.data(), from.data(), count);
  return count;
}

}  // namespace

void KernelCode::open() {
  is_open_ = true;
  DsoId id = machine_.dsos().find("[kernel.kallsyms]");
  if (!id.valid()) return;
  const Dso& kernel = machine_.dsos()[id];
  auto core = sources_.memory(kernel);
  if (core) core_ = std::move(*core);
  vmlinux_ = sources_.vmlinux(id, kernel);
  open_vmlinux(kernel);
}

void KernelCode::open_vmlinux(const Dso& kernel) {
  const ElfFile* image = vmlinux_.runtime   ? &*vmlinux_.runtime
                         : vmlinux_.symbols ? &*vmlinux_.symbols
                                            : nullptr;
  const ElfFile* names = vmlinux_.symbols ? &*vmlinux_.symbols : image;
  if (image == nullptr || kernel.reference_address.value == 0) return;
  // Each boot loads it at another address.
  std::optional<uint64_t> reference;
  names->for_each_symbol(SymbolSection::kSymtab, [&](const ElfSymbol& symbol) {
    if (!reference && kernel.reference_symbol == symbol.name) reference = symbol.value;
  });
  if (!reference) return;
  for (const ElfSection& section : image->sections())
    if ((section.flags & SHF_EXECINSTR) != 0)
      texts_.push_back(
          {section.addr + (kernel.reference_address.value - *reference), image->content(section)});
}

size_t KernelCode::read_core(uint64_t address, std::span<std::byte> to, bool of_module) {
  if (pages_.size() > kMostPages) pages_.clear();
  auto [page, is_new] = pages_.try_emplace(address / kPage);
  std::vector<std::byte>& bytes = page.value();
  if (is_new) {
    if (auto read = core_->code(address / kPage * kPage, kPage, of_module))
      bytes = std::move(*read);
  }
  if (!bytes.empty()) return copy(Bytes(bytes).subspan(address % kPage), to);
  // Not a whole page.
  for (size_t size = std::min<size_t>(to.size(), kPage); size > 0; size /= 2)
    if (auto read = core_->code(address, size, of_module)) return copy(*read, to);
  return 0;
}

size_t KernelCode::read_vmlinux(uint64_t address, std::span<std::byte> to) const {
  for (const Text& text : texts_)
    if (address >= text.start && address - text.start < text.bytes.size())
      return copy(text.bytes.subspan(address - text.start), to);
  return 0;
}

DsoId KernelCode::missing_object(uint64_t time_ns, uint64_t address) {
  if (!is_open_) open();
  AddressSpace::Found found =
      machine_.space(machine_.kernel_space()).find(RuntimeAddr(address), time_ns);
  if (!found.mapping.valid() || core_) return {};
  DsoId dso = machine_.mapping(found.mapping).dso;
  bool has_file = machine_.dsos()[dso].kind == DsoKind::kKernel && !texts_.empty();
  return has_file ? DsoId() : dso;
}

size_t KernelCode::read(uint64_t time_ns, uint64_t address, std::span<std::byte> to) {
  if (!is_open_) open();
  AddressSpace::Found found =
      machine_.space(machine_.kernel_space()).find(RuntimeAddr(address), time_ns);
  valid_ = {found.valid_from, found.valid_to};
  DsoKind kind = found.mapping.valid() ? machine_.dsos()[machine_.mapping(found.mapping).dso].kind
                                       : DsoKind::kModule;
  if (kind == DsoKind::kBpf) {
    Bytes code = bpf_code(recording_.features(), recording_.byte_order(), address, to.size());
    if (!code.empty()) return copy(code, to);
  }
  size_t count = core_ ? read_core(address, to, kind != DsoKind::kKernel) : 0;
  if (count == 0 && kind == DsoKind::kKernel) count = read_vmlinux(address, to);
  return count;
}

}  // namespace sonde::itrace
