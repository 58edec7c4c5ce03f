#include "symbol/symbolizer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "base/files/process_root.h"
#include "base/parallel.h"
#include "base/text.h"
#include "store/bundle.h"
#include "store/object_cache.h"
#include "symbol/debug_package.h"
#include "symbol/demangle.h"
#include "symbol/frame_function.h"
#include "symbol/source/source_lines.h"
#include "symbol/source_index.h"

namespace sonde {
namespace {

/// Names as shown, one slot per symbol of a table, filled on first use.
class ShownNames {
 public:
  explicit ShownNames(size_t count)
      : slots_(std::make_unique<std::atomic<const std::string*>[]>(count)) {}

  template <typename Make>
  std::string_view get(size_t index, const Make& make) {
    if (const std::string* shown = slots_[index].load(std::memory_order_acquire)) return *shown;
    std::scoped_lock lock(mutex_);
    if (const std::string* shown = slots_[index].load(std::memory_order_acquire)) return *shown;
    const std::string& kept = kept_.emplace_back(make());
    slots_[index].store(&kept, std::memory_order_release);
    return kept;
  }

 private:
  std::unique_ptr<std::atomic<const std::string*>[]> slots_;
  std::mutex mutex_;
  std::deque<std::string> kept_;
};

struct Lines {
  std::once_flag opened;
  std::optional<RetainedObject> kept;  // what `index` was restored from
  std::optional<LineIndex> index;
};

constexpr std::string_view kLinesKind = "lines";
/// Debug information that takes some milliseconds to read: less is not cached on disk.
constexpr uint64_t kWorthKeeping = uint64_t{256} << 10;
/// The same, if something is cached already.
constexpr uint64_t kWorthAdding = uint64_t{4} << 10;

struct LoadedDso {
  DsoId dso;
  DsoSymbols symbols;
  uint32_t first_id = 0;
  std::unique_ptr<ShownNames> names;
  std::atomic<bool> lacks_names = false;  // a function that has none was shown
  Lines lines;
  /// For the kernel's objects: the symbols that were not requested in advance. Its range of ids is
  /// reserved from the start; its table is created when the first of them is needed.
  LoadedDso* rest = nullptr;
  /// For interpreted files: which parts these symbols are of, and those that became known later.
  size_t first_part = 0, end_part = 0;
  LoadedDso* more = nullptr;
  std::once_flag made;
};

}  // namespace

struct Symbolizer::State {
  State(const Machine& m, SymbolOptions o, const Env& env, FinderOptions finder,
        std::string release)
      : machine(m),
        losses(env.losses),
        options(o),
        cache(finder.object_cache),
        kernel_release(std::move(release)),
        loader(std::move(finder), std::move(o), kernel_release) {}

  const Machine& machine;
  LossLedger& losses;
  SymbolOptions options;
  ObjectCache cache;
  std::string kernel_release;
  DsoSymbolLoader loader;
  const JitObjects* jit = nullptr;
  const InterpretedCode* interpreted = nullptr;
  std::deque<LoadedDso> loaded;    // in the order of their ids
  std::vector<LoadedDso*> by_dso;  // by DsoId; null: not loaded
  uint32_t next_id = 0;
  InlinedSymbols inlined;

  [[nodiscard]] LoadedDso* of(DsoId dso) const {
    return dso.valid() && dso.index() < by_dso.size() ? by_dso[dso.index()] : nullptr;
  }
  /// The table symbol that a symbol belongs to.
  [[nodiscard]] SymbolId real(SymbolId symbol) const {
    return InlinedSymbols::has(symbol) ? inlined[symbol].into : symbol;
  }
  [[nodiscard]] LoadedDso& of(SymbolId symbol) {
    auto above = std::upper_bound(loaded.begin(), loaded.end(), symbol.value,
                                  [](uint32_t id, const LoadedDso& l) { return id < l.first_id; });
    return *std::prev(above);
  }
  /// Null if the DSO is not a jitdump.
  [[nodiscard]] const JitObject* jit_object(DsoId dso) const {
    return jit == nullptr ? nullptr : jit->of(dso);
  }
  /// Null if the DSO is no source file of an interpreter.
  [[nodiscard]] const InterpretedObject* interpreted_object(DsoId dso) const {
    return interpreted == nullptr ? nullptr : interpreted->of(dso);
  }
  [[nodiscard]] bool has_lines(const LoadedDso* loaded_dso) const {
    return loaded_dso != nullptr &&
           (loaded_dso->symbols.segments || jit_object(loaded_dso->dso) != nullptr ||
            interpreted_object(loaded_dso->dso) != nullptr);
  }
  [[nodiscard]] bool is_of_kernel(DsoId dso) const;
  /// The part of a shown name that must be in the symbol's own name.
  [[nodiscard]] static std::string_view part_of(std::string_view name, bool is_demangled) {
    if (frame_function_start(name)) return {};  // we add such names ourselves
    if (is_demangled) return identifier_within(name);
    return name.contains('@') ? std::string_view() : name;  // we add "NAME@plt" ourselves
  }
  void load(LoadedDso& one, std::string_view name_part = {});
  const LineIndex* lines_of(LoadedDso& dso);
  void open_lines(LoadedDso& dso);
  [[nodiscard]] DwarfLocations dwarf_places() const;
  [[nodiscard]] Result<ElfFile> open_debug_info(const Dso& object) const;
  void keep_lines();
  void report_missing(std::span<LoadedDso* const> fresh) const;
  void report_nameless() const;
  void load_kernel(std::span<LoadedDso* const> of_kernel,
                   DsoSymbolLoader::KernelAddresses addresses, std::string_view name_part);
  void add_rest(LoadedDso& of_kernel);
  [[nodiscard]] SymbolId find_in_rest(LoadedDso& rest, uint64_t table_address);
  [[nodiscard]] std::optional<SourceLine> line_at(LoadedDso& dso, uint64_t address);
};

Symbolizer::Symbolizer(const Machine& machine, SymbolOptions options, const Env& env,
                       std::string_view kernel_release, const JitObjects* jit,
                       const InterpretedCode* interpreted) {
  FinderOptions finder = finder_options(options, env);
  state_ = std::make_unique<State>(machine, std::move(options), env, std::move(finder),
                                   std::string(kernel_release));
  state_->jit = jit;
  state_->interpreted = interpreted;
}

Symbolizer::~Symbolizer() {
  state_->keep_lines();
  state_->report_nameless();
}

void Symbolizer::load(std::span<const DsoId> dsos,
                      std::optional<std::span<const uint64_t>> kernel_addresses,
                      std::string_view only) {
  State& state = *state_;
  state.by_dso.resize(state.machine.dsos().size());
  std::vector<LoadedDso*> fresh, of_kernel, others;
  for (DsoId dso : dsos) {
    if (!dso.valid()) continue;
    LoadedDso** place = &state.by_dso[dso.index()];
    const InterpretedObject* interpreted_file = state.interpreted_object(dso);
    size_t parts = interpreted_file == nullptr ? 0 : interpreted_file->parts(), known = 0;
    for (; *place != nullptr; place = &(*place)->more) known = (*place)->end_part;
    if (place != &state.by_dso[dso.index()] && known == parts) continue;
    LoadedDso& loaded = state.loaded.emplace_back();
    loaded.dso = dso;
    loaded.first_part = known;
    loaded.end_part = parts;
    *place = &loaded;
    fresh.push_back(&loaded);
    (state.is_of_kernel(dso) ? of_kernel : others).push_back(&loaded);
  }
  // The kernel's list takes longest, so it goes first.
  size_t kernel_jobs = of_kernel.empty() ? 0 : 1;
  parallel_jobs(kernel_jobs + others.size(), [&](size_t i) {
    if (i < kernel_jobs)
      state.load_kernel(of_kernel, kernel_addresses,
                        state.part_of(only, state.options.demangle_kernel));
    else
      state.load(*others[i - kernel_jobs], state.part_of(only, state.options.demangle));
  });
  for (LoadedDso* loaded : fresh) {
    loaded->first_id = state.next_id;
    state.next_id += static_cast<uint32_t>(loaded->symbols.table->size());
  }
  if (state.loader.rest_size() > 0)
    for (LoadedDso* loaded : of_kernel) state.add_rest(*loaded);
  state.report_missing(fresh);
}

void Symbolizer::State::add_rest(LoadedDso& of_kernel) {
  LoadedDso& rest = loaded.emplace_back();
  rest.dso = of_kernel.dso;
  rest.symbols.slide = of_kernel.symbols.slide;
  rest.first_id = next_id;
  next_id += static_cast<uint32_t>(loader.rest_size());
  of_kernel.rest = &rest;
}

SymbolId Symbolizer::State::find_in_rest(LoadedDso& rest, uint64_t table_address) {
  if (loader.is_bare(table_address)) return {};
  std::call_once(rest.made, [&] {
    rest.symbols.table = &loader.rest_of_kernel();
    rest.names = std::make_unique<ShownNames>(rest.symbols.table->size());
  });
  const Symbol* symbol = rest.symbols.table->find(table_address);
  return symbol == nullptr ? SymbolId()
                           : SymbolId(rest.first_id + rest.symbols.table->index_of(*symbol));
}

bool Symbolizer::State::is_of_kernel(DsoId dso) const {
  const Dso& object = machine.dsos()[dso];
  return !object.is_guest && (object.kind == DsoKind::kKernel || object.kind == DsoKind::kModule);
}

constexpr size_t kMaxNamed = 3;

/// Wrong symbols are never shown, but say why there are none.
void Symbolizer::State::report_missing(std::span<LoadedDso* const> fresh) const {
  for (const LoadedDso* one : fresh) {
    bool is_map = machine.dsos()[one->dso].kind == DsoKind::kJit;
    // Most memory of generated code has no map at all.
    if (is_map && one->symbols.is_missing && !one->symbols.source.ends_with(" is missing"))
      losses.add(LossKind::k_bad_symbol_source, 1, one->symbols.source);
  }
  bool is_foreign = options.path_trust == PathTrust::kNone;
  std::vector<std::string> named;
  size_t count = 0;
  for (const LoadedDso* one : fresh)
    if ((is_foreign ? one->symbols.is_missing : one->symbols.is_replaced) && ++count <= kMaxNamed)
      named.push_back(machine.dsos()[one->dso].path);
  if (count == 0) return;
  if (count > kMaxNamed) named.emplace_back("…");
  losses.add(is_foreign ? LossKind::k_foreign_object : LossKind::k_replaced_object, count,
             join(named, ", "));
}

/// Which objects need symbols, and what would give them some.
void Symbolizer::State::report_nameless() const {
  std::vector<std::string> named, paths;
  size_t count = 0;
  for (const LoadedDso& one : loaded) {
    if (!one.lacks_names.load(std::memory_order_relaxed)) continue;
    const Dso& dso = machine.dsos()[one.dso];
    // Nothing that could be installed here has the symbols of a guest, or of the vdso.
    if (dso.is_guest || dso.kind == DsoKind::kVdso) continue;
    paths.push_back(machine.dsos()[one.dso].path);
    if (++count <= kMaxNamed) named.push_back(machine.dsos()[one.dso].short_name);
  }
  if (count == 0) return;
  if (count > kMaxNamed) named.emplace_back("…");
  std::string example = join(named, ", ");
  example += "; their names: " + debug_symbols_advice(paths);
  losses.add(LossKind::k_nameless_functions, count, example);
}

void Symbolizer::State::load(LoadedDso& one, std::string_view name_part) {
  if (const JitObject* generated = jit_object(one.dso)) {
    one.symbols.own = generated->symbols();
    one.symbols.source = machine.dsos()[one.dso].path;
    one.symbols.origin = 'J';
  } else if (const InterpretedObject* interpreted_file = interpreted_object(one.dso)) {
    one.symbols.own = interpreted_file->symbols(one.first_part);
    one.symbols.source = "the recording";
    one.symbols.origin = 'J';
  } else {
    one.symbols = loader.load(machine.dsos()[one.dso], name_part);
  }
  if (one.symbols.table == nullptr) one.symbols.table = &one.symbols.own;
  one.names = std::make_unique<ShownNames>(one.symbols.table->size());
}

void Symbolizer::State::load_kernel(std::span<LoadedDso* const> of_kernel,
                                    DsoSymbolLoader::KernelAddresses addresses,
                                    std::string_view name_part) {
  const DsoTable& table = machine.dsos();
  DsoId kernel = table.find("[kernel.kallsyms]");
  bool with_modules = std::ranges::any_of(
      of_kernel, [&](LoadedDso* l) { return table[l->dso].kind == DsoKind::kModule; });
  loader.prepare_kernel(kernel.valid() ? table[kernel] : Dso(), with_modules, addresses, name_part);
  for (LoadedDso* one : of_kernel) load(*one);
}

SymbolId Symbolizer::find(DsoId dso, uint64_t address) const {
  for (LoadedDso* loaded = state_->of(dso); loaded != nullptr; loaded = loaded->more) {
    auto table_address = loaded->symbols.to_table(address);
    if (!table_address) continue;
    const SymbolTable& table = *loaded->symbols.table;
    const Symbol* symbol = table.find(*table_address);
    if (symbol != nullptr) return SymbolId(loaded->first_id + table.index_of(*symbol));
    if (loaded->rest != nullptr) return state_->find_in_rest(*loaded->rest, *table_address);
    if (loaded->symbols.is_stripped && state_->options.tell_of_nameless)
      loaded->lacks_names.store(true, std::memory_order_relaxed);
  }
  return {};
}

std::vector<AddressExtent> Symbolizer::extents_of(DsoId dso, std::string_view name) const {
  std::vector<AddressExtent> extents;
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr) return extents;
  bool is_kernel_side = state_->machine.dsos()[dso].is_kernel_side;
  std::string_view part = State::part_of(
      name, is_kernel_side ? state_->options.demangle_kernel : state_->options.demangle);
  std::optional<uint64_t> nameless_start = frame_function_start(name);
  const DsoSymbols& symbols = loaded->symbols;
  for (const Symbol& symbol : symbols.table->symbols()) {
    if (symbol.has_name() ? !symbol.name().contains(part) : symbol.start != nameless_start)
      continue;
    if (this->name(SymbolId(loaded->first_id + symbols.table->index_of(symbol))) != name) continue;
    uint64_t start = symbols.from_table(symbol.start), size = symbol.end - symbol.start;
    // If it is not contiguous, every address of the object may match.
    if (size == 0 || symbols.to_table(start) != symbol.start ||
        symbols.to_table(start + size - 1) != symbol.end - 1)
      return {{0, UINT64_MAX}};
    extents.push_back({start, size});
  }
  return extents;
}

SymbolInfo Symbolizer::info(SymbolId symbol) const {
  SymbolId real = state_->real(symbol);
  LoadedDso& loaded = state_->of(real);
  const Symbol& entry = loaded.symbols.table->symbols()[real.value - loaded.first_id];
  return {loaded.dso,
          loaded.symbols.from_table(entry.start),
          loaded.symbols.from_table(entry.end),
          name(symbol),
          entry.binding,
          entry.type};
}

std::vector<SymbolInfo> Symbolizer::symbols_of(DsoId dso) const {
  std::vector<SymbolInfo> all;
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr || loaded->symbols.table == nullptr) return all;
  all.reserve(loaded->symbols.table->size());
  for (size_t i = 0; i < loaded->symbols.table->size(); ++i)
    all.push_back(info(SymbolId(loaded->first_id + i)));
  return all;
}

uint64_t Symbolizer::start_of(SymbolId symbol) const {
  symbol = state_->real(symbol);
  LoadedDso& loaded = state_->of(symbol);
  return loaded.symbols.from_table(
      loaded.symbols.table->symbols()[symbol.value - loaded.first_id].start);
}

std::string_view Symbolizer::name(SymbolId symbol) const {
  if (InlinedSymbols::has(symbol)) return state_->inlined[symbol].name;
  LoadedDso& loaded = state_->of(symbol);
  uint32_t index = symbol.value - loaded.first_id;
  return loaded.names->get(index, [&] {
    DemangleOptions demangle;
    demangle.enabled = state_->options.demangle;
    demangle.kernel = state_->options.demangle_kernel;
    const Symbol& found = loaded.symbols.table->symbols()[index];
    const Dso& dso = state_->machine.dsos()[loaded.dso];
    if (found.has_name()) return shown_name(found, dso.is_kernel_side, demangle);
    loaded.lacks_names.store(true, std::memory_order_relaxed);
    return frame_function_name(dso.short_name, found.start);
  });
}

std::string Symbolizer::identity(SymbolId symbol) const {
  std::string text(label(symbol));
  if (InlinedSymbols::has(symbol)) return text;
  const LoadedDso& loaded = state_->of(symbol);
  if (loaded.symbols.table->symbols()[symbol.value - loaded.first_id].has_name()) return text;
  return text.append(1, ' ').append(to_hex(state_->machine.dsos()[loaded.dso].build_id));
}

DsoId Symbolizer::dso_of(SymbolId symbol) const {
  return state_->of(state_->real(symbol)).dso;
}

std::string_view Symbolizer::source_of(DsoId dso) const {
  LoadedDso* loaded = state_->of(dso);
  return loaded == nullptr ? std::string_view("not looked for")
                           : std::string_view(loaded->symbols.source);
}

char Symbolizer::origin_of(DsoId dso) const {
  LoadedDso* loaded = state_->of(dso);
  return loaded == nullptr ? '!' : loaded->symbols.origin;
}

/// Null if the object has no DWARF.
const LineIndex* Symbolizer::State::lines_of(LoadedDso& dso) {
  std::call_once(dso.lines.opened, [&] { open_lines(dso); });
  return dso.lines.index ? &*dso.lines.index : nullptr;
}

DwarfLocations Symbolizer::State::dwarf_places() const {
  const FinderOptions& options_of_finder = loader.finder().options();
  DwarfLocations places{options_of_finder.symfs, options_of_finder.debug_root};
  if (const Bundle* bundle = options_of_finder.bundle)
    places.by_build_id = [bundle](std::string_view build_id) {
      return bundle->file(build_id, "debug");
    };
  return places;
}

Result<ElfFile> Symbolizer::State::open_debug_info(const Dso& object) const {
  std::string path = loader.finder().find_debug_info(query_of(object));
  if (path.empty()) return fail(ErrorCode::kNotFound, "no debug information");
  return ElfFile::open(path);
}

void Symbolizer::State::open_lines(LoadedDso& dso) {
  const Dso& object = machine.dsos()[dso.dso];
  DwarfLocations places = dwarf_places();
  auto open = [this, &object] { return open_debug_info(object); };
  dso.lines.kept = cache.find(object.build_id, kLinesKind, LineIndex::kPackedVersion);
  if (dso.lines.kept) dso.lines.index = LineIndex::restore(dso.lines.kept->bytes(), open, places);
  if (dso.lines.index) return;
  auto file = open();
  if (!file) return;
  if (auto index = LineIndex::open(std::move(*file), places)) dso.lines.index = std::move(*index);
}

void Symbolizer::State::keep_lines() {
  for (LoadedDso& dso : loaded) {
    if (!dso.lines.index) continue;
    if (auto bytes = dso.lines.index->pack(dso.lines.kept ? kWorthAdding : kWorthKeeping))
      cache.keep(machine.dsos()[dso.dso].build_id, kLinesKind, LineIndex::kPackedVersion, *bytes);
  }
}

std::optional<SourceLine> Symbolizer::State::line_at(LoadedDso& dso, uint64_t address) {
  if (const JitObject* generated = jit_object(dso.dso)) return generated->line_at(address);
  if (const InterpretedObject* file = interpreted_object(dso.dso)) return file->line_at(address);
  auto elf_address = dso.symbols.segments->addr_of(FileOffset(address));
  if (!elf_address) return std::nullopt;
  const LineIndex* lines = lines_of(dso);
  return lines == nullptr ? std::nullopt : lines->find(*elf_address);
}

void Symbolizer::prepare_lines(DsoId dso, std::span<const uint64_t> addresses,
                               LineParts parts) const {
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr || !loaded->symbols.segments) return;
  const LineIndex* lines = state_->lines_of(*loaded);
  if (lines == nullptr) return;
  std::vector<ElfAddr> wanted;
  wanted.reserve(addresses.size());
  for (uint64_t address : addresses)
    if (auto elf_address = loaded->symbols.segments->addr_of(FileOffset(address)))
      wanted.push_back(*elf_address);
  lines->prepare(wanted, parts);
}

void Symbolizer::inlined_at(DsoId dso, uint64_t address,
                            std::vector<std::string_view>& names) const {
  if (const JitObject* generated = state_->jit_object(dso))
    return generated->inlined_at(address, names);
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr || !loaded->symbols.segments) return;
  auto elf_address = loaded->symbols.segments->addr_of(FileOffset(address));
  const LineIndex* lines = state_->lines_of(*loaded);
  if (lines != nullptr && elf_address) lines->inlined_functions(*elf_address, names);
}

std::vector<InlineFrame> Symbolizer::inline_frames(DsoId dso, uint64_t address) const {
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr || !loaded->symbols.segments) return {};
  auto elf_address = loaded->symbols.segments->addr_of(FileOffset(address));
  const LineIndex* lines = state_->lines_of(*loaded);
  if (lines == nullptr || !elf_address) return {};
  return lines->inline_frames(*elf_address);
}

std::string_view Symbolizer::function_at(DsoId dso, uint64_t address) const {
  std::vector<InlineFrame> frames = inline_frames(dso, address);
  return frames.empty() ? std::string_view() : frames.front().function;
}

SymbolId Symbolizer::inlined(SymbolId into, std::string_view linkage_name) {
  return state_->inlined.intern(into, linkage_name, [this](std::string_view name) {
    DemangleOptions demangle;
    demangle.enabled = state_->options.demangle;
    return shown_name(name, false, demangle);
  });
}

std::string_view Symbolizer::label(SymbolId symbol) const {
  return InlinedSymbols::has(symbol) ? state_->inlined[symbol].label : name(symbol);
}

std::string Symbolizer::srcline(DsoId dso, uint64_t address) const {
  if (!dso.valid()) return std::string(kNoSrcline);
  LoadedDso* loaded = state_->of(dso);
  if (state_->has_lines(loaded)) {
    auto line = state_->line_at(*loaded, address);
    return line ? format_srcline(*line, {state_->options.full_source_path})
                : std::string(kNoSrcline);
  }
  // No file: the symbol stands in for the line.
  if (SymbolId symbol = find(dso, address); symbol.valid())
    return format_unknown_srcline(name(symbol), address - start_of(symbol));
  return format_unknown_srcline_of_object(state_->machine.dsos()[dso].short_name, address);
}

std::string Symbolizer::srcfile(DsoId dso, uint64_t address) const {
  LoadedDso* loaded = state_->of(dso);
  if (!state_->has_lines(loaded)) return {};
  auto line = state_->line_at(*loaded, address);
  if (!line) return {};
  std::string text = format_srcline(*line, {state_->options.full_source_path});
  text.resize(std::min(text.size(), text.rfind(':')));
  return text;
}

std::optional<SourcePlace> Symbolizer::source_place(DsoId dso, uint64_t address) const {
  LoadedDso* loaded = state_->of(dso);
  if (!state_->has_lines(loaded)) return std::nullopt;
  auto line = state_->line_at(*loaded, address);
  if (!line) return std::nullopt;
  const SourceFile& file = line->file;
  return SourcePlace{file.path(), line->line,
                     std::string(file.base.empty() ? file.directory : file.base)};
}

std::vector<uint32_t> Symbolizer::owners_of(DsoId dso) const {
  const Dso& object = state_->machine.dsos()[dso];
  if (object.kind == DsoKind::kKernel) return {};
  std::vector<uint32_t> owners;
  auto add = [&owners](const std::string& path) {
    std::vector<uint32_t> found = owners_on_the_way_to(path);
    owners.insert(owners.end(), found.begin(), found.end());
    return !found.empty();
  };
  const ObjectFinder& finder = state_->loader.finder();
  std::string original = path_below(finder.options().symfs, object.path);
  bool is_original = true;  // what is read, rather than a copy of it that belongs to us
  if (object.kind != DsoKind::kJitDump) {
    (void)add(finder.find_debug_info(query_of(object)));
    is_original = finder.find(query_of(object)).runtime_path == original;
  }
  if ((!add(original) || !is_original) && ::geteuid() == 0) owners.push_back(kUnknownOwner);
  return owners;
}

std::string Symbolizer::object_path(DsoId dso) const {
  const Dso& object = state_->machine.dsos()[dso];
  return state_->loader.finder().find(query_of(object)).runtime_path;
}

FoundObject Symbolizer::object_files(DsoId dso) const {
  return state_->loader.finder().find(query_of(state_->machine.dsos()[dso]));
}

FoundObject Symbolizer::kernel_image(DsoId dso) const {
  if (state_->machine.dsos()[dso].is_guest) return {};
  return state_->loader.finder().find_vmlinux(state_->machine.dsos()[dso].build_id,
                                              state_->kernel_release);
}

Result<DebugInfo> Symbolizer::debug_info(DsoId dso) const {
  const Dso& object = state_->machine.dsos()[dso];
  if (object.kind != DsoKind::kKernel)
    return DebugInfo{TRY(state_->open_debug_info(object)), state_->dwarf_places()};
  FoundObject image = kernel_image(dso);
  auto& file = image.symbols ? image.symbols : image.runtime;
  if (!file) return fail(ErrorCode::kNotFound, "no kernel image");
  return DebugInfo{std::move(*file), state_->dwarf_places()};
}

Result<KernelCore> Symbolizer::kernel_core() const {
  const DsoTable& table = state_->machine.dsos();
  DsoId kernel = table.find("[kernel.kallsyms]");
  return KernelCore::find(kernel.valid() ? table[kernel] : Dso(),
                          {.kallsyms = state_->options.kallsyms,
                           .buildid_dir = state_->loader.finder().options().buildid_dir});
}

const JitObject* Symbolizer::generated_code(DsoId dso) const {
  return state_->jit_object(dso);
}

}  // namespace sonde
