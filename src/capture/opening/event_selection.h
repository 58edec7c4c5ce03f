// EventSelection: what -e, --filter and -G of `record` and `stat` select, and the options in
// between (-M, --exclude-perf).
//
// Each option refers to the events before it, so they are kept in command-line order and applied by
// `settle`, when the context in which events are looked up is known:
//
//   declare_event_selection(flags, selection_);
//   flags.call(0, "exclude-perf", …, [this] { selection_.then([](auto& chosen, Env&) { … }); });
//   …
//   TRY(selection_.settle({options.events, options.cgroups}, env));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "capture/opening/owned_events.h"
#include "capture/recorders/record_options.h"
#include "event/parser/event_list.h"
#include "event/vendor/vendor_events.h"

namespace sonde {

class EventSelection {
 public:
  /// What is filled: the events, and a cgroup for each that has one.
  struct Chosen {
    EventList& events;
    std::vector<std::string>& cgroups;
  };
  using Step = std::function<Result<>(Chosen&, Env&)>;

  /// `counting`: for stat, which accepts events that cannot be sampled.
  explicit EventSelection(bool counting) : counting_(counting) {}

  /// Whom the events are for: the command and the processes in whose files USDT probes are looked
  /// up. Call before `settle`; with `verbose`, reports on stderr what was created.
  void serve(const TargetOptions& target, int verbose, Env& env);
  /// How BPF programs are compiled; set before `serve`.
  [[nodiscard]] CompilerSettings& compiler() { return compiler_; }
  /// -e.
  void add_events(std::string text);
  /// --probe: a definition as for `probe`; the probe exists as long as `made()`.
  void add_probe(std::string definition);
  /// --pfm-events.
  void add_pfm_events(std::string text);
  /// --filter, for the events before it: the kernel's for tracepoints, the PMU's for traces; to
  /// sample other events, a BPF program.
  void add_filter(std::string text);
  /// -G, for the events before it.
  void add_cgroups(std::string names);
  /// Applied at the position of the option that asks for it.
  void then(Step step) { steps_.push_back(std::move(step)); }
  /// Errors: kBadEvent and kUsage in perf's words.
  Result<> finalize(Chosen chosen, Env& env) const;

  /// Appends the events that `text` names to `list`.
  Result<> parse(std::string_view text, EventList& list, Env& env) const;
  /// The processor vendor's events and metrics, by the configuration; kept once they were read.
  [[nodiscard]] VendorEvents& vendor(const Env& env) const;
  /// What had to be created for them; it must outlive the events. Null before `serve`.
  [[nodiscard]] OwnedEvents* made() const { return made_.get(); }
  /// Whether a -G was given.
  [[nodiscard]] bool names_cgroups() const { return names_cgroups_; }

 private:
  std::vector<Step> steps_;
  CompilerSettings compiler_;
  std::unique_ptr<OwnedEvents> made_;
  mutable std::unique_ptr<VendorEvents> vendor_;
  bool counting_;
  bool names_cgroups_ = false;
};

}  // namespace sonde
