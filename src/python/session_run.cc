#include "python/session_run.h"

#include <poll.h>

#include <algorithm>

#include "perfdata/records/sideband.h"
#include "python/db_export.h"
#include "python/interrupt.h"
#include "python/stat_rounds.h"
#include "replay/fields/time_ranges.h"
#include "script/stat_lines.h"

namespace sonde::python {
namespace {

class SessionRun {
 public:
  SessionRun(ScriptEvents& script, const PyRef& context, Session& session,
             const ScriptOptions& options, FilterRun* dlfilter, Env& env)
      : script_(script),
        session_(session),
        options_(options),
        dlfilter_(dlfilter),
        env_(env),
        code_(session,
              abi::arch_from_machine(session.recording().features().arch.value_or("x86_64"))),
        calls_(script.interpreter(), script.context(), context, session.strings()),
        filter_(options.items) {}

  /// Hands over what the session has now. False if nothing more is wanted.
  Result<bool> batch() {
    if (session_.events().size() == 0) return true;
    if (!std::exchange(begun_, true)) TRY(begin());
    if (is_stat_recording(session_)) {
      TRY(counts_.take());
      return !Interrupt::has_come();
    }
    calls_.prepare(session_.events(), session_.recording().features());
    load_targets();
    for (const Item& item : TRY(items())) {
      if (Interrupt::has_come()) return false;
      if (dlfilter_ != nullptr && !item.is_record && !TRY(dlfilter_->keeps(item.index))) continue;
      TRY(item.is_record ? record(session_.other_records()[item.index]) : sample(item.index));
    }
    return !Interrupt::has_come();
  }

 private:
  struct Item {
    uint64_t time;
    const std::byte* place;
    uint32_t index;  // of a sample, or into Session::other_records()
    bool is_record;
  };

  Result<> begin() {
    ScriptContext& context = script_.context();
    context.order = session_.recording().facts().order;
    context.session = &session_;
    context.code = &code_;
    context.sources = &sources_.emplace(session_.symbolizer());
    context.has_traces = session_.recording().features().has(abi::kFeatureAuxtrace);
    if (exports_rows_) TRY(rows_.begin());
    gate_ = TRY(EventWindow::make(options_.gate, session_.events(), env_.tool));
    const auto& recorded = session_.recording().features().sample_time;
    filter_.times = TRY(parse_time_ranges(
        options_.time, recorded ? recorded->first_ns : session_.counts().first_time_ns,
        recorded ? recorded->last_ns : session_.counts().last_time_ns));
    if (dlfilter_ != nullptr) dlfilter_->attach(session_, options_, filter_, gate_);
    return {};
  }

  /// Addresses of samples may be in objects that nothing was sampled in.
  void load_targets() {
    size_t objects = session_.machine().dsos().size();
    bool any = std::ranges::any_of(session_.events().all(),
                                   [](const EventDesc& event) { return has_target(event.attr); });
    if (any && std::exchange(objects_known_, objects) != objects) session_.load_all_symbols();
  }

  Result<std::vector<Item>> items() {
    std::vector<Item> all;
    const SampleColumns& columns = session_.samples();
    auto add = [&](uint32_t i) {
      all.push_back({columns.time[i], session_.record(i).payload.data(), i, false});
    };
    if (dlfilter_ != nullptr || (filter_.passes_all() && !gate_.in_use())) {
      for (uint32_t i : session_.time_order()) add(i);
    } else {
      PrinterOptions printing;
      SamplePrinter printer = TRY(SamplePrinter::make(session_, printing));
      ItemFilter samples_only = filter_;
      samples_only.records = {};
      for (const ScriptItem& item : choose_items(session_, printer, samples_only, gate_))
        add(item.index);
    }
    if (!script_.wants_records()) return all;
    const std::vector<OtherRecord>& records = session_.other_records();
    for (uint32_t i = 0; i < records.size(); ++i)
      all.push_back({records[i].time, records[i].view.payload.data(), i, true});
    std::ranges::stable_sort(all, {},
                             [](const Item& item) { return std::pair(item.time, item.place); });
    return all;
  }

  Result<> record(const OtherRecord& record) {
    EventId event = session_.events().of(record.view);
    if (!event.valid()) event = EventId(size_t{0});
    const SampleLayout& layout = session_.events()[event].layout;
    bool is_switch =
        record.view.type == abi::kRecordSwitch || record.view.type == abi::kRecordSwitchCpuWide;
    if (!exports_rows_ || !is_switch) return script_.record(record, layout);
    auto change = decode_as<SwitchRecord>(record.view, layout);
    if (!change) return {};
    SampleId other;
    if (change->cpu_wide) other.pid = change->other_pid, other.tid = change->other_tid;
    return rows_.context_switch(record.time, decode_trailing_id(record.view, layout), *change,
                                other);
  }

  Result<> sample(uint32_t i) {
    const SampleColumns& columns = session_.samples();
    EventId event(size_t{columns.event[i]});
    bool is_tracepoint = session_.events()[event].attr.type == abi::kTypeTracepoint;
    if (is_tracepoint ? !calls_.handles(event) : !exports_rows_ && !script_.takes_samples())
      return {};
    Sample sample;
    if (!session_.decode(i, sample)) return {};
    ScriptContext& context = script_.context();
    context.format = nullptr;
    context.raw = sample.raw;
    context.sample = &sample;
    context.place = &session_.frame(columns.leaf[i]);
    Result<> done;
    if (is_tracepoint)
      done = calls_.call(
          {event, sample.raw, columns.time[i], columns.cpu[i], columns.comm[i]},
          {[&] { return objects_.chain(i, sample); }, [&] { return objects_.dict(i, sample); }});
    else if (exports_rows_)
      done = rows_.sample(i, sample);
    else
      done = script_.process_event(objects_.dict(i, sample));
    context.sample = nullptr;
    context.place = nullptr;
    return done;
  }

  ScriptEvents& script_;
  Session& session_;
  const ScriptOptions& options_;
  FilterRun* dlfilter_;
  Env& env_;
  CodeBytes code_;
  std::optional<SourceLines> sources_;
  TracepointCalls calls_;
  SampleObjects objects_{session_};
  StatRounds counts_{script_, session_};
  DbExport rows_{script_, session_};
  bool exports_rows_ = script_.exports_rows();
  ItemFilter filter_;
  EventWindow gate_;
  bool begun_ = false;
  size_t objects_known_ = 0;
};

/// Waits until a pipe has more; the script's own threads run meanwhile. False if it should not be
/// read any further.
bool wait_for_input(const Env& env) {
  pollfd input{env.in_fd, POLLIN, 0};
  PyThreadState* state = py().PyEval_SaveThread();
  // A signal that comes before the call must not be missed for long.
  constexpr int kStep_ms = 200;
  while (!Interrupt::has_come() && ::poll(&input, 1, kStep_ms) <= 0) {
  }
  py().PyEval_RestoreThread(state);
  return !Interrupt::has_come();
}

}  // namespace

Result<> run_session(ScriptEvents& script, const PyRef& context, Session& session,
                     const ScriptOptions& options, FilterRun* dlfilter, Env& env) {
  SessionRun run(script, context, session, options, dlfilter, env);
  auto batch = [&] { return run.batch(); };
  if (session.follows() || session.in_batches())
    return session.follow({batch, [&] { return wait_for_input(env); }});
  TRY(batch());
  return {};
}

}  // namespace sonde::python
