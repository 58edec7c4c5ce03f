#include "probe/source/probed_code.h"

#include <elf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/files/process_root.h"
#include "base/files/regular_file.h"
#include "base/text.h"
#include "elf/build_id.h"
#include "probe/source/debug_code.h"
#include "probe/source/kernel_types.h"
#include "store/mapped_object.h"
#include "store/target_file.h"
#include "symbol/debug_package.h"
#include "symbol/demangle.h"
#include "symbol/source/source_lines.h"

namespace sonde {
namespace {

bool is_file(const std::string& path) {
  return status_of_regular(path).has_value();
}

std::string release_of_this_kernel() {
  struct utsname name{};
  return ::uname(&name) == 0 ? name.release : "";
}

std::string last_component(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// The path of -x as this process can open it; empty if there is no such file.
std::string find_executable(const ProbeTarget& target, const CodeSearch& search) {
  std::string root;
  if (target.namespace_pid > 0)
    root = foreign_root("/proc", static_cast<uint32_t>(target.namespace_pid));
  const std::string& name = target.executable;
  auto try_path = [&](const std::string& path) {
    const std::string& symfs = search.finder.symfs;
    if (symfs.empty()) return is_file(root + path) ? without_links(root + path) : std::string();
    std::string below = path_below(symfs, root + path);
    return is_file(below) ? below.substr(symfs.size()) : std::string();
  };
  if (std::string found = try_path(name); !found.empty() || name.contains('/')) return found;
  for (std::string_view directory : split(search.path, ':'))
    if (std::string found = try_path(std::string(directory) + "/" + name); !found.empty())
      return found;
  return {};
}

/// A module's file by its name: where this kernel's modules are.
std::string find_module_file(std::string_view name, const std::string& release,
                             const std::string& symfs) {
  std::string directory = "/lib/modules/" + release + "/";
  auto list = read_file(path_below(symfs, directory + "modules.dep"));
  if (!list) return {};
  for (std::string_view line : split(*list, '\n')) {
    std::string_view path = line.substr(0, line.find(':'));
    std::string file = last_component(path);
    file = file.substr(0, file.find(".ko"));
    std::ranges::replace(file, '-', '_');
    if (file == name)
      return path_below(symfs, path.starts_with('/') ? path : directory + std::string(path));
  }
  return {};
}

std::string module_name_of(std::string_view path) {
  std::string name = last_component(path);
  name = name.substr(0, name.find(".ko"));
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace

struct ProbedCode::State {
  std::string path;    // of a program
  std::string module;  // of the kernel
  bool in_kernel = false;
  bool is_offline = false;  // -k, or a module's file: nothing of the running kernel is used
  std::string source_root;
  std::string release;
  FinderOptions finder;
  std::optional<ElfFile> file;

  mutable std::optional<CodeSymbols> symbols;
  mutable bool knows_symbol_file = false;
  mutable std::optional<ElfFile> symbol_file;  // with .symtab, if that is another one
  mutable std::optional<std::string> debug_path;
  mutable std::optional<CodeSymbols> linked_symbols;
  mutable std::unique_ptr<DebugCode> debug;
  mutable std::unique_ptr<KernelTypes> types;

  void read_symbols() const;
  [[nodiscard]] const ElfFile* separate_symbols() const;
  [[nodiscard]] std::vector<std::string_view> linked_names(std::span<const CodeSymbol> all) const;
  [[nodiscard]] std::string find_debug_path() const;
};

ProbedCode::ProbedCode(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProbedCode::ProbedCode(ProbedCode&&) noexcept = default;
ProbedCode& ProbedCode::operator=(ProbedCode&&) noexcept = default;
ProbedCode::~ProbedCode() = default;

Result<ProbedCode> ProbedCode::open(const ProbeTarget& target, const CodeSearch& search) {
  auto state = std::make_unique<State>();
  state->finder = search.finder;
  if (!target.symfs.empty()) state->finder.symfs = target.symfs;
  state->source_root = target.source_root;
  state->release = release_of_this_kernel();
  if (!target.executable.empty()) {
    CodeSearch below = search;
    below.finder.symfs = state->finder.symfs;
    state->path = find_executable(target, below);
    if (state->path.empty())
      return fail(ErrorCode::kNotFound, "no file '{}'{}: -x takes the path of a program or library",
                  target.executable, target.executable.contains('/') ? "" : " here or in PATH");
    state->file = TRY(ElfFile::open(state->finder.symfs + state->path));
    return ProbedCode(std::move(state));
  }
  state->in_kernel = true;
  if (target.module.empty()) {
    if (target.vmlinux.empty()) return ProbedCode(std::move(state));
    state->finder.vmlinux = target.vmlinux;
    state->file = TRY(ElfFile::open(path_below(state->finder.symfs, target.vmlinux)));
    state->is_offline = !same_build_id(state->file->build_id(), running_kernel_build_id());
    return ProbedCode(std::move(state));
  }
  bool is_path = target.module.contains('/') || target.module.contains(".ko");
  std::string path = is_path ? path_below(state->finder.symfs, target.module)
                             : find_module_file(target.module, state->release, state->finder.symfs);
  state->module = is_path ? module_name_of(target.module) : target.module;
  std::ranges::replace(state->module, '-', '_');
  bool is_loaded = ::access(("/sys/module/" + state->module).c_str(), F_OK) == 0;
  if (path.empty() && !is_loaded)
    return fail(ErrorCode::kNotFound,
                "no module '{}': it is not loaded, and /lib/modules/{} does not have it; give the "
                "path of its .ko file",
                target.module, state->release);
  state->is_offline = !is_loaded;
  if (!path.empty()) state->file = TRY(ElfFile::open(path));
  return ProbedCode(std::move(state));
}

const std::string& ProbedCode::path() const {
  return state_->path;
}

bool ProbedCode::in_kernel() const {
  return state_->in_kernel;
}

const std::string& ProbedCode::module() const {
  return state_->module;
}

std::string ProbedCode::default_group() const {
  if (in_kernel()) return "probe";
  std::string name = last_component(path());
  auto is_kept = [](char c) {
    return c == '_' || is_ascii_digit(c) || is_ascii_upper(c) || (c >= 'a' && c <= 'z');
  };
  return "probe_" + std::string(name.begin(), std::ranges::find_if_not(name, is_kept));
}

std::string ProbedCode::description() const {
  if (!in_kernel()) return path();
  return module().empty() ? "the kernel" : "module " + module();
}

const ElfFile* ProbedCode::file() const {
  return state_->file ? &*state_->file : nullptr;
}

uint16_t ProbedCode::machine() const {
  if (state_->file) return state_->file->machine();
#if defined(__aarch64__)
  return EM_AARCH64;
#else
  return EM_X86_64;
#endif
}

void ProbedCode::State::read_symbols() const {
  symbols.emplace();
  if (in_kernel && !is_offline) {
    // What runs is what is probed: its own list has every name, and is always there.
    if (auto text = read_file("/proc/kallsyms"))
      symbols = CodeSymbols::parse_kallsyms(std::move(*text), module);
    bool is_hidden = !symbols->empty() && symbols->all().back().address == 0;
    if (!symbols->empty() && !(is_hidden && file)) return;
  }
  if (file) symbols = CodeSymbols::read(*file);
  if (const ElfFile* separate = separate_symbols()) symbols->add(CodeSymbols::read(*separate));
}

/// The file with the symbol table of a program that has none itself; null if there is none.
const ElfFile* ProbedCode::State::separate_symbols() const {
  if (in_kernel || !file || file->has_symbols(SymbolSection::kSymtab)) return nullptr;
  if (!std::exchange(knows_symbol_file, true)) {
    symbol_file = ObjectFinder(finder)
                      .find({.path = path, .build_id = std::string(file->build_id())})
                      .symbols;
    if (!symbol_file)
      if (auto packed = file->mini_debug_info()) symbol_file = std::move(*packed);
  }
  return symbol_file ? &*symbol_file : nullptr;
}

const CodeSymbols& ProbedCode::symbols() const {
  if (!state_->symbols) state_->read_symbols();
  return *state_->symbols;
}

std::string ProbedCode::State::find_debug_path() const {
  ObjectFinder search(finder);
  if (!in_kernel)
    return search.find_debug_info({.path = path, .build_id = std::string(file->build_id())});
  if (!module.empty())
    return file ? search.find_debug_info(
                      {.path = file->name(), .build_id = std::string(file->build_id())})
                : std::string();
  if (file) return file->name();
  FoundObject found = search.find_vmlinux(running_kernel_build_id(), release);
  return found.usable() ? found.symbols_path : std::string();
}

const std::string& ProbedCode::debug_path() const {
  if (!state_->debug_path) state_->debug_path = state_->find_debug_path();
  return *state_->debug_path;
}

/// All of .symtab, else of .dynsym: each name of an address once.
std::vector<std::string_view> ProbedCode::State::linked_names(
    std::span<const CodeSymbol> all) const {
  bool has_full_table =
      std::ranges::any_of(all, [](const CodeSymbol& symbol) { return !symbol.is_dynamic; });
  std::vector<std::pair<uint64_t, std::string_view>> wanted;  // by address
  wanted.reserve(all.size());
  for (const CodeSymbol& symbol : all) {
    // What a kernel runs only while it starts is gone.
    bool is_gone = in_kernel && !symbol.is_in_text;
    if (symbol.is_dynamic != has_full_table && !is_gone)
      wanted.emplace_back(symbol.address, symbol.name);
  }
  std::ranges::sort(wanted, {}, &std::pair<uint64_t, std::string_view>::first);
  std::vector<std::string_view> linked;
  linked.reserve(wanted.size());
  uint64_t address = 0;
  size_t first = 0;  // of those at this address
  for (const auto& [at, name] : wanted) {
    constexpr size_t kMostAliases = 256;  // that are compared with each other
    if (at != address || linked.size() - first > kMostAliases) first = linked.size();
    address = at;
    bool is_known = std::find(linked.begin() + static_cast<ptrdiff_t>(first), linked.end(), name) !=
                    linked.end();
    if (!is_known) linked.push_back(name);
  }
  return linked;
}

NameList ProbedCode::shown_names(const DemangleOptions& demangle) const {
  constexpr std::string_view kKind = "names";
  // With fewer, a list is made in some milliseconds. Where a file's symbols are elsewhere, they may
  // come and go.
  constexpr size_t kManySymbols = 20'000;
  const ElfFile* own = file();
  ObjectCache cache(state_->finder.object_cache);
  bool is_usual = demangle.enabled && !demangle.kernel;
  bool is_cached = is_usual && !state_->finder.object_cache.empty() && !in_kernel() &&
                   own->symbol_count(SymbolSection::kSymtab) >= kManySymbols;
  auto made_of = is_cached ? NamedFile::of(own->name()) : std::nullopt;
  if (auto kept =
          made_of ? cache.find(own->build_id(), kKind, NameList::kPackedVersion) : std::nullopt)
    if (auto list = NameList::unpack(std::move(*kept), *made_of)) return std::move(*list);
  NameList list = NameList::of(state_->linked_names(symbols().unordered()), in_kernel(), demangle);
  if (made_of)
    cache.keep(own->build_id(), kKind, NameList::kPackedVersion, as_bytes(list.pack(*made_of)));
  return list;
}

const CodeSymbols& ProbedCode::linked_symbols() const {
  if (!in_kernel()) return symbols();
  if (!state_->linked_symbols) {
    state_->linked_symbols.emplace();
    if (auto debug_info = debug())
      state_->linked_symbols = CodeSymbols::read((*debug_info)->file().elf());
  }
  return *state_->linked_symbols;
}

std::optional<CodeSymbol> ProbedCode::linked_function_at(uint64_t address) const {
  CodeSymbols around;
  bool is_read = in_kernel() || state_->symbols || !state_->file;
  if (!is_read) {
    around = CodeSymbols::read_around(*state_->file, address);
    if (const ElfFile* separate = state_->separate_symbols())
      around.add(CodeSymbols::read_around(*separate, address));
  }
  const CodeSymbol* found = (is_read ? linked_symbols() : around).function_at(address);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Result<DebugCode*> ProbedCode::debug() const {
  if (state_->debug) return state_->debug.get();
  if (debug_path().empty())
    return fail(ErrorCode::kNotFound, "{} has no debug information: {}", description(),
                debug_advice());
  DwarfLocations places;
  places.root = state_->finder.symfs;
  places.debug_root = state_->finder.debug_root;
  state_->debug = TRY(DebugCode::open(debug_path(), places, state_->finder.object_cache));
  return state_->debug.get();
}

Result<KernelTypes*> ProbedCode::kernel_types() const {
  if (!in_kernel()) return fail(ErrorCode::kNotFound, "{} has no BTF", path());
  if (state_->types) return state_->types.get();
  if (!state_->is_offline) {
    state_->types = TRY(KernelTypes::load(module()));
    return state_->types.get();
  }
  const ElfSection* section = file() == nullptr ? nullptr : file()->section(".BTF");
  if (section == nullptr || !module().empty())
    return fail(ErrorCode::kNotFound, "{} has no BTF of its own", description());
  state_->types = TRY(KernelTypes::parse(file()->content(*section)));
  return state_->types.get();
}

/// Below -s, as many leading directories are left out as it takes: a source tree is seldom where
/// the object was built.
std::string ProbedCode::source_path(const std::string& path) const {
  const std::string& root = state_->source_root;
  if (root.empty()) return path_below(state_->finder.symfs, path);
  for (size_t at = 0; at != std::string::npos; at = path.find('/', at + 1))
    // All but the first begin with the slash between them.
    if (std::string below = root + (at == 0 ? "/" : "") + path.substr(at); is_file(below))
      return below;
  return path;
}

Result<std::string> ProbedCode::source(const std::string& path, std::string_view directory) const {
  const std::string& root = state_->source_root;
  SourceClaim claim;
  // What is below -s is where the user says that the source is.
  std::error_code unknown;
  claim.directory = root.empty() ? path_below(state_->finder.symfs, directory)
                                 : std::filesystem::canonical(root, unknown).string();
  for (const std::string& file : {debug_path(), state_->finder.symfs + state_->path})
    if (!in_kernel())
      std::ranges::copy(owners_on_the_way_to(file), std::back_inserter(claim.owners));
  return read_source(source_path(path), claim);
}

std::string ProbedCode::debug_advice() const {
  if (!in_kernel()) {
    std::string command = debug_install_command({path()});
    return command.empty() ? "compile it with -g, or install its debug package"
                           : fmt::format("install it with '{}'", command);
  }
  if (module().empty())
    return fmt::format(
        "install the kernel's debug package (linux-image-{}-dbg on Debian) or give -k "
        "VMLINUX",
        state_->release);
  return fmt::format(
      "install the kernel's debug package (linux-image-{}-dbg on Debian) or give -m "
      "the path of a module built with it",
      state_->release);
}

}  // namespace sonde
