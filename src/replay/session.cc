#include "replay/session.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "replay/fields/read_values.h"
#include "replay/frames/address_resolver.h"
#include "replay/frames/function_count.h"
#include "replay/passes/forget_policy.h"
#include "replay/passes/recorded_host.h"
#include "replay/passes/round_pipeline.h"
#include "replay/passes/sample_pass.h"
#include "replay/passes/sideband_pass.h"

namespace sonde {
namespace {

/// Files have long runs that are in order, one per ring and round: those are merged.
void sort_by_time(std::vector<uint32_t>& order, const Column<uint64_t>& times) {
  constexpr size_t kUsualStretch = 32;
  auto is_before = [&](uint32_t a, uint32_t b) { return times[a] < times[b]; };
  std::vector<ptrdiff_t> starts;  // of runs
  for (size_t i = 0; i < times.size(); ++i)
    if (i == 0 || times[i] < times[i - 1]) starts.push_back(static_cast<ptrdiff_t>(i));
  if (starts.size() > times.size() / kUsualStretch + 1) {
    std::ranges::stable_sort(order, is_before);
    return;
  }
  starts.push_back(static_cast<ptrdiff_t>(times.size()));
  while (starts.size() > 2) {
    std::vector<ptrdiff_t> merged;
    for (size_t i = 0; i + 1 < starts.size(); i += 2) {
      merged.push_back(starts[i]);
      if (i + 2 < starts.size())
        std::inplace_merge(order.begin() + starts[i], order.begin() + starts[i + 1],
                           order.begin() + starts[i + 2], is_before);
    }
    merged.push_back(starts.back());
    starts = std::move(merged);
  }
}

}  // namespace

struct Session::State {
  explicit State(Recording r) : recording(std::move(r)), machine(strings) {}

  StringPool strings;
  Recording recording;
  Machine machine;
  std::optional<ObjectFinder> finder;
  JitObjects jit_objects;
  std::optional<JitReplay> jit;  // fills them
  std::optional<ObjectCfi> cfi;  // uses `finder` and `jit_objects`
  std::unique_ptr<Symbolizer> symbolizer;
  InlineFrames inline_frames;
  SidebandResult sideband;
  std::unique_ptr<DeferredSamples> deferred;  // from opening the file to the sample pass
  SamplePassResult pass;
  CounterValues counters;

  void read_batch(uint64_t first_rank);
  void count_one_function();
  void take_counts();
  void make_symbolizer();
  void resolve_frames(size_t first);
  void take_batch(const std::vector<RecordBlock>& blocks);
  void forget_now_and_then();

  SessionOptions options;
  const Env* env = nullptr;
  bool has_one_function = false;
  // For a pipe that is followed.
  uint64_t records_seen = 0;
  ForgetPolicy forget;
};

/// The two passes over the blocks that the recording currently shows.
void Session::State::read_batch(uint64_t first_rank) {
  if (!jit)
    jit.emplace(machine, jit_objects,
                JitReplay::Options{.symfs = options.symbols.symfs,
                                   .bundle = recording.bundle(),
                                   .trusts_paths = options.symbols.unverified ||
                                                   is_this_host(host_of(recording.features()))});
  sideband = read_sideband(recording, machine, env->losses, first_rank, &*jit);
  if (!finder) {
    options.symbols.path_trust =
        path_trust_of(options.symbols, host_of(recording.features()), machine);
    options.symbols.bundle = recording.bundle();
    finder.emplace(finder_options(options.symbols, *env));
  }
  if (!cfi) cfi.emplace(machine, *finder, jit_objects);
  cfi->grow();
  bool only_sums = options.only_sums && !has_read_values(recording.events());
  bool by_place = options.by_place && only_sums && !options.want_chains &&
                  recording.events().size() <= kMaxEventsByPlace;
  if (has_one_function) return count_one_function();
  SamplePassOptions how{options.filter,
                        options.want_chains,
                        only_sums,
                        by_place,
                        options.max_stack,
                        abi::arch_from_machine(recording.features().arch.value_or("")),
                        &*cfi,
                        recording.goes_on(),
                        options.merge_deferred,
                        options.stitch_calls,
                        deferred.get()};
  size_t slices = std::max(1u, std::thread::hardware_concurrency());
  pass =
      read_samples(recording, machine, sideband, how, slices, env->losses, std::move(pass.frames));
  deferred.reset();
  spread_read_values(recording, pass.samples, counters);
  take_counts();
}

/// Replaces the sample pass.
void Session::State::count_one_function() {
  make_symbolizer();
  pass = count_function(recording.events(), machine, *deferred, *options.only_function, *symbolizer,
                        env->losses);
  deferred.reset();
  take_counts();
}

void Session::State::take_counts() {
  ReplayCounts& counts = sideband.counts;
  counts.filtered = pass.filtered;
  counts.first_time_ns = pass.first_time_ns;
  counts.last_time_ns = pass.last_time_ns;
}

void Session::State::make_symbolizer() {
  // What `record --kcore` copied are the symbols of exactly that boot.
  if (options.symbols.kallsyms.empty()) options.symbols.kallsyms = recording.facts().kernel_symbols;
  symbolizer = std::make_unique<Symbolizer>(
      machine, options.symbols, *env, recording.features().os_release.value_or(""), &jit_objects);
}

void Session::State::resolve_frames(size_t first) {
  if (!options.want_symbols) return;
  std::vector<char> hit(machine.dsos().size());
  std::vector<DsoId> dsos;
  std::vector<uint64_t> kernel_addresses;
  BootCode boot_code = BootCode::of(machine);
  std::vector<FrameId> outside;
  for (size_t i = first; i < pass.frames.size(); ++i) {
    const Frame& frame = pass.frames[FrameId(i)];
    if (boot_code.may_contain(frame.address, frame.dso, frame.level)) {
      outside.emplace_back(i);
      kernel_addresses.push_back(frame.address);
    }
    if (!frame.dso.valid()) continue;
    if (std::exchange(hit[frame.dso.index()], 1) == 0) dsos.push_back(frame.dso);
    if (machine.dsos()[frame.dso].is_kernel_side) kernel_addresses.push_back(frame.address);
  }
  // A pipe keeps bringing new addresses.
  if (recording.goes_on())
    symbolizer->load(dsos);
  else
    symbolizer->load(dsos, kernel_addresses);
  // Symbols of a kernel that has no other frame are not worth loading.
  for (FrameId id : outside)
    if (symbolizer->find(boot_code.kernel, pass.frames[id].address).valid())
      pass.frames.place_in(boot_code.kernel, id);
  pass.frames.resolve_symbols(*symbolizer, first);
  inline_frames.expand(pass.frames, first, pass.chains, *symbolizer, options.inlines);
}

void Session::State::take_batch(const std::vector<RecordBlock>& blocks) {
  recording.show(blocks);
  size_t known_frames = pass.frames.size();
  read_batch(records_seen);
  records_seen = sideband.records_before.back();
  if (!symbolizer) make_symbolizer();
  resolve_frames(known_frames);
}

void Session::State::forget_now_and_then() {
  if (sideband.rank_is_time) return;
  std::optional<uint64_t> before =
      forget.after(sideband.counts.records_by_type[abi::kRecordExit], sideband.counts.last_time_ns);
  if (before) machine.forget_before(*before);
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const std::string& path, SessionOptions options, const Env& env) {
  std::unique_ptr<DeferredSamples> deferred;
  if (options.by_place && options.only_sums && !options.want_chains && options.filter.empty()) {
    deferred = std::make_unique<DeferredSamples>();
    options.open.observer = deferred.get();
  }
  Recording recording =
      TRY(options.follow && path == "-"
              ? Recording::open_stream(options.open.stdin_fd, path, options.open, env.losses)
              : Recording::open(path, options.open, env.losses));
  auto state = std::make_unique<State>(std::move(recording));
  state->options = std::move(options);
  state->options.open.observer = nullptr;
  state->deferred = std::move(deferred);
  state->env = &env;
  if (state->recording.stream() == nullptr) {
    state->has_one_function =
        state->options.only_function && state->deferred &&
        std::ranges::all_of(state->recording.blocks(), &RecordBlock::samples_taken);
    state->read_batch(0);
    if (!state->symbolizer) state->make_symbolizer();
    state->resolve_frames(0);
  }
  return Session(std::move(state));
}

Session Session::live(std::vector<EventDesc> events, const Features& features,
                      SessionOptions options, const Env& env) {
  auto state = std::make_unique<State>(Recording::live(std::move(events), features, env.losses));
  state->options = std::move(options);
  state->env = &env;
  return Session(std::move(state));
}

void Session::take(const std::vector<RecordBlock>& blocks) {
  state_->take_batch(blocks);
  state_->forget_now_and_then();
}

bool Session::has_one_function() const {
  return state_->has_one_function;
}

bool Session::follows() const {
  return state_->recording.stream() != nullptr;
}

Result<> Session::follow(const Follow& hooks) {
  State& state = *state_;
  auto take = [&](const std::vector<RecordBlock>& blocks) -> Result<bool> {
    state.take_batch(blocks);
    bool go_on = TRY(hooks.on_batch());
    state.forget_now_and_then();
    return go_on;
  };
  TRY(RoundPipeline(*state.recording.stream(), take, state.env->losses).run(hooks.on_pause));
  if (state.recording.events().size() == 0)
    return fail(ErrorCode::kCorrupt, "{}: the recording does not describe its events",
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
  const Recording& recording = state_->recording;
  return record_at(recording.blocks()[where.block], where.offset, recording.byte_order());
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
  if (!place.dso.valid() && place.level == FrameLevel::kKernel) {
    BootCode boot_code = BootCode::of(machine);
    if (boot_code.may_contain(place.address, place.dso, place.level) &&
        state_->symbolizer->find(boot_code.kernel, place.address).valid())
      frame.dso = place.dso = boot_code.kernel;
  }
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
  const Column<uint64_t>& times = state_->pass.samples.time;
  std::vector<uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0u);
  sort_by_time(order, times);
  return order;
}

const std::vector<OtherRecord>& Session::other_records() const {
  return state_->sideband.others;
}

}  // namespace sonde
