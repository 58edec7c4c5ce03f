#include "symbol/dso_symbols.h"

#include <fmt/format.h>

#include "base/file.h"
#include "elf/build_id.h"
#include "symbol/perf_map.h"

namespace sonde {
namespace {

/// The build id of the kernel that runs here; empty where it does not tell.
std::string running_kernel_build_id() {
  auto notes = read_file("/sys/kernel/notes");
  return notes ? std::string(build_id_in_notes(as_bytes(*notes))) : std::string();
}

}  // namespace

std::optional<uint64_t> DsoSymbols::to_table(uint64_t address) const {
  if (!segments) return address - slide;
  auto addr = segments->addr_of(FileOffset(address));
  return addr ? std::optional(addr->value) : std::nullopt;
}

uint64_t DsoSymbols::from_table(uint64_t table_address) const {
  if (!segments) return table_address + slide;
  auto offset = segments->offset_of(ElfAddr(table_address));
  return offset ? offset->value : table_address;
}

DsoSymbolLoader::DsoSymbolLoader(FinderOptions finder, SymbolOptions options,
                                 std::string kernel_release)
    : finder_(std::move(finder)),
      options_(std::move(options)),
      kernel_release_(std::move(kernel_release)) {}

DsoSymbols DsoSymbolLoader::load(const Dso& dso) const {
  switch (dso.kind) {
    case DsoKind::kFile:
    case DsoKind::kVdso:
      return load_file(dso);
    case DsoKind::kJit:
      return load_jit(dso);
    case DsoKind::kKernel:
    case DsoKind::kModule:
      return load_from_kernel(dso);
    case DsoKind::kBpf:
      return load_bpf(dso);
    case DsoKind::kVsyscall:
    case DsoKind::kNoSymbols:
      break;
  }
  DsoSymbols none;
  none.source = "memory without symbols";
  return none;
}

DsoSymbols DsoSymbolLoader::load_file(const Dso& dso) const {
  DsoSymbols loaded;
  FoundObject found =
      finder_.find({dso.path, dso.build_id, static_cast<pid_t>(dso.pid), std::nullopt});
  if (!found.usable()) {
    loaded.source =
        found.build_id_differs()
            ? fmt::format("{} is another build than the one that was recorded", dso.path)
            : fmt::format("no symbols found in {}, maybe install a debug package?", dso.path);
    return loaded;
  }
  loaded.segments = found.segments();
  loaded.source = found.symbols_path;
  loaded.origin = symtab_origin(found.source);
  loaded.own = found.load_symbols();
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_jit(const Dso& dso) const {
  DsoSymbols loaded;
  loaded.source = fmt::format("no map of generated code: {} is missing", dso.path);
  std::vector<std::string> paths = perf_map_paths(static_cast<pid_t>(dso.pid));
  if (paths.empty()) paths.push_back(dso.path);
  for (const std::string& path : paths) {
    auto map = PerfMap::read(path);
    if (!map) continue;
    loaded.own = std::move(map->table);
    loaded.source = path;
    loaded.origin = 'J';
    break;
  }
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_from_kernel(const Dso& dso) const {
  DsoSymbols loaded;
  loaded.table = kernel_table_;
  loaded.slide = kernel_slide_;
  loaded.source = kernel_source_;
  loaded.origin = dso.kind == DsoKind::kModule && kernel_origin_ != '!' ? 'm' : kernel_origin_;
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_bpf(const Dso& dso) const {
  DsoSymbols loaded;
  SymbolTableBuilder builder;
  Symbol whole;
  whole.start = 0;
  whole.end = UINT64_MAX;
  whole.name_chars = builder.keep(std::string(dso.path)).c_str();
  builder.add(whole);
  loaded.own = std::move(builder).build();
  loaded.source = "BPF program";
  loaded.origin = 'B';
  return loaded;
}

void DsoSymbolLoader::prepare_kernel(const Dso& kernel, bool with_modules) {
  if (kernel_table_ != nullptr) return;
  if (!options_.kallsyms.empty()) {
    read_kallsyms(options_.kallsyms, kernel);
    return;
  }
  if (!options_.ignore_vmlinux || !options_.vmlinux.empty()) {
    FoundObject found = finder_.find_vmlinux(kernel.build_id, kernel_release_);
    if (found.usable() && found.symbols) {
      kernel_source_ = found.symbols_path;
      kernel_origin_ = symtab_origin(found.source);
      vmlinux_ = found.load_symbols();
      kernel_table_ = &vmlinux_;
      if (auto reference = vmlinux_.find_by_name(kernel.reference_symbol); !reference.empty())
        kernel_slide_ = kernel.reference_address.value - reference.front()->start;
      return;
    }
  }
  // A copy in the cache is read ten times faster than the kernel writes its list. Only modules can
  // have moved since it was made.
  std::string cached = finder_.find_cached_kallsyms(kernel.build_id);
  if (!cached.empty() && !with_modules && read_kallsyms(cached, kernel)) return;
  if (kernel.build_id.empty() || same_build_id(kernel.build_id, running_kernel_build_id())) {
    read_kallsyms("/proc/kallsyms", kernel);
    return;
  }
  if (!cached.empty()) {
    read_kallsyms(cached, kernel);
    return;
  }
  kernel_source_ =
      "the recording is of another kernel: give its symbols with --kallsyms or --vmlinux";
}

/// False where it gives no symbols; the source then says why.
bool DsoSymbolLoader::read_kallsyms(const std::string& path, const Dso& kernel) {
  auto read = Kallsyms::read(path);
  if (!read) {
    kernel_source_ = read.error().message;
    return false;
  }
  kallsyms_ = std::move(*read);
  if (kallsyms_->restricted()) {
    kernel_source_ =
        path + " hides its addresses: kernel.kptr_restrict is set, run as root or set it to 0";
    return false;
  }
  kernel_table_ = &kallsyms_->table();
  kernel_source_ = path;
  kernel_origin_ = 'k';
  // The same kernel booted again sits elsewhere (KASLR); the recording says where its _text was.
  if (auto address = kallsyms_->address_of(kernel.reference_symbol);
      address && kernel.reference_address.value != 0)
    kernel_slide_ = kernel.reference_address.value - *address;
  return true;
}

}  // namespace sonde
