#include "benchmarks/mem/memory_loop.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "benchmarks/mem/memory_size.h"
#include "benchmarks/support/cycle_counter.h"

namespace sonde {

void MemoryLoop::declare(FlagTable& flags) {
  flags.boolean('c', "cycles", cycles_,
                "Use a cycles event instead of gettimeofday() to measure performance");
  std::vector<std::string> offered = {"all", "help"};
  for (const MemoryFunction& function : functions_) offered.emplace_back(function.name);
  flags
      .text('f', "function", wanted_, "all",
            R"(Specify the function to run, "all" runs all available functions, "help" lists them)")
      .offers(std::move(offered));
  flags.call('k', "chunk", "0",
             "Specify how many bytes each call handles (default: 0, all). Available units: B, KB, "
             "MB, GB and TB (case insensitive)",
             [this](std::string_view text) -> Result<> {
               auto bytes = parse_memory_size(text);
               if (!bytes) return fail(ErrorCode::kUsage, "Invalid chunk size:{}", text);
               options_.chunk = *bytes;
               return {};
             });
  flags.number('l', "nr_loops", options_.loops, "n",
               "Specify the number of loops to run. (default: 1)");
  flags.call('p', "page", "4KB",
             "Specify the size of the pages that the buffers consist of: 4KB, 2MB or 1GB (case "
             "insensitive)",
             [this](std::string_view text) -> Result<> {
               options_.page = TRY(parse_page_size(text));
               return {};
             });
  flags.call('s', "size", "1MB",
             "Specify the size of the memory buffers. Available units: B, KB, MB, GB and TB (case "
             "insensitive)",
             [this](std::string_view text) -> Result<> {
               auto bytes = parse_memory_size(text);
               if (!bytes || *bytes == 0) return fail(ErrorCode::kUsage, "Invalid size:{}", text);
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
