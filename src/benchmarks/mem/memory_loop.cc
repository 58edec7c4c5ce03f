#include "benchmarks/mem/memory_loop.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "benchmarks/mem/memory_size.h"
#include "benchmarks/support/cycle_counter.h"

namespace sonde {

void MemoryLoop::declare(FlagTable& flags) {
  flags.boolean('c', "cycles", cycles_, "count CPU cycles per byte, instead of measuring time");
  std::vector<std::string> offered = {"all", "help"};
  for (const MemoryFunction& function : functions_) offered.emplace_back(function.name);
  flags
      .text('f', "function", wanted_, "all",
            "function to measure: one by name, or all (the default); help lists them")
      .offers(std::move(offered));
  flags.call('k', "chunk", "0",
             "bytes that each call handles, with unit B, KB, MB, GB or TB (0: the whole buffer)",
             [this](std::string_view text) -> Result<> {
               auto bytes = parse_memory_size(text);
               if (!bytes)
                 return fail(ErrorCode::kUsage, "expects a size such as 4KB, not '{}'", text);
               options_.chunk = *bytes;
               return {};
             });
  flags.number('l', "nr_loops", options_.loops, "n",
               "how often the whole buffer is gone through (1)");
  flags.call('p', "page", "4KB", "size of the pages that buffers consist of: 4KB, 2MB or 1GB (4KB)",
             [this](std::string_view text) -> Result<> {
               options_.page = TRY(parse_page_size(text));
               return {};
             });
  flags.call('s', "size", "1MB", "size of a buffer, with unit B, KB, MB, GB or TB (1MB)",
             [this](std::string_view text) -> Result<> {
               auto bytes = parse_memory_size(text);
               if (!bytes || *bytes == 0)
                 return fail(ErrorCode::kUsage, "expects a size such as 1MB, not '{}'", text);
               size_text_ = text;
               options_.size = *bytes;
               return {};
             });
}

void MemoryLoop::list(Reporter& report) const {
  report.line("Available functions:");
  for (const MemoryFunction& function : functions_)
    report.line("\t{} ... {}", function.name, function.summary);
}

std::string MemoryLoop::names() const {
  std::string text;
  for (const MemoryFunction& function : functions_)
    text += (text.empty() ? "" : ", ") + std::string(function.name);
  return text;
}

Result<> MemoryLoop::run(BenchmarkRun& run) {
  if (wanted_ == "help") {
    list(run.report);
    return {};
  }
  if (wanted_ != "all" &&
      std::ranges::find(functions_, wanted_, &MemoryFunction::name) == functions_.end())
    return fail(ErrorCode::kFailed, "Unknown function: {}: there are {}", wanted_, names());
  for (size_t i = 0; i < functions_.size(); ++i)
    if (wanted_ == "all" || functions_[i].name == wanted_) TRY(measure(run, i));
  return {};
}

Result<> MemoryLoop::measure(BenchmarkRun& run, size_t index) {
  std::optional<CycleCounter> counter;
  if (cycles_) counter = TRY(CycleCounter::open(run.env.sys));
  run.report.line("# function '{}' ({})", functions_[index].name, functions_[index].summary);
  auto work = TRY(prepare(index));
  uint64_t start_cycles = counter ? counter->read() : 0, start_ns = monotonic_ns();
  TRY(work());
  Throughput throughput{.elapsed_ns = monotonic_ns() - start_ns};
  if (counter) throughput.cycles = counter->read() - start_cycles;
  throughput.bytes = static_cast<double>(options_.size) * options_.loops;
  throughput.done = {fmt::format("Copying {} bytes ...", size_text_)};
  run.report.report(throughput);
  return {};
}

}  // namespace sonde
