#include "replay/session.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "base/sorting/merge_runs.h"
#include "base/text.h"
#include "itrace/decode.h"
#include "replay/fields/guest_samples.h"
#include "replay/fields/read_values.h"
#include "replay/frames/address_resolver.h"
#include "replay/frames/function_count.h"
#include "replay/passes/forget_policy.h"
#include "replay/passes/recorded_host.h"
#include "replay/passes/round_pipeline.h"
#include "replay/passes/sample_pass.h"
#include "replay/passes/sideband_pass.h"
#include "replay/passes/time_batches.h"

namespace sonde {
namespace {

// Between batches. Large programs have some ten thousand distinct frames; beyond these are
// addresses of no code, and a table that grows with them leaves the processor's caches.
constexpr size_t kMostFrames = size_t{3} << 15;

/// What the recording says about a guest replaces what its files say.
void add_guests(std::span<const GuestLayout> guests, const GuestFiles& files, Machine& machine) {
  machine.set_guest_code(files.code);
  for (const GuestLayout& guest : guests) {
    if (!guest.path.empty())
      machine.add_guest_mapping(guest.pid, guest.path, guest.start, guest.end, guest.text);
    for (const GuestModule& module : guest.modules)
      machine.add_guest_mapping(guest.pid, module.name, module.start, module.end, module.start);
  }
}

/// After a scan has taken them.
void read_samples_again(Recording& recording) {
  std::vector<RecordBlock> blocks = recording.blocks();
  for (RecordBlock& block : blocks) block.samples_taken = false;
  recording.show(std::move(blocks));
}

size_t slice_count() {
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

struct Session::State {
  State(Recording r, SessionOptions o, std::span<const GuestLayout> guests, const Env& e)
      : recording(std::move(r)), machine(strings), options(std::move(o)), env(&e) {
    add_guests(guests, options.symbols.guests, machine);
  }

  StringPool strings;
  Recording recording;
  Machine machine;
  std::optional<ObjectFinder> finder;
  JitObjects jit_objects;
  InterpretedCode interpreted;
  std::optional<JitReplay> jit;         // fills them
  std::optional<ObjectCfi> cfi;         // uses `finder` and `jit_objects`
  std::optional<CallSites> call_sites;  // if chains are checked; uses `finder`
  DsoId broken_chain;                   // its mark
  std::unique_ptr<Symbolizer> symbolizer;
  InlineFrames inline_frames;
  SidebandResult sideband;
  LostTally lost;                             // in all batches so far
  std::unique_ptr<DeferredSamples> deferred;  // from opening the file to the sample pass
  SamplePassResult pass;
  CounterValues counters;
  // If samples are read in batches.
  std::unique_ptr<TimeBatches> order;
  std::unique_ptr<SampleBatches> batches;
  uint32_t frame_generation = 0;

  [[nodiscard]] Result<itrace::LogSetup> log_setup() const;
  Result<> add_traces();
  [[nodiscard]] JitReplay::Options dump_places() const;
  void open_whole();
  void read_batch(uint64_t first_rank);
  void read_state(uint64_t first_rank);
  void prepare_checks();
  [[nodiscard]] SampleDetail detail() const;
  [[nodiscard]] SamplePassOptions pass_options(SampleDetail detail) const;
  [[nodiscard]] bool can_batch() const;
  void begin_batches();
  Result<> follow_batches(const std::function<Result<bool>()>& on_batch);
  void count_one_function();
  void take_counts();
  void make_symbolizer();
  void learn_interpreted_code();
  void resolve_frames(size_t first, bool are_all);
  void report_unnamed_guests(size_t first) const;
  void take_batch(const std::vector<RecordBlock>& blocks);
  void forget_now_and_then();

  SessionOptions options;
  const Env* env = nullptr;
  bool has_one_function = false;
  // For a pipe that is followed.
  uint64_t records_seen = 0;
  size_t files_learned = 0;  // of the features' interpreted files
  ForgetPolicy forget;
};

/// Where to look for jitdumps.
JitReplay::Options Session::State::dump_places() const {
  return {.symfs = options.symbols.symfs,
          .bundle = recording.bundle(),
          .trusts_paths = options.symbols.unverified || is_this_host(host_of(recording.features())),
          .cycles = itrace::cycle_clock_of(recording)};
}

/// The first pass: what was mapped, and when.
void Session::State::read_state(uint64_t first_rank) {
  if (!jit) jit.emplace(machine, jit_objects, dump_places());
  sideband = read_sideband(recording, machine, env->losses, first_rank, &*jit);
  LostCounts known = lost.counts(recording.events());
  lost.add(sideband.losses);
  count_losses(lost.counts(recording.events()), env->losses, known);
  if (!finder) {
    options.symbols.path_trust =
        path_trust_of(options.symbols, host_of(recording.features()), machine);
    options.symbols.bundle = recording.bundle();
    finder.emplace(finder_options(options.symbols, *env));
  }
  if (!cfi) cfi.emplace(machine, *finder, jit_objects);
  cfi->grow();
  if (options.chains && options.chains->check) prepare_checks();
}

void Session::State::prepare_checks() {
  if (!call_sites) {
    broken_chain = machine.edit_dsos().find_or_add("[broken chain]", DsoKind::kMarker, false);
    call_sites.emplace(machine, *finder,
                       abi::arch_from_machine(recording.features().arch.value_or("")));
  }
  call_sites->grow();
}

/// Values that are read with samples are spread over their rows by time.
SampleDetail Session::State::detail() const {
  bool are_sums = options.wants<SumsByStack>() || options.wants<SumsByPlace>();
  if (!are_sums || has_read_values(recording.events())) return SampleDetail::kSamples;
  bool by_place = options.wants<SumsByPlace>() && recording.events().size() <= kMaxEventsByPlace;
  return by_place ? SampleDetail::kPlaces : SampleDetail::kSums;
}

SamplePassOptions Session::State::pass_options(SampleDetail detail) const {
  const auto* sums = std::get_if<SumsByStack>(&options.rows);
  return {.filter = options.filter,
          .detail = detail,
          .chains = options.chains,
          .arch = abi::arch_from_machine(recording.features().arch.value_or("")),
          .cfi = &*cfi,
          .call_sites = call_sites ? &*call_sites : nullptr,
          .broken_chain = broken_chain,
          .merge_unmapped = sums != nullptr && sums->merge_unmapped,
          .late_names = options.late_names,
          .more_follows = recording.goes_on(),
          .deferred = deferred.get()};
}

/// Of a log of the decoder.
Result<itrace::LogSetup> Session::State::log_setup() const {
  itrace::LogSetup setup(env->out);
  if (auto size = env->config.get("itrace.debug-log-buffer-size")) {
    auto bytes = parse_number(*size);
    if (!bytes)
      return fail(ErrorCode::kUsage, "itrace.debug-log-buffer-size: {} is no number of bytes",
                  *size);
    setup.context_bytes = *bytes;
  }
  SampleFilter of_times{.pids = {}, .tids = {}, .cpus = {}, .times = options.filter.times};
  if (!of_times.empty())
    setup.in_time = [of_times](uint64_t time_ns) { return of_times.passes({}, time_ns); };
  return setup;
}

/// Adds the samples of instruction traces to the recording, before any pass over it. They may have
/// no times, so the machine that the traces are followed with is not that of the passes
/// (docs/decisions/0042).
Result<> Session::State::add_traces() {
  LossLedger counted_later;
  StringPool names;
  Machine history(names);
  JitObjects generated;
  JitReplay dumps(history, generated, dump_places());
  read_sideband(recording, history, counted_later, 0, &dumps);
  SymbolOptions symbols = options.symbols;
  symbols.path_trust = path_trust_of(symbols, host_of(recording.features()), history);
  symbols.bundle = recording.bundle();
  ObjectFinder objects(finder_options(symbols, *env));
  itrace::CodeSources sources{objects, &generated, symbols.kallsyms};
  // What `record --kcore` copied is the code of exactly that boot.
  if (sources.kallsyms.empty()) sources.kallsyms = recording.facts().kernel_symbols;
  return itrace::add_trace_samples(recording, history, sources, *options.itrace, TRY(log_setup()),
                                   env->losses);
}

/// The two passes over the blocks that the recording currently shows.
void Session::State::read_batch(uint64_t first_rank) {
  read_state(first_rank);
  if (has_one_function) return count_one_function();
  pass = read_samples(recording, machine, sideband, pass_options(detail()), slice_count(),
                      env->losses, std::move(pass.frames));
  deferred.reset();
  spread_read_values(recording, pass.samples, counters);
  take_counts();
}

bool Session::State::can_batch() const {
  bool stitches = options.chains && options.chains->stitch_calls;
  return options.wants<SamplesInTurn>() && !stitches && SampleBatches::suit(recording.events()) &&
         !has_read_values(recording.events()) && !itrace::has_traces(recording);
}

void Session::State::begin_batches() {
  read_state(0);
  make_symbolizer();
  order = std::make_unique<TimeBatches>(recording, sideband);
  batches = std::make_unique<SampleBatches>(recording, machine, sideband,
                                            pass_options(SampleDetail::kSamples), slice_count(),
                                            env->losses, pass);
}

Result<> Session::State::follow_batches(const std::function<Result<bool>()>& on_batch) {
  bool go_on = true;
  for (bool first = true; go_on && (first || !order->at_end()); first = false) {
    if (pass.frames.size() > kMostFrames) {
      batches->forget_frames();
      inline_frames = {};
      ++frame_generation;
    }
    size_t known_frames = pass.frames.size();
    batches->read(order->next());
    take_counts();
    resolve_frames(known_frames, first && order->at_end());
    go_on = TRY(on_batch());
  }
  batches->finish();
  return {};
}

/// Replaces the sample pass.
void Session::State::count_one_function() {
  make_symbolizer();
  const std::string& function = *std::get<SumsByPlace>(options.rows).only_function;
  pass = count_function(recording.events(), machine, *deferred, function, *symbolizer, env->losses);
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
  if (recording.facts().is_directory) options.symbols.guests.recording = recording.facts().path;
  learn_interpreted_code();
  symbolizer = std::make_unique<Symbolizer>(machine, options.symbols, *env,
                                            recording.features().os_release.value_or(""),
                                            &jit_objects, &interpreted);
}

/// What a pipe has said so far: its features only grow.
void Session::State::learn_interpreted_code() {
  std::span<const InterpretedFile> all = recording.features().interpreted_files;
  interpreted.add(all.subspan(files_learned));
  files_learned = all.size();
  interpreted.find_in(machine.dsos());
}

/// `are_all`: no other frames will follow.
void Session::State::resolve_frames(size_t first, bool are_all) {
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
  if (are_all)
    symbolizer->load(dsos, kernel_addresses);
  else
    symbolizer->load(dsos);
  // Symbols of a kernel that has no other frame are not worth loading.
  for (FrameId id : outside)
    if (symbolizer->find(boot_code.kernel, pass.frames[id].address).valid())
      pass.frames.place_in(boot_code.kernel, id);
  pass.frames.resolve_symbols(*symbolizer, first);
  inline_frames.expand(pass.frames, first, pass.chains, *symbolizer, options.inlines);
  if (!options.symbols.guests.any()) report_unnamed_guests(first);
}

/// Guests' code is never named by what is on this machine.
void Session::State::report_unnamed_guests(size_t first) const {
  uint64_t unnamed = 0;
  for (size_t i = first; i < pass.frames.size(); ++i) {
    const Frame& frame = pass.frames[FrameId(i)];
    bool is_guests =
        frame.level == FrameLevel::kGuestKernel || frame.level == FrameLevel::kGuestUser;
    if (is_guests && !frame.symbol.valid()) ++unnamed;
  }
  if (unnamed > 0) env->losses.add(LossKind::k_guest_code, unnamed);
}

void Session::State::open_whole() {
  if (options.narrow) options.narrow(recording.events(), recording.features(), options);
  if (can_batch()) return begin_batches();
  const auto* places = std::get_if<SumsByPlace>(&options.rows);
  has_one_function = places != nullptr && places->only_function && deferred &&
                     std::ranges::all_of(recording.blocks(), &RecordBlock::samples_taken);
  read_batch(0);
  if (!symbolizer) make_symbolizer();
  resolve_frames(0, true);
  pass.frames.end_interning();
}

void Session::State::take_batch(const std::vector<RecordBlock>& blocks) {
  recording.show(blocks);
  size_t known_frames = pass.frames.size();
  read_batch(records_seen);
  records_seen = sideband.records_before.back();
  if (symbolizer)
    learn_interpreted_code();
  else
    make_symbolizer();
  resolve_frames(known_frames, false);
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
  if (options.wants<SumsByPlace>()) options.chains.reset();
  if (options.wants<SumsByPlace>() && options.filter.empty()) {
    deferred = std::make_unique<DeferredSamples>();
    options.open.observer = deferred.get();
  }
  Recording recording =
      TRY(options.wants<SamplesInTurn>() && path == "-"
              ? Recording::open_stream(options.open.stdin_fd, path, options.open, env.losses)
              : Recording::open(path, options.open, env.losses));
  if (deferred && !recording.events().guests().empty()) {
    // Whose they are, was not known while they were taken.
    deferred.reset();
    read_samples_again(recording);
  }
  auto guests = TRY(guest_layouts(options.symbols.guests));
  auto state = std::make_unique<State>(std::move(recording), std::move(options), guests, env);
  state->options.open.observer = nullptr;
  state->deferred = std::move(deferred);
  if (state->recording.stream() == nullptr) {
    const auto& itrace = state->options.itrace;
    if (itrace && itrace->decodes && itrace::has_traces(state->recording)) TRY(state->add_traces());
    state->open_whole();
  }
  return Session(std::move(state));
}

Session Session::live(std::vector<EventDesc> events, const Features& features,
                      SessionOptions options, const Env& env) {
  // Who can't use them has been told when they were opened.
  auto guests = guest_layouts(options.symbols.guests).value_or(std::vector<GuestLayout>());
  auto state = std::make_unique<State>(Recording::live(std::move(events), features, env.losses),
                                       std::move(options), guests, env);
  return Session(std::move(state));
}

void Session::take(const std::vector<RecordBlock>& blocks) {
  state_->take_batch(blocks);
  state_->forget_now_and_then();
}

void Session::add_interpreted_files(std::span<const InterpretedFile> files) {
  state_->interpreted.add(files);
}

bool Session::has_one_function() const {
  return state_->has_one_function;
}

bool Session::checks_chains() const {
  return state_->call_sites.has_value();
}

bool Session::follows() const {
  return state_->recording.stream() != nullptr;
}

bool Session::in_batches() const {
  return state_->batches != nullptr;
}

uint32_t Session::frame_generation() const {
  return state_->frame_generation;
}

Result<> Session::follow(const Follow& hooks) {
  State& state = *state_;
  if (in_batches()) return state.follow_batches(hooks.on_batch);
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
const BranchHistory* Session::branch_history() const {
  const std::optional<ChainOptions>& chains = state_->options.chains;
  return chains && chains->branch_history ? &*chains->branch_history : nullptr;
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
  if (!decode_sample(view, events()[event].layout, out)) return false;
  GuestSamples guests(events(), state_->machine);
  if (guests.any()) guests.set_task(out.cpu_mode, state_->pass.samples.time[sample], out.id);
  return true;
}

const GuestCpu* Session::guest_cpu(size_t sample) const {
  GuestSamples guests(events(), state_->machine);
  if (!guests.any()) return nullptr;
  RecordView view = record(sample);
  SampleId id;
  if (!decode_sample_id(view, events()[events().of(view)].layout, id)) return nullptr;
  return guests.cpu_of(id, view.cpu_mode());
}

Frame Session::resolve(uint32_t pid, uint64_t time, RuntimeAddr address, uint16_t cpu_mode) const {
  const Machine& machine = state_->machine;
  bool in_guest = is_guest_mode(cpu_mode) || is_guest_task(pid);
  Place place =
      in_guest ? locate_guest(machine, pid, time, address.value, cpu_mode)
               : locate(machine, machine.space_at(pid, time).space, time, address.value, cpu_mode);
  Frame frame{place.dso, SymbolId(), place.address, 0, place.level};
  if (!place.dso.valid() && place.level == FrameLevel::kKernel && !in_guest) {
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
  merge_runs(order, [&](uint32_t a, uint32_t b) { return times[a] < times[b]; });
  return order;
}

const std::vector<OtherRecord>& Session::other_records() const {
  return state_->sideband.others;
}

}  // namespace sonde
