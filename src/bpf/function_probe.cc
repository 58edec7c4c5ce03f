#include "bpf/function_probe.h"

#include <bpf/libbpf.h>

#include "bpf/bpf_log.h"
#include "bpf/skeletons/function_probe.skel.h"

namespace sonde {

struct FunctionProbe::State {
  explicit State(function_probe* opened) : skeleton(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    bpf_link__destroy(link);
    function_probe__destroy(skeleton);
  }
  function_probe* skeleton;
  bpf_link* link = nullptr;
};

FunctionProbe::FunctionProbe(std::unique_ptr<State> state) : state_(std::move(state)) {}
FunctionProbe::FunctionProbe(FunctionProbe&&) noexcept = default;
FunctionProbe& FunctionProbe::operator=(FunctionProbe&&) noexcept = default;
FunctionProbe::~FunctionProbe() = default;

Result<FunctionProbe> FunctionProbe::attach(const std::string& object, const char* function,
                                            bool at_return, Program program) {
  constexpr std::string_view kProgram = "the BPF program of a probe";
  constexpr pid_t kEveryProcess = -1;
  BpfLog log;
  auto state = std::make_unique<State>(function_probe__open());
  function_probe* skeleton = state->skeleton;
  if (skeleton == nullptr) return bpf_refused(log, "open", kProgram);
  bool empty = program == Program::kEmpty;
  bpf_program* wanted = empty ? skeleton->progs.does_nothing : skeleton->progs.prints_a_line;
  // A kernel that refuses the other one does not matter.
  bpf_program__set_autoload(empty ? skeleton->progs.prints_a_line : skeleton->progs.does_nothing,
                            false);
  if (function_probe__load(skeleton) != 0) return bpf_refused(log, "load", kProgram);
  bpf_uprobe_opts options{};
  options.sz = sizeof options;
  options.retprobe = at_return;
  options.func_name = function;
  state->link = bpf_program__attach_uprobe_opts(wanted, kEveryProcess, object.c_str(), 0, &options);
  if (state->link == nullptr) return bpf_refused(log, "attach", kProgram);
  return FunctionProbe(std::move(state));
}

}  // namespace sonde
