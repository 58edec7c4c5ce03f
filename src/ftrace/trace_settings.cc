#include "ftrace/trace_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

struct NamedSwitch {
  std::string_view word;
  bool TraceSettings::* field;
};
constexpr NamedSwitch kFunctionSwitches[] = {{"call-graph", &TraceSettings::call_graph},
                                             {"irq-info", &TraceSettings::irq_info}};
constexpr NamedSwitch kGraphSwitches[] = {{"nosleep-time", &TraceSettings::no_sleep_time},
                                          {"noirqs", &TraceSettings::no_irqs},
                                          {"verbose", &TraceSettings::verbose},
                                          {"tail", &TraceSettings::tail},
                                          {"args", &TraceSettings::arguments},
                                          {"retval", &TraceSettings::return_value},
                                          {"retval-hex", &TraceSettings::return_value_hex},
                                          {"retaddr", &TraceSettings::return_address}};

template <size_t kCount>
bool set_switch(const NamedSwitch (&switches)[kCount], std::string_view word,
                TraceSettings& settings) {
  for (const NamedSwitch& known : switches) {
    if (known.word != word) continue;
    settings.*known.field = true;
    return true;
  }
  return false;
}

Result<bool> set_number(std::string_view word, std::string_view name, uint64_t& field) {
  if (!word.starts_with(name) || word.substr(name.size(), 1) != "=") return false;
  auto number = parse_number(word.substr(name.size() + 1));
  if (!number)
    return fail(ErrorCode::kUsage, "Error: --graph-opts {}: a number is missing behind {}=", word,
                name);
  field = *number;
  return true;
}

class Writes {
 public:
  void value(std::string file, std::string word, std::string option) {
    list_.push_back({std::move(file), {std::move(word)}, true, std::move(option)});
  }
  void list(std::string file, std::vector<std::string> words, std::string option) {
    bool is_asked_for = !words.empty();
    list_.push_back({std::move(file), std::move(words), is_asked_for, std::move(option)});
  }
  /// A file in options/; `is_asked_for` if it differs from the kernel's default.
  void trace_option(std::string_view name, bool on, bool is_asked_for, std::string option) {
    list_.push_back(
        {fmt::format("options/{}", name), {on ? "1" : "0"}, is_asked_for, std::move(option)});
  }
  std::vector<TraceWrite> take() { return std::move(list_); }

 private:
  std::vector<TraceWrite> list_;
};

std::vector<std::string> texts(const std::vector<pid_t>& numbers) {
  std::vector<std::string> words;
  for (pid_t number : numbers) words.push_back(fmt::format("{}", number));
  return words;
}

void add_functions(const TraceSettings& settings, Writes& writes) {
  writes.list("set_ftrace_filter", settings.functions, "-T");
  writes.list("set_ftrace_notrace", settings.not_functions, "-N");
  writes.list("set_graph_function", settings.graph_functions, "-G");
  writes.list("set_graph_notrace", settings.not_graph_functions, "-g");
}

void add_options(const TraceSettings& settings, Writes& writes) {
  auto option = [&](std::string_view name, bool on, std::string words) {
    writes.trace_option(name, on, on, std::move(words));
  };
  option("function-fork", settings.inherit, "--inherit");
  option("func_stack_trace", settings.call_graph, "--func-opts call-graph");
  option("irq-info", settings.irq_info, "--func-opts irq-info");
  writes.trace_option("sleep-time", !settings.no_sleep_time, settings.no_sleep_time,
                      "--graph-opts nosleep-time");
  writes.trace_option("funcgraph-irqs", !settings.no_irqs, settings.no_irqs, "--graph-opts noirqs");
  for (const char* name : {"funcgraph-proc", "funcgraph-abstime", "latency-format"})
    option(name, settings.verbose, "--graph-opts verbose");
  option("funcgraph-tail", settings.tail, "--graph-opts tail");
  option("funcgraph-args", settings.arguments, "--graph-opts args");
  option("funcgraph-retval", settings.return_value || settings.return_value_hex,
         "--graph-opts retval");
  option("funcgraph-retval-hex", settings.return_value_hex, "--graph-opts retval-hex");
  option("funcgraph-retaddr", settings.return_address, "--graph-opts retaddr");
}

}  // namespace

bool TraceSettings::traces_functions() const {
  return tracer == "function" || tracer == "function_graph";
}

Result<> parse_function_options(std::string_view words, TraceSettings& settings) {
  for (std::string_view word : split(words, ','))
    if (!set_switch(kFunctionSwitches, word, settings))
      return fail(ErrorCode::kUsage, "Error: --func-opts: '{}' is not one of call-graph, irq-info",
                  word);
  return {};
}

Result<> parse_graph_options(std::string_view words, TraceSettings& settings) {
  for (std::string_view word : split(words, ',')) {
    if (set_switch(kGraphSwitches, word, settings)) continue;
    if (TRY(set_number(word, "thresh", settings.threshold_us))) continue;
    if (TRY(set_number(word, "depth", settings.depth))) continue;
    return fail(ErrorCode::kUsage,
                "Error: --graph-opts: '{}' is not one of nosleep-time, noirqs, verbose, tail, "
                "args, retval, retval-hex, retaddr, thresh=N, depth=N",
                word);
  }
  return {};
}

std::string cpu_mask_text(const std::vector<int>& cpus) {
  constexpr int kBits = 32;
  int most = cpus.empty() ? 0 : std::ranges::max(cpus);
  std::vector<uint32_t> groups(static_cast<size_t>(most / kBits) + 1);
  for (int cpu : cpus)
    if (cpu >= 0) groups[static_cast<size_t>(cpu / kBits)] |= uint32_t{1} << cpu % kBits;
  std::string text = fmt::format("{:x}", groups.back());
  for (auto group = groups.rbegin() + 1; group != groups.rend(); ++group)
    text += fmt::format(",{:08x}", *group);
  return text;
}

std::vector<TraceWrite> trace_writes(const TraceSettings& settings) {
  constexpr uint64_t kKilobyte = 1024;
  Writes writes;
  writes.value("tracing_on", "0", "");
  writes.value("current_tracer", "nop", "");
  if (settings.traces_functions()) writes.list("set_ftrace_pid", texts(settings.tids), "");
  if (!settings.cpus.empty()) writes.value("tracing_cpumask", cpu_mask_text(settings.cpus), "-C");
  add_functions(settings, writes);
  writes.list("max_graph_depth", {fmt::format("{}", settings.depth)}, "--graph-opts depth");
  writes.list("tracing_thresh", {fmt::format("{}", settings.threshold_us)}, "--graph-opts thresh");
  add_options(settings, writes);
  if (settings.buffer_bytes != 0)
    writes.value("buffer_size_kb",
                 fmt::format("{}", (settings.buffer_bytes + kKilobyte - 1) / kKilobyte), "-m");
  writes.value("current_tracer", settings.tracer, "");
  std::vector<TraceWrite> list = writes.take();
  for (TraceWrite& write : list) {
    if (write.file == "max_graph_depth") write.is_asked_for = settings.depth != 0;
    if (write.file == "tracing_thresh") write.is_asked_for = settings.threshold_us != 0;
  }
  return list;
}

std::vector<std::string> words_of_trace_file(std::string_view file, std::string_view text) {
  std::vector<std::string> words;
  bool is_of_functions = file.starts_with("set_ftrace_") && file != "set_ftrace_pid";
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() || line.front() == '#' || line == "no pid") continue;
    if (file == "buffer_size_kb") {
      // "7 (expanded: 1408)": 1408, its size from the first use on.
      size_t colon = line.find(": ");
      if (colon != std::string_view::npos) line = line.substr(colon + 2);
      line = line.substr(0, line.find(')'));
    }
    // "function:traceoff:unlimited" is a command; emptying the file does not remove it.
    if (is_of_functions && line.find(':') != std::string_view::npos) continue;
    size_t module = line.find(" [");
    std::string word(line.substr(0, module));
    if (module != std::string_view::npos && is_of_functions && line.ends_with(']'))
      word += fmt::format(":mod:{}", line.substr(module + 2, line.size() - module - 3));
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace sonde
