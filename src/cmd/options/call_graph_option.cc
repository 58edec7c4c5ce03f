#include "cmd/options/call_graph_option.h"

#include <optional>
#include <vector>

#include "base/text.h"
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
      return fail(ErrorCode::kUsage, "callchain: Incorrect value in --call-graph {}", text);
  }
  if (mode == "fp") {
    sampling.call_graph = CallGraphMode::kFramePointer;
    if (number && (*number == 0 || *number > UINT16_MAX))
      return fail(ErrorCode::kUsage, "callchain: Incorrect number of frames: {}", *number);
    sampling.max_stack = static_cast<uint32_t>(number.value_or(0));
  } else if (mode == "dwarf" || (mode == "bpf" && (raw || !number))) {
    sampling.call_graph = mode == "bpf" ? CallGraphMode::kBpf : CallGraphMode::kDwarf;
    uint64_t size = (number.value_or(sampling.dump_size) + 7) / 8 * 8;
    if (size == 0 || size > kMaxStackDumpSize)
      return fail(ErrorCode::kUsage, "callchain: Incorrect stack dump size (max {}): {}",
                  kMaxStackDumpSize, words[1]);
    sampling.dump_size = static_cast<uint32_t>(size);
  } else if (mode == "lbr" && !number) {
    sampling.call_graph = CallGraphMode::kLbr;
  } else {
    return fail(ErrorCode::kUsage, "callchain: Unknown --call-graph option value: {}", text);
  }
  return {};
}

}  // namespace sonde
