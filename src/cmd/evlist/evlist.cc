// `evlist`: the events of a recording.
#include "cli/command.h"
#include "cmd/options/recording_input.h"
#include "event/pmu/attr_text.h"
#include "perfdata/read/recording.h"
#include "replay/fields/trace_texts.h"

namespace sonde {
namespace {

class Evlist final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description("Lists the events in a recording, one per line.");
    options_.input.declare_file(flags);
    flags.boolean('F', "freq", options_.freq,
                  "show the sampling frequency or period of each event");
    flags.boolean('g', "group", options_.group,
                  "show the members of groups on one line, in braces");
    flags.boolean('v', "verbose", options_.verbose, "show every attribute of each event");
    flags.boolean(0, "trace-fields", options_.trace_fields,
                  "show the names of tracepoints' fields");
  }

  Result<int> run(Env& env, const Arguments&) override {
    if (options_.group && (options_.verbose || options_.freq))
      return fail(ErrorCode::kUsage, "-g shows nothing but groups: leave out -v and -F");
    if (options_.trace_fields) {
      SessionOptions open;
      open.want_symbols = false;
      open.chains.reset();
      Session session = TRY(options_.input.open_session(std::move(open), env));
      TraceTexts traces(session);
      print(env.out, session.events(), &traces);
      return 0;
    }
    Recording recording = TRY(options_.input.open_recording(env));
    print(env.out, recording.events(), nullptr);
    return 0;
  }

 private:
  void print(Sink& out, const EventTable& events, const TraceTexts* traces) const {
    bool has_tracepoint = false;
    for (size_t i = 0; i < events.size(); ++i) {
      EventId id(i);
      has_tracepoint = has_tracepoint || events[id].attr.type == abi::kTypeTracepoint;
      if (options_.group)
        print_group(out, events, id);
      else
        print_event(out, events[id], traces == nullptr ? nullptr : traces->format(id));
    }
    if (has_tracepoint && !options_.trace_fields)
      out.write("# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
  }

  static void print_group(Sink& out, const EventTable& events, EventId leader) {
    const EventDesc& event = events[leader];
    if (event.leader.valid() && event.leader != leader) return;
    bool alone = event.group_size < 2;
    out.print("{}{}{}", alone ? "" : event.group_name, alone ? "" : "{", event.name);
    for (size_t i = leader.index() + 1; i < events.size(); ++i)
      if (events[EventId(i)].leader == leader) out.print(",{}", events[EventId(i)].name);
    out.write(alone ? "\n" : "}\n");
  }

  void print_event(Sink& out, const EventDesc& event, const TracepointFormat* format) const {
    out.write(event.name);
    std::string_view before = ": ";
    if (options_.verbose) {
      out.print("{}{}", before, attr_line_with_config(event.attr));
      before = ", ";
    } else if (options_.freq) {
      out.print("{}{}={}", before, event.attr.freq != 0 ? "sample_freq" : "sample_period",
                event.attr.sample_period);
      before = ", ";
    }
    if (options_.trace_fields) print_fields(out, event, format, before);
    out.put('\n');
  }

  static void print_fields(Sink& out, const EventDesc& event, const TracepointFormat* format,
                           std::string_view before) {
    if (event.attr.type != abi::kTypeTracepoint) {
      out.print("{}(not a tracepoint)", before);
      return;
    }
    if (format == nullptr || format->fields().empty()) {
      out.print("{}(no trace field)", before);
      return;
    }
    std::string_view gap = "trace_fields: ";
    out.write(before);
    for (const TracepointField& field : format->fields()) {
      out.print("{}{}", gap, field.name);
      gap = ",";
    }
  }

  struct {
    RecordingInput input;
    bool freq = false;
    bool group = false;
    bool verbose = false;
    bool trace_fields = false;
  } options_;
};

}  // namespace

std::unique_ptr<Command> make_evlist() {
  return std::make_unique<Evlist>();
}

}  // namespace sonde
