#include "cmd/options/call_graph_option.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "capture/recorders/aggregate_recorder.h"
#include "capture/recorders/call_graph_choice.h"
#include "cmd/record/flags.h"

namespace sonde {

Result<> parse_call_graph(std::string_view text, SamplingOptions& sampling, bool* keep_copies) {
  std::vector<std::string_view> words = split(text, ',');
  std::string_view mode = words[0];
  bool raw = keep_copies != nullptr && (mode == "dwarf" || mode == "bpf") && words.size() > 1 &&
             words.back() == "raw";
  if (keep_copies != nullptr) *keep_copies = raw;
  if (raw) words.pop_back();
  std::optional<uint64_t> number;
  if (words.size() > 1) {
    number = parse_number(words[1]);
    if (words[1] == "defer" || (words.size() > 2 && words[2] == "defer"))
      return fail(ErrorCode::kUnsupported,
                  "callchain: deferred user callchains are not recorded yet, only read; they need "
                  "Linux 6.19");
    if (!number || words.size() > 2)
      return fail(ErrorCode::kUsage, "--call-graph {}: not fp[,N], dwarf[,BYTES], lbr or bpf",
                  text);
  }
  if (mode == "fp") {
    sampling.call_graph = CallGraphMode::kFramePointer;
    if (number && (*number == 0 || *number > UINT16_MAX))
      return fail(ErrorCode::kUsage, "--call-graph fp,{}: a chain has 1 to 65535 functions",
                  *number);
    sampling.max_stack = static_cast<uint32_t>(number.value_or(0));
  } else if (mode == "dwarf" || (mode == "bpf" && (raw || !number))) {
    sampling.call_graph = mode == "bpf" ? CallGraphMode::kBpf : CallGraphMode::kDwarf;
    uint64_t size = (number.value_or(sampling.stack_dump_size()) + 7) / 8 * 8;
    if (size == 0 || size > kMaxStackDumpSize)
      return fail(ErrorCode::kUsage, "--call-graph: a copy of a stack has 1 to {} bytes, not {}",
                  kMaxStackDumpSize, words[1]);
    sampling.dump_size = static_cast<uint32_t>(size);
  } else if (mode == "lbr" && !number) {
    sampling.call_graph = CallGraphMode::kLbr;
  } else {
    return fail(ErrorCode::kUsage,
                "--call-graph {}: call chains are found by fp[,N], dwarf[,BYTES], lbr or bpf",
                text);
  }
  return {};
}

Result<> CallGraphDefault::configure(const Config& config) {
  configured_ = config.get("call-graph.record-mode").value_or("");
  if (configured_.empty()) return {};
  SamplingOptions sampling;
  bool keep_copies = false;
  Result<> parsed = parse_call_graph(configured_, sampling, &keep_copies);
  if (parsed) return {};
  return fail(ErrorCode::kFailed, "call-graph.record-mode: {}", parsed.error().message);
}

Result<> CallGraphDefault::settle(RecordOptions& options, std::string_view why_no_copies,
                                  bool* keep_copies, std::string_view subject, Env& env) {
  SamplingOptions& sampling = options.sampling;
  if (sampling.call_graph != CallGraphMode::kBest) return {};
  sampling.call_graph = CallGraphMode::kFramePointer;
  if (!configured_.empty()) return parse_call_graph(configured_, sampling, keep_copies);
  if (env.tool == "perf") return {};
  bool is_forbidden = false;
  CallGraphChoice choice = choose_call_graph(options, why_no_copies, [&]() -> Result<> {
    std::optional<StackSumOptions> sums;
    if (sampling.aggregation.enabled) sums = sum_options(options);
    Result<StackWalker> walker = StackWalker::open(sums);
    is_forbidden = !walker && walker.error().code == ErrorCode::kPermission;
    walker_.emplace(TRY(std::move(walker)));
    return {};
  });
  sampling.call_graph = choice.mode;
  if (choice.mode == CallGraphMode::kDwarf && !sampling.dump_size)
    sampling.dump_size = kWholeStackDumpSize;
  options.walker = walker_ ? &*walker_ : nullptr;
  // Where no BPF program may be loaded, samples cannot be counted either: that is said instead.
  bool ends_anyway = sampling.aggregation.enabled && is_forbidden;
  if (!options.quiet && !ends_anyway)
    env.err.print("[ {} {}: call chains: {} ]\n", env.tool, subject, choice.why);
  return {};
}

}  // namespace sonde
