// Resolves addresses to places in programs while the trace runs: those of page faults and of call
// chains.
//
// Task updates are applied to a machine as they come; lookups are resolved at once. An object's
// symbols are read when an address first falls into it.
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "symbol/dso_symbols.h"
#include "trace/sources/trace_source.h"

namespace sonde {

class TraceLocations {
 public:
  struct Options {
    SymbolOptions symbols;
    std::string kernel_release;  // of the traced machine
    std::string arch;            // "x86_64", as uname(2) has it
    std::string host_name;       // of the traced machine
    uint32_t max_stack = 127;    // maximum frames to show
  };
  TraceLocations(Options options, const Env& env);
  ~TraceLocations();

  void apply(const TaskNews& news, uint64_t time_ns);
  /// Resolves the call chain of a sample; returns its number of frames.
  size_t resolve_chain(const Sample& sample, const SampleLayout& layout, uint64_t time_ns);
  /// Appends the lines of that chain; if a terminal shows them, with printable names.
  void append_chain(bool is_shown, std::string& out);
  /// "[_dl_start+0x3d] => /usr/bin/ls@0x40 (d.)"; with `whole` both as OBJECT@SYMBOL+OFFSET.
  void append_fault(const Sample& sample, uint64_t time_ns, bool whole, std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde
