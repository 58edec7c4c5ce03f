#include "symbol/symbolizer.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "base/parallel.h"
#include "symbol/demangle.h"
#include "symbol/source_index.h"

namespace sonde {
namespace {

/// Names as they are shown, one slot per symbol of a table, filled when first asked for.
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

/// The line index of a DSO: one thread at a time may use it.
struct Lines {
  std::mutex mutex;
  bool opened = false;
  std::optional<LineIndex> index;
};

struct LoadedDso {
  DsoId dso;
  DsoSymbols symbols;
  uint32_t first_id = 0;
  std::unique_ptr<ShownNames> names;
  Lines lines;
};

}  // namespace

struct Symbolizer::State {
  State(const Machine& m, SymbolOptions o, FinderOptions finder, std::string release)
      : machine(m), options(o), loader(std::move(finder), std::move(o), std::move(release)) {}

  const Machine& machine;
  SymbolOptions options;
  DsoSymbolLoader loader;
  std::deque<LoadedDso> loaded;    // in the order of their ids
  std::vector<LoadedDso*> by_dso;  // by DsoId; null: not loaded
  uint32_t next_id = 0;

  [[nodiscard]] LoadedDso* of(DsoId dso) const {
    return dso.valid() && dso.index() < by_dso.size() ? by_dso[dso.index()] : nullptr;
  }
  [[nodiscard]] LoadedDso& of(SymbolId symbol) {
    auto above = std::upper_bound(loaded.begin(), loaded.end(), symbol.value,
                                  [](uint32_t id, const LoadedDso& l) { return id < l.first_id; });
    return *std::prev(above);
  }
  [[nodiscard]] bool is_of_kernel(DsoId dso) const;
  void load(LoadedDso& one);
  void load_kernel(std::span<LoadedDso* const> of_kernel);
  [[nodiscard]] std::optional<SourceLine> line_at(LoadedDso& dso, uint64_t address);
};

Symbolizer::Symbolizer(const Machine& machine, SymbolOptions options, const Env& env,
                       std::string_view kernel_release) {
  FinderOptions finder;
  finder.symfs = options.symfs;
  finder.vmlinux = options.vmlinux;
  finder.buildid_dir =
      default_buildid_dir(options.buildid_dir, env.variable("PERF_BUILDID_DIR").value_or(""),
                          env.variable("HOME").value_or(""));
  state_ = std::make_unique<State>(machine, std::move(options), std::move(finder),
                                   std::string(kernel_release));
}

Symbolizer::~Symbolizer() = default;

void Symbolizer::load(std::span<const DsoId> dsos) {
  State& state = *state_;
  state.by_dso.resize(state.machine.dsos().size());
  std::vector<LoadedDso*> fresh, of_kernel, others;
  for (DsoId dso : dsos) {
    if (!dso.valid() || state.by_dso[dso.index()] != nullptr) continue;
    LoadedDso& loaded = state.loaded.emplace_back();
    loaded.dso = dso;
    state.by_dso[dso.index()] = &loaded;
    fresh.push_back(&loaded);
    (state.is_of_kernel(dso) ? of_kernel : others).push_back(&loaded);
  }
  // The kernel's list is the longest of all, so it goes first.
  size_t kernel_jobs = of_kernel.empty() ? 0 : 1;
  parallel_for(kernel_jobs + others.size(), [&](size_t i) {
    if (i < kernel_jobs)
      state.load_kernel(of_kernel);
    else
      state.load(*others[i - kernel_jobs]);
  });
  for (LoadedDso* loaded : fresh) {
    loaded->first_id = state.next_id;
    state.next_id += static_cast<uint32_t>(loaded->symbols.table->size());
  }
}

bool Symbolizer::State::is_of_kernel(DsoId dso) const {
  DsoKind kind = machine.dsos()[dso].kind;
  return kind == DsoKind::kKernel || kind == DsoKind::kModule;
}

void Symbolizer::State::load(LoadedDso& one) {
  one.symbols = loader.load(machine.dsos()[one.dso]);
  if (one.symbols.table == nullptr) one.symbols.table = &one.symbols.own;
  one.names = std::make_unique<ShownNames>(one.symbols.table->size());
}

void Symbolizer::State::load_kernel(std::span<LoadedDso* const> of_kernel) {
  const DsoTable& table = machine.dsos();
  DsoId kernel = table.find("[kernel.kallsyms]");
  bool with_modules = std::ranges::any_of(
      of_kernel, [&](LoadedDso* l) { return table[l->dso].kind == DsoKind::kModule; });
  loader.prepare_kernel(kernel.valid() ? table[kernel] : Dso(), with_modules);
  for (LoadedDso* one : of_kernel) load(*one);
}

SymbolId Symbolizer::find(DsoId dso, uint64_t address) const {
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr) return {};
  auto table_address = loaded->symbols.to_table(address);
  if (!table_address) return {};
  const SymbolTable& table = *loaded->symbols.table;
  const Symbol* symbol = table.find(*table_address);
  return symbol == nullptr ? SymbolId() : SymbolId(loaded->first_id + table.index_of(*symbol));
}

SymbolInfo Symbolizer::info(SymbolId symbol) const {
  LoadedDso& loaded = state_->of(symbol);
  const Symbol& entry = loaded.symbols.table->symbols()[symbol.value - loaded.first_id];
  return {loaded.dso,
          loaded.symbols.from_table(entry.start),
          loaded.symbols.from_table(entry.end),
          name(symbol),
          entry.binding,
          entry.type};
}

uint64_t Symbolizer::start_of(SymbolId symbol) const {
  LoadedDso& loaded = state_->of(symbol);
  return loaded.symbols.from_table(
      loaded.symbols.table->symbols()[symbol.value - loaded.first_id].start);
}

std::string_view Symbolizer::name(SymbolId symbol) const {
  LoadedDso& loaded = state_->of(symbol);
  uint32_t index = symbol.value - loaded.first_id;
  return loaded.names->get(index, [&] {
    DemangleOptions demangle;
    demangle.enabled = state_->options.demangle;
    demangle.kernel = state_->options.demangle_kernel;
    return shown_name(loaded.symbols.table->symbols()[index],
                      state_->machine.dsos()[loaded.dso].is_kernel_side, demangle);
  });
}

DsoId Symbolizer::dso_of(SymbolId symbol) const {
  return state_->of(symbol).dso;
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

std::optional<SourceLine> Symbolizer::State::line_at(LoadedDso& dso, uint64_t address) {
  std::scoped_lock lock(dso.lines.mutex);
  if (!dso.lines.opened) {
    dso.lines.opened = true;
    const Dso& object = machine.dsos()[dso.dso];
    std::string path = loader.finder().find_debug_info(
        {object.path, object.build_id, static_cast<pid_t>(object.pid), std::nullopt});
    if (!path.empty())
      if (auto index = LineIndex::open(path)) dso.lines.index = std::move(*index);
  }
  auto elf_address = dso.symbols.segments->addr_of(FileOffset(address));
  if (!dso.lines.index || !elf_address) return std::nullopt;
  return dso.lines.index->find(*elf_address);
}

std::string Symbolizer::srcline(DsoId dso, uint64_t address) const {
  if (!dso.valid()) return std::string(kNoSrcline);
  LoadedDso* loaded = state_->of(dso);
  if (loaded != nullptr && loaded->symbols.segments) {
    auto line = state_->line_at(*loaded, address);
    return line ? format_srcline(*line, {state_->options.full_source_path})
                : std::string(kNoSrcline);
  }
  // No file: the symbol stands for the line.
  if (SymbolId symbol = find(dso, address); symbol.valid())
    return format_unknown_srcline(name(symbol), address - start_of(symbol));
  return format_unknown_srcline_of_object(state_->machine.dsos()[dso].short_name, address);
}

std::string Symbolizer::srcfile(DsoId dso, uint64_t address) const {
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr || !loaded->symbols.segments) return {};
  auto line = state_->line_at(*loaded, address);
  if (!line) return {};
  std::string text = format_srcline(*line, {state_->options.full_source_path});
  text.resize(std::min(text.size(), text.rfind(':')));
  return text;
}

std::optional<SourcePlace> Symbolizer::source_place(DsoId dso, uint64_t address) const {
  LoadedDso* loaded = state_->of(dso);
  if (loaded == nullptr || !loaded->symbols.segments) return std::nullopt;
  auto line = state_->line_at(*loaded, address);
  if (!line) return std::nullopt;
  return SourcePlace{std::string(line->file), line->line};
}

std::string Symbolizer::object_path(DsoId dso) const {
  const Dso& object = state_->machine.dsos()[dso];
  return state_->loader.finder()
      .find({object.path, object.build_id, static_cast<pid_t>(object.pid), std::nullopt})
      .runtime_path;
}

}  // namespace sonde
