#include "symbol/dso_symbols.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "elf/build_id.h"
#include "store/build_id_cache.h"
#include "store/bundle.h"
#include "store/object_cache.h"
#include "symbol/debuginfod.h"
#include "symbol/perf_map.h"

namespace sonde {
FinderOptions finder_options(const SymbolOptions& options, const Env& env) {
  FinderOptions finder;
  finder.symfs = options.symfs;
  finder.vmlinux = options.vmlinux;
  finder.path_trust = options.path_trust;
  finder.bundle = options.bundle;
  finder.buildid_dir = build_id_directory(env, options.buildid_dir);
  finder.debuginfod = options.debuginfod.has_value();
  // The servers configured for perf's build-id cache are used even without the option.
  auto configured = env.config.get("buildid-cache.debuginfod");
  if (!finder.debuginfod && configured && !configured->empty())
    finder.debuginfod = start_debuginfod(std::string(*configured)).has_value();
  finder.object_cache = object_cache_directory(env);
  return finder;
}

PathTrust path_trust_of(const SymbolOptions& options, const RecordedHost& host,
                        const Machine& machine) {
  bool is_here = is_this_boot(host, machine);
  if (options.unverified) return is_here ? PathTrust::kAny : PathTrust::kAnyElsewhere;
  return is_here ? PathTrust::kSameFile : PathTrust::kNone;
}

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
      kernel_release_(std::move(kernel_release)),
      guests_(std::make_unique<GuestKernels>(options_.guests)) {}

DsoSymbols DsoSymbolLoader::load(const Dso& dso, std::string_view name_part) const {
  if (dso.is_guest) return load_guest(dso, name_part);
  switch (dso.kind) {
    case DsoKind::kFile:
    case DsoKind::kVdso:
      return load_file(dso, name_part);
    case DsoKind::kJit:
      return load_jit(dso);
    case DsoKind::kKernel:
    case DsoKind::kModule:
      return load_from_kernel(dso);
    case DsoKind::kBpf:
    case DsoKind::kMarker:
      return load_whole(dso);
    case DsoKind::kVsyscall:
    case DsoKind::kNoSymbols:
    case DsoKind::kJitDump:  // JitObjects have them
      break;
  }
  DsoSymbols none;
  none.source = "memory without symbols";
  return none;
}

void DsoSymbolLoader::take_symbols(FoundObject& found, std::string_view name_part,
                                   DsoSymbols& loaded) const {
  loaded.segments = found.segments();
  loaded.source = found.symbols_path;
  loaded.origin = symtab_origin(found.source);
  loaded.is_stripped = !found.symbols;
  loaded.own = found.load_symbols(
      {.frame_functions = options_.frame_functions.value_or(false), .name_part = name_part});
}

DsoSymbols DsoSymbolLoader::load_file(const Dso& dso, std::string_view name_part) const {
  DsoSymbols loaded;
  FoundObject found = finder_.find(query_of(dso));
  if (!found.usable()) {
    loaded.is_replaced = found.is_replaced();
    loaded.is_missing = true;
    loaded.source =
        loaded.is_replaced
            ? fmt::format("{} is not the build that was recorded", dso.path)
            : fmt::format("no symbols found in {}, maybe install a debug package?", dso.path);
    return loaded;
  }
  take_symbols(found, name_part, loaded);
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_jit(const Dso& dso) const {
  DsoSymbols loaded;
  loaded.source = fmt::format("no map of generated code: {} is missing", dso.path);
  auto take = [&](Result<PerfMap> map, const std::string& path) {
    if (map) {
      loaded.own = std::move(map->table);
      loaded.source = path;
      loaded.origin = 'J';
    } else if (map.error().code == ErrorCode::kCorrupt) {
      loaded.source = map.error().message;
    }
    return map.has_value();
  };
  if (options_.bundle != nullptr) {
    std::string path = options_.bundle->file_at(dso.path);
    if (take(PerfMap::read(path), path)) return loaded;
  }
  auto pid = static_cast<pid_t>(dso.pid);
  if (options_.path_trust != PathTrust::kNone)
    for (const std::string& path :
         perf_map_paths(pid, options_.path_trust == PathTrust::kAnyElsewhere ? "" : "/proc"))
      if (take(PerfMap::read_of(pid, path), path)) return loaded;
  loaded.is_missing = true;
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_from_kernel(const Dso& dso) const {
  DsoSymbols loaded;
  if (dso.kind == DsoKind::kModule && kernel_table_ != nullptr && !names_modules_) {
    loaded.is_missing = true;
    loaded.source = "modules of another boot were at other addresses";
    return loaded;
  }
  loaded.is_missing = kernel_table_ == nullptr;
  loaded.table = kernel_table_;
  loaded.slide = kernel_slide_;
  loaded.source = kernel_source_;
  loaded.origin = dso.kind == DsoKind::kModule && kernel_origin_ != '!' ? 'm' : kernel_origin_;
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_whole(const Dso& dso) const {
  DsoSymbols loaded;
  SymbolTableBuilder builder;
  const char* name = builder.keep(std::string(dso.path)).c_str();
  // Followed pipes may still load it elsewhere: its name is known there, too.
  builder.add({.start = 0, .end = UINT64_MAX, .name_chars = name});
  std::vector<Dso::Program> programs = dso.programs;
  std::ranges::sort(programs);
  programs.erase(std::ranges::unique(programs).begin(), programs.end());
  for (const Dso::Program& program : programs)
    builder.add({.start = program.start.value, .end = program.end.value, .name_chars = name});
  loaded.own = std::move(builder).build();
  loaded.source = dso.kind == DsoKind::kBpf ? "BPF program" : "a mark in call chains";
  loaded.origin = 'B';
  return loaded;
}

/// Below its mount, unless its build id leads to it here.
FoundObject DsoSymbolLoader::find_in_guest(const Dso& dso) const {
  FoundObject found = finder_.find(query_of(dso));
  if (found.usable() || options_.guests.mount.empty()) return found;
  std::string root = guest_root(options_.guests, dso.pid);
  Result<std::string> content = read_guest_file(root, dso.path);
  if (!content) return found;
  Bytes bytes = as_bytes(*content);
  Result<ElfFile> file = ElfFile::own({bytes.begin(), bytes.end()}, dso.path);
  bool is_it = file && (dso.build_id.empty() || same_build_id(file->build_id(), dso.build_id));
  if (!is_it) return found;
  found.symbols_path = found.runtime_path = root + dso.path;
  found.runtime = std::move(*file);
  return found;
}

DsoSymbols DsoSymbolLoader::load_guest_file(const Dso& dso, std::string_view name_part) const {
  DsoSymbols loaded;
  FoundObject found = find_in_guest(dso);
  if (!found.usable()) {
    loaded.source = fmt::format(
        "{} of the guest of process {} is neither below --guestmount nor in the build-id cache",
        dso.path, dso.pid);
    return loaded;
  }
  take_symbols(found, name_part, loaded);
  return loaded;
}

DsoSymbols DsoSymbolLoader::load_guest(const Dso& dso, std::string_view name_part) const {
  DsoSymbols loaded;
  switch (dso.kind) {
    case DsoKind::kFile:
    case DsoKind::kVdso:
      return load_guest_file(dso, name_part);
    case DsoKind::kBpf:
      return load_whole(dso);
    case DsoKind::kKernel:
    case DsoKind::kModule:
      break;
    default:
      loaded.source = "memory of a guest, whose symbols are not recorded";
      return loaded;
  }
  const GuestSymbols& guest = guests_->of(dso.pid, dso.reference_symbol);
  loaded.source = guest.source;
  if (guest.table == nullptr) return loaded;
  // After a reboot of the guest its kernel is at another address, its modules at any.
  bool has_moved =
      dso.reference_address.value != 0 && guest.text && *guest.text != dso.reference_address.value;
  if (dso.kind == DsoKind::kModule && has_moved) {
    loaded.source = "modules of another boot of the guest were at other addresses";
    return loaded;
  }
  if (has_moved) loaded.slide = dso.reference_address.value - *guest.text;
  loaded.table = guest.table;
  loaded.origin = dso.kind == DsoKind::kModule ? 'm' : guest.origin;
  return loaded;
}

void DsoSymbolLoader::prepare_kernel(const Dso& kernel, bool with_modules,
                                     KernelAddresses addresses, std::string_view name_part) {
  if (kernel_table_ != nullptr) return;
  if (!options_.kallsyms.empty()) {
    read_kallsyms(options_.kallsyms, kernel, addresses, name_part);
    return;
  }
  if (!options_.ignore_vmlinux || !options_.vmlinux.empty()) {
    FoundObject found = finder_.find_vmlinux(kernel.build_id, kernel_release_);
    if (found.usable() && found.symbols) {
      kernel_source_ = found.symbols_path;
      kernel_origin_ = symtab_origin(found.source);
      vmlinux_ = found.load_symbols({.name_part = name_part});
      kernel_table_ = &vmlinux_;
      if (auto reference = vmlinux_.find_by_name(kernel.reference_symbol); !reference.empty())
        kernel_slide_ = kernel.reference_address.value - reference.front()->start;
      return;
    }
  }
  // A cached copy is read ten times faster than the kernel generates its list. Only modules may
  // have moved since it was made.
  std::string cached = finder_.find_cached_kallsyms(kernel.build_id);
  if (!cached.empty() && !with_modules && read_kallsyms(cached, kernel, addresses, name_part))
    return;
  if (is_running_kernel(kernel)) {
    read_kallsyms("/proc/kallsyms", kernel, addresses, name_part);
    names_modules_ = options_.path_trust != PathTrust::kNone;
    return;
  }
  if (!cached.empty()) {
    read_kallsyms(cached, kernel, addresses, name_part);
    names_modules_ = options_.bundle != nullptr || kernel_slide_ == 0;
    return;
  }
  kernel_source_ =
      "the recording is of another kernel: give its symbols with --kallsyms or --vmlinux";
}

bool DsoSymbolLoader::is_running_kernel(const Dso& kernel) const {
  if (kernel.build_id.empty()) return options_.path_trust != PathTrust::kNone;
  // Without an address to relocate by, the list is right only for this boot.
  if (kernel.reference_address.value == 0 && options_.path_trust == PathTrust::kNone) return false;
  return same_build_id(kernel.build_id, running_kernel_build_id());
}

/// Returns false if it gives no symbols; the source then says why.
bool DsoSymbolLoader::read_kallsyms(const std::string& path, const Dso& kernel,
                                    KernelAddresses addresses, std::string_view name_part) {
  auto read = path == options_.kallsyms ? Kallsyms::open_named(path) : Kallsyms::open(path);
  if (!read) {
    kernel_source_ = read.error().message;
    return false;
  }
  kallsyms_ = std::move(*read);
  // After a reboot the same kernel is at another address (KASLR); the recording says where its
  // _text was.
  uint64_t slide = 0;
  if (auto address = kallsyms_->address_of(kernel.reference_symbol);
      address && kernel.reference_address.value != 0)
    slide = kernel.reference_address.value - *address;
  if (!name_part.empty() && !kallsyms_->may_name(name_part)) {
    // No symbol is needed.
  } else if (addresses) {
    std::vector<uint64_t> in_table;
    for (uint64_t address : *addresses) in_table.push_back(address - slide);
    parse_around(in_table);
  } else {
    kallsyms_->parse_all();
    kernel_part_ = kallsyms_->take_table();
  }
  if (kallsyms_->restricted()) {
    kernel_source_ =
        path + " hides its addresses: kernel.kptr_restrict is set; run as root or set it to 0";
    return false;
  }
  kernel_table_ = &kernel_part_;
  kernel_slide_ = slide;
  kernel_source_ = path;
  kernel_origin_ = 'k';
  return true;
}

void DsoSymbolLoader::parse_around(std::span<const uint64_t> addresses) {
  kallsyms_->parse_around(addresses);
  kernel_part_ = kallsyms_->take_table();
  for (uint64_t address : addresses)
    if (kernel_part_.find(address) == nullptr) bare_addresses_.push_back(address);
  std::ranges::sort(bare_addresses_);
  rest_size_ = kallsyms_->most_symbols();
}

const SymbolTable& DsoSymbolLoader::rest_of_kernel() {
  std::call_once(rest_made_, [this] { kallsyms_->parse_all(); });
  return kallsyms_->table();
}

}  // namespace sonde
