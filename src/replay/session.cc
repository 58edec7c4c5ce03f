#include "replay/session.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "replay/address_resolver.h"
#include "replay/read_values.h"
#include "replay/round_feed.h"
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
  CounterValues counters;

  void read_stretch(uint64_t first_rank);
  void make_symbolizer();
  void resolve_frames(size_t first);
  void take_stretch(const std::vector<RecordBlock>& blocks);
  void forget_now_and_then();

  SessionOptions options;
  const Env* env = nullptr;
  // Of a pipe that is followed.
  uint64_t records_seen = 0;
  uint64_t exits_seen = 0;
  uint64_t forget_to_ns = 0;  // what had ended by then goes next
};

/// The two passes over the blocks that the recording shows now.
void Session::State::read_stretch(uint64_t first_rank) {
  sideband = read_sideband(recording, machine, env->losses, first_rank);
  SamplePassOptions how{options.filter, options.want_chains, options.max_stack};
  size_t slices = std::max(1u, std::thread::hardware_concurrency());
  pass =
      read_samples(recording, machine, sideband, how, slices, env->losses, std::move(pass.frames));
  spread_read_values(recording, pass.samples, counters);
  ReplayCounts& counts = sideband.counts;
  counts.filtered = pass.filtered;
  counts.first_time_ns = pass.first_time_ns;
  counts.last_time_ns = pass.last_time_ns;
}

void Session::State::make_symbolizer() {
  // What `record --kcore` copied are the symbols of just that boot.
  if (options.symbols.kallsyms.empty()) options.symbols.kallsyms = recording.facts().kernel_symbols;
  symbolizer = std::make_unique<Symbolizer>(machine, options.symbols, *env,
                                            recording.features().os_release.value_or(""));
}

void Session::State::resolve_frames(size_t first) {
  if (!options.want_symbols) return;
  std::vector<char> hit(machine.dsos().size());
  std::vector<DsoId> dsos;
  for (const Frame& frame : std::span(pass.frames.all()).subspan(first))
    if (frame.dso.valid() && std::exchange(hit[frame.dso.index()], 1) == 0)
      dsos.push_back(frame.dso);
  symbolizer->load(dsos);
  pass.frames.resolve_symbols(*symbolizer, first);
}

void Session::State::take_stretch(const std::vector<RecordBlock>& blocks) {
  recording.show(blocks);
  size_t known_frames = pass.frames.size();
  read_stretch(records_seen);
  records_seen = sideband.records_before.back();
  if (!symbolizer) make_symbolizer();
  resolve_frames(known_frames);
}

/// A task may be sampled for a moment after its EXIT record; a second later nobody asks for it.
void Session::State::forget_now_and_then() {
  constexpr uint64_t kExits = 256;
  constexpr uint64_t kPatience_ns = 1'000'000'000;
  if (sideband.rank_is_time) return;
  exits_seen += sideband.counts.records_by_type[abi::kRecordExit];
  uint64_t now = sideband.counts.last_time_ns;
  if (exits_seen < kExits || now < forget_to_ns + kPatience_ns) return;
  machine.forget_before(forget_to_ns);
  forget_to_ns = now;
  exits_seen = 0;
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const std::string& path, SessionOptions options, const Env& env) {
  Recording recording =
      TRY(options.follow && path == "-"
              ? Recording::open_stream(options.open.stdin_fd, path, options.open, env.losses)
              : Recording::open(path, options.open, env.losses));
  auto state = std::make_unique<State>(std::move(recording));
  state->options = std::move(options);
  state->env = &env;
  if (state->recording.stream() == nullptr) {
    state->read_stretch(0);
    state->make_symbolizer();
    state->resolve_frames(0);
  }
  return Session(std::move(state));
}

bool Session::follows() const {
  return state_->recording.stream() != nullptr;
}

Result<> Session::follow(const Follow& hooks) {
  State& state = *state_;
  auto take = [&](const std::vector<RecordBlock>& blocks) -> Result<bool> {
    state.take_stretch(blocks);
    bool go_on = TRY(hooks.on_stretch());
    state.forget_now_and_then();
    return go_on;
  };
  TRY(RoundFeed(*state.recording.stream(), take, state.env->losses).run(hooks.on_pause));
  if (state.recording.events().size() == 0)
    return fail(ErrorCode::kCorrupt, "{}: the recording does not say which events it holds",
                state.recording.facts().path);
  return {};
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
