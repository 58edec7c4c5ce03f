// Checks of sampling, and of what is found out about samples.
#include <charconv>

#include "base/text.h"
#include "elf/elf_file.h"
#include "selftest/check.h"

namespace sonde::selftest {
namespace {

const std::vector<std::string> kClock = {"-q", "-N", "-F", "997", "-e", "cpu-clock:u"};

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// Whether some line of `fold` has this chain in it.
Outcome expect_chain(const CheckRun& run, const std::string& chain) {
  return run.expect({"fold", "--inline", "--tidy", "-i", "perf.data"}, {chain});
}

/// The share of a function in percent, from `report`.
double share_of(const Finished& report, std::string_view function) {
  for (std::string_view line : split(report.out, '\n')) {
    if (!line.ends_with(function)) continue;
    size_t first = line.find_first_not_of(' ');
    double share = 0;
    std::from_chars(line.data() + first, line.data() + line.size(), share);
    return share;
  }
  return 0;
}

}  // namespace

Outcome check_samples(const CheckRun& run) {
  if (Outcome done = run.record(kClock, {"noploop", "0.3"}); !done.is_ok()) return done;
  Result<Finished> report =
      run.own({"report", "--stdio", "-i", "perf.data", "-s", "sym", "-g", "none", "--no-children"});
  if (!report) return failed(report.error().message);
  constexpr double kLeast = 40;  // the start of the program has the rest, on a busy machine
  double share = share_of(*report, "noploop");
  return share > kLeast ? ok() : failed(fmt::format("the loop has {} % of its samples", share));
}

Outcome check_call_chains(const CheckRun& run) {
  if (Outcome done = run.record(with(kClock, {"-g"}), {"leafloop", "0.3"}); !done.is_ok())
    return done;
  return expect_chain(run, "leafloop;parent;leaf");
}

Outcome check_stack_copies(const CheckRun& run) {
  if (Outcome done = run.record(with(kClock, {"--call-graph", "dwarf"}), {"leafloop", "0.3"});
      !done.is_ok())
    return done;
  return expect_chain(run, "leafloop;parent;leaf");
}

Outcome check_inlined_functions(const CheckRun& run) {
  Result<ElfFile> program = ElfFile::open("/proc/self/exe");
  if (!program || program->section(".debug_info") == nullptr)
    return skip("this program has no debug information");
  if (Outcome done = run.record(with(kClock, {"-g"}), {"inlineloop", "0.3"}); !done.is_ok())
    return done;
  Result<Finished> folded = run.own({"fold", "--inline", "-i", "perf.data"});
  if (!folded) return failed(folded.error().message);
  bool has_both = folded->out.contains("middle_[i];") && folded->out.contains("leaf_[i]");
  return has_both ? ok() : failed("middle() and leaf(), inlined in parent(), are missing");
}

Outcome check_threads(const CheckRun& run) {
  if (Outcome done = run.record(kClock, {"thloop", "0.3", "3"}); !done.is_ok()) return done;
  Result<Finished> report = run.own({"report", "--stdio", "-i", "perf.data", "-s", "tid", "-F",
                                     "sample,tid", "-g", "none", "-t", ";"});
  if (!report) return failed(report.error().message);
  size_t threads = 0;
  for (std::string_view line : split(report->out, '\n'))
    threads += !line.starts_with('#') && line.contains(';');
  return threads >= 3 ? ok() : failed(fmt::format("{} of 3 threads have samples", threads));
}

Outcome check_kernel_names(const CheckRun& run) {
  Outcome done = run.record({"-q", "-N", "-c", "100000", "-e", "cpu-clock:k"},
                            {"context_switch_loop", "20000"});
  if (!done.is_ok()) return skip(done.reason);
  Result<Finished> report = run.own({"report", "--stdio", "-i", "perf.data", "-s", "sym", "-g",
                                     "none", "--no-children", "--percent-limit", "1"});
  if (!report) return failed(report.error().message);
  if (report->out.contains("[k] 0xffff"))
    return skip("addresses of kernel functions are hidden (kernel.kptr_restrict)");
  return report->out.contains("[k] ") ? ok() : failed("no kernel function has samples");
}

Outcome check_branch_stacks(const CheckRun& run) {
  Outcome done = run.record({"-q", "-N", "-b", "-e", "cycles:u"}, {"brstack"});
  if (!done.is_ok()) return skip("this machine records no branches");
  return run.expect({"script", "-i", "perf.data", "-F", "brstacksym"},
                    {"brstack_bench", "brstack_foo"});
}

Outcome check_pipes(const CheckRun& run) {
  Result<Finished> piped = run.own({"record", "-q", "-N", "-e", "cpu-clock:u", "-o", "-", "--",
                                    "/proc/self/exe", "test", "-w", "noploop", "0.3"});
  if (!piped) return failed(piped.error().message);
  if (Result<> saved = run.save("piped.data", piped->out); !saved)
    return failed(saved.error().message);
  return run.expect({"report", "--stdio", "-i", "piped.data", "-s", "sym", "-g", "none"},
                    {"noploop"});
}

Outcome check_whole_machine(const CheckRun& run) {
  Outcome done = run.record({"-q", "-N", "-a", "-F", "997", "-e", "cpu-clock"}, {"noploop", "0.3"});
  if (!done.is_ok()) return skip(done.reason);
  return run.expect({"report", "--stdio", "-i", "perf.data", "-s", "sym", "-g", "none"},
                    {"noploop"});
}

}  // namespace sonde::selftest
