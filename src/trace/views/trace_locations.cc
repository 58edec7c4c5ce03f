#include "trace/views/trace_locations.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/printing/printable.h"
#include "replay/frames/chain_builder.h"
#include "symbol/symbolizer.h"

namespace sonde {
namespace {

constexpr std::string_view kChainIndent = "                                       ";

}  // namespace

struct TraceLocations::State {
  State(Options given, const Env& outside)
      : options(std::move(given)),
        machine(strings),
        resolver(machine, frames),
        sources{.arch = abi::arch_from_machine(options.arch)},
        env(outside) {}

  /// Takes updates since the last lookup into account.
  void finalize() {
    if (!changed) return;
    changed = false;
    machine.freeze();
    if (!symbolizer) prepare_symbols();
    cfi->grow();
    resolver.machine_changed();
  }
  /// Once the machine knows where the kernel is.
  void prepare_symbols() {
    options.symbols.path_trust = path_trust_of(
        options.symbols, {.name = options.host_name, .release = options.kernel_release}, machine);
    finder.emplace(finder_options(options.symbols, env));
    cfi.emplace(machine, *finder, jit_objects);
    symbolizer.emplace(machine, options.symbols, env, options.kernel_release, &jit_objects);
    sources.cfi = &*cfi;
    builder.emplace(sources, resolver, frames, env.losses);
  }
  const Frame& named(FrameId id) {
    const Frame& frame = frames[id];
    if (frame.dso.valid() && frame.dso.index() >= loaded.size())
      loaded.resize(machine.dsos().size());
    if (frame.dso.valid() && std::exchange(loaded[frame.dso.index()], 1) == 0) {
      symbolizer->load(std::span(&frame.dso, 1));
    }
    return frame;
  }
  [[nodiscard]] SymbolId symbol_of(const Frame& frame) const {
    return frame.dso.valid() ? symbolizer->find(frame.dso, frame.address) : SymbolId();
  }
  /// perf's letter: x for a mapping with code, d for others, ? for none.
  [[nodiscard]] char map_type(const Sample& sample, uint64_t time_ns) const {
    constexpr uint32_t kExecutable = 4;  // PROT_EXEC
    SpaceId space = machine.space_at(sample.id.pid, time_ns).space;
    if (!space.valid()) return '?';
    MappingId mapping = machine.space(space).find(RuntimeAddr(sample.addr), time_ns).mapping;
    if (!mapping.valid()) return '?';
    return (machine.mapping(mapping).protection & kExecutable) != 0 ? 'x' : 'd';
  }
  void append_object(const Frame& frame, std::string& out) const {
    out += frame.dso.valid() ? machine.dsos()[frame.dso].path : "[unknown]";
  }

  Options options;
  StringPool strings;
  Machine machine;
  std::optional<ObjectFinder> finder;
  JitObjects jit_objects;
  std::optional<ObjectCfi> cfi;
  std::optional<Symbolizer> symbolizer;
  FrameTable frames;
  AddressResolver resolver;
  ChainSources sources;
  const Env& env;
  std::optional<ChainBuilder> builder;
  std::vector<char> loaded;  // by DsoId
  std::vector<FrameId> chain;
  bool changed = true;
};

TraceLocations::TraceLocations(Options options, const Env& env)
    : state_(std::make_unique<State>(std::move(options), env)) {}
TraceLocations::~TraceLocations() = default;

void TraceLocations::apply(const TaskNews& news, uint64_t time_ns) {
  if (news.record == nullptr) return;
  state_->machine.apply(*news.record, *news.layout, time_ns, state_->env.losses);
  state_->changed = true;
}

size_t TraceLocations::resolve_chain(const Sample& sample, const SampleLayout& layout,
                                     uint64_t time_ns) {
  State& state = *state_;
  state.finalize();
  state.resolver.enter(sample.id.pid, time_ns, sample.cpu_mode);
  std::span<const FrameId> chain = state.builder->build(sample, layout.attr(), time_ns, 0);
  state.chain.assign(chain.begin(), chain.end());
  return state.chain.size();
}

void TraceLocations::append_chain(bool is_shown, std::string& out) {
  State& state = *state_;
  size_t shown = std::min<size_t>(state.chain.size(), state.options.max_stack);
  for (FrameId id : std::span(state.chain).first(shown)) {
    const Frame& frame = state.named(id);
    SymbolId symbol = state.symbol_of(frame);
    size_t begin = out.size();
    out += kChainIndent;
    if (symbol.valid())
      out += state.symbolizer->label(symbol);
    else
      fmt::format_to(std::back_inserter(out), "[{}{:x}]", frame.address != 0 ? "0x" : "",
                     frame.address);
    out += " (";
    state.append_object(frame, out);
    if (is_shown) make_printable(out, begin);
    out += ")\n";
  }
}

void TraceLocations::append_fault(const Sample& sample, uint64_t time_ns, bool whole,
                                  std::string& out) {
  State& state = *state_;
  state.finalize();
  state.resolver.enter(sample.id.pid, time_ns, sample.cpu_mode);
  const Frame at = state.named(state.resolver.resolve(sample.ip, sample.cpu_mode));
  const Frame data = state.named(state.resolver.resolve(sample.addr, abi::kMiscUser));
  auto append = [&](const Frame& frame, uint64_t address, bool object, bool function) {
    if ((object || whole) && frame.dso.valid()) {
      state.append_object(frame, out);
      out += '@';
    }
    SymbolId symbol = function || whole ? state.symbol_of(frame) : SymbolId();
    if (symbol.valid())
      fmt::format_to(std::back_inserter(out), "{}+{:#x}", state.symbolizer->name(symbol),
                     frame.address - state.symbolizer->start_of(symbol));
    else
      fmt::format_to(std::back_inserter(out), "{:#x}", frame.dso.valid() ? frame.address : address);
  };
  out += '[';
  append(at, sample.ip, false, true);
  out += "] => ";
  append(data, sample.addr, true, false);
  out += " (";
  out += state.map_type(sample, time_ns);
  out += ".)";
}

}  // namespace sonde
