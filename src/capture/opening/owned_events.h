// OwnedEvents: the events of one command that must be created before they can be opened, kept until
// the command ends: probes (USDT and those of --probe, in tracefs, removed however the process
// ends) and BPF programs that decide which samples of their events are kept: the user's own, and
// those of --filter.
//
//   OwnedEvents made({.tracefs = path, .usdt = scope, .note = note});
//   parse_events(text, {…, .maker = &made}, list);
//   … open …
//   TRY(made.attach(sys, events));      // before they are enabled
//   … record …
//   // destroyed after all events are closed
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/sys.h"
#include "bpf/filters/sample_filter.h"
#include "bpf/map_setting.h"
#include "bpf/program_compiler.h"
#include "bpf/program_object.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/program_probes.h"
#include "event/parser/event_factory.h"
#include "probe/events/owned_probes.h"
#include "probe/probe_plan.h"
#include "probe/requested_probe.h"
#include "probe/source/probed_code.h"
#include "probe/usdt/usdt_objects.h"

namespace sonde {

class OwnedEvents final : public EventFactory {
 public:
  struct Setup {
    std::string tracefs;  // where it is mounted; empty: it isn't
    UsdtScope usdt = {};
    CodeSearch code = {};  // where debug information is looked for
    CompilerSettings compiler = {};
    std::function<void(std::string_view)> note = {};  // for -v: what was made and what was left out
  };
  explicit OwnedEvents(Setup setup) : setup_(std::move(setup)), probes_(setup_.tracefs) {}

  Result<std::vector<OwnedEvent>> make_usdt(std::string_view provider, std::string_view name,
                                            std::string_view object) override;
  Result<std::vector<OwnedEvent>> make_programs(std::string_view path,
                                                const std::vector<TermSyntax>& settings) override;

  /// The probes of a definition as for `probe`, whose first word may be an absolute path: the
  /// object. Without it that is the first of the program, its libraries, the objects of the
  /// processes and the kernel that has the place.
  Result<std::vector<OwnedEvent>> make_probes(std::string_view definition);

  /// A program for samples that are not tracepoints', from a filter in the grammar of
  /// bpf/filters/sample_filter_terms.h: what ParsedEvent::bpf_program is to be. Errors: bad terms;
  /// what the kernel refuses.
  Result<uint32_t> make_sample_filter(const std::string& text);
  /// Whether `program` is a filter made by the above.
  [[nodiscard]] bool is_sample_filter(uint32_t program) const;
  /// Makes such a filter keep only what `text` holds for, too.
  Result<> narrow_sample_filter(uint32_t program, const std::string& text);
  /// For each of them: "--filter 'cpu == 1' dropped 12 samples".
  [[nodiscard]] std::vector<std::string> filter_notes() const;

  /// Attaches their programs to the opened events, and fills the programs' maps with the
  /// descriptors of the events they are to hold.
  Result<> attach(Sys& sys, const std::vector<CaptureEvent>& events);

 private:
  struct Loaded {
    ProgramObject object;
    std::vector<MapSetting> event_settings;
  };
  struct MadeFilter {
    std::string text;
    SampleFilterTerms terms;
    BpfSampleFilter filter;
    uint32_t program;  // index in program_fds_
  };
  static Result<MadeFilter> make_filter(const std::string& text, uint32_t program);
  Result<> attach_program(Sys& sys, const CaptureEvent& event);
  /// Whether the event samples what its filter tests.
  Result<> check_samples(const CaptureEvent& event) const;
  Result<> make_program_events(const ProgramObject::Program& program,
                               const std::vector<ProgramProbe>& probes,
                               std::vector<OwnedEvent>& events);
  static Result<> fill_map(Loaded& loaded, const MapSetting& setting,
                           const std::vector<CaptureEvent>& events);
  Result<std::vector<SdtProbe>> find_usdt(std::string_view provider, std::string_view name,
                                          std::string_view object) const;
  Result<std::vector<ProbePlan>> plan(const RequestedProbe& request,
                                      const std::string& object) const;
  Result<std::vector<ProbePlan>> plan_in_scope(const RequestedProbe& request) const;
  void note(std::string_view text) const {
    if (setup_.note) setup_.note(text);
  }

  Setup setup_;
  OwnedProbes probes_;
  std::vector<Loaded> objects_;
  std::vector<MadeFilter> filters_;
  std::vector<int> program_fds_;  // by OwnedEvent::program; objects and filters own them
};

}  // namespace sonde
