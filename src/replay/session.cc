#include "replay/session.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "replay/address_resolver.h"
#include "replay/read_values.h"
#include "replay/sample_pass.h"
#include "replay/sideband_pass.h"

namespace sonde {

struct Session::State {
  explicit State(Recording r) : recording(std::move(r)), machine(strings) {}

  StringPool strings;
  Recording recording;
  Machine machine;
  std::unique_ptr<Symbolizer> symbolizer;
  SidebandResult sideband;
  SamplePassResult pass;
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const std::string& path, SessionOptions options, const Env& env) {
  Recording recording = TRY(Recording::open(path, options.open, env.losses));
  auto state = std::make_unique<State>(std::move(recording));
  state->sideband = read_sideband(state->recording, state->machine, env.losses);

  SamplePassOptions pass{options.filter, options.want_chains, options.max_stack};
  size_t slices = std::max(1u, std::thread::hardware_concurrency());
  state->pass =
      read_samples(state->recording, state->machine, state->sideband, pass, slices, env.losses);
  spread_read_values(state->recording, state->pass.samples);
  ReplayCounts& counts = state->sideband.counts;
  counts.filtered = state->pass.filtered;
  counts.first_time_ns = state->pass.first_time_ns;
  counts.last_time_ns = state->pass.last_time_ns;

  // What `record --kcore` copied are the symbols of just that boot.
  if (options.symbols.kallsyms.empty())
    options.symbols.kallsyms = state->recording.facts().kernel_symbols;
  state->symbolizer = std::make_unique<Symbolizer>(
      state->machine, options.symbols, env, state->recording.features().os_release.value_or(""));
  if (options.want_symbols) {
    std::vector<char> hit(state->machine.dsos().size());
    std::vector<DsoId> dsos;
    for (const Frame& frame : state->pass.frames.all())
      if (frame.dso.valid() && std::exchange(hit[frame.dso.index()], 1) == 0)
        dsos.push_back(frame.dso);
    state->symbolizer->load(dsos);
    state->pass.frames.resolve_symbols(*state->symbolizer, 0);
  }
  return Session(std::move(state));
}

const Recording& Session::recording() const {
  return state_->recording;
}
const Machine& Session::machine() const {
  return state_->machine;
}
const Symbolizer& Session::symbolizer() const {
  return *state_->symbolizer;
}
const SampleColumns& Session::samples() const {
  return state_->pass.samples;
}
const ChainTable& Session::chains() const {
  return state_->pass.chains;
}
const std::vector<Frame>& Session::frames() const {
  return state_->pass.frames.all();
}
const ReplayCounts& Session::counts() const {
  return state_->sideband.counts;
}
StringPool& Session::strings() const {
  return state_->strings;
}

RecordView Session::record(size_t sample) const {
  RecordRef where = state_->pass.samples.record[sample];
  RecordBlock block = state_->recording.blocks()[where.block];
  block.bytes = block.bytes.subspan(where.offset);
  if (!block.expanded) block.file_offset += where.offset;
  RecordView view;
  RecordRange(block, state_->recording.byte_order()).next(view);
  return view;
}

bool Session::decode(size_t sample, Sample& out) const {
  RecordView view = record(sample);
  EventId event = events().of(view);  // the column may name another member of its group
  return decode_sample(view, events()[event].layout, out);
}

Frame Session::resolve(uint32_t pid, uint64_t time, RuntimeAddr address, uint16_t cpu_mode) const {
  const Machine& machine = state_->machine;
  Place place = locate(machine, machine.space_at(pid, time).space, time, address.value, cpu_mode);
  Frame frame{place.dso, SymbolId(), place.address, 0, place.level};
  if (!place.dso.valid()) return frame;
  frame.symbol = state_->symbolizer->find(place.dso, place.address);
  if (frame.symbol.valid()) frame.symbol_start = state_->symbolizer->start_of(frame.symbol);
  return frame;
}

void Session::load_all_symbols() {
  std::vector<DsoId> all;
  for (size_t i = 0; i < state_->machine.dsos().size(); ++i) all.push_back(DsoId(i));
  state_->symbolizer->load(all);
}

std::vector<uint32_t> Session::time_order() const {
  const LargeVector<uint64_t>& times = state_->pass.samples.time;
  std::vector<uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::ranges::is_sorted(times))
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return times[i]; });
  return order;
}

const std::vector<OtherRecord>& Session::other_records() const {
  return state_->sideband.others;
}

}  // namespace sonde
