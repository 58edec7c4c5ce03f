// ProgramObject: a user's BPF object, loaded: its programs, ready to be attached to perf events,
// and its maps.
//
//   ProgramObject object = TRY(ProgramObject::load(bytes, "prog.o", prologues));
//   for (const auto& program : object.programs())
//     … ioctl(fd, PERF_EVENT_IOC_SET_BPF, program.fds[0])
//   TRY(object.attach_others());         // those that are not attached to a perf event
//
// Nothing is pinned: everything disappears with the object, and with the process however it ends.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "bpf/map_setting.h"
#include "bpf/program_section.h"

namespace sonde {

class PrologueLoader;

class ProgramObject {
 public:
  struct Program {
    std::string name;
    ProgramSection section;
    std::vector<int> fds = {};  // one for each of its prologues; owned by the object
  };
  /// Instructions that are put in front of a program.
  using Prologue = std::vector<bpf_insn>;
  /// Those of a program: it is loaded once with each of them, and must have at least one, which may
  /// be empty. Called for all programs before any is loaded.
  using Prologues = std::function<Result<std::vector<Prologue>>(const Program&)>;

  /// Errors say what libbpf or the kernel's verifier objects to; those of `prologues` are returned
  /// unchanged.
  static Result<ProgramObject> load(Bytes bytes, const std::string& name,
                                    const Prologues& prologues);
  ProgramObject(ProgramObject&&) noexcept;
  ProgramObject& operator=(ProgramObject&&) noexcept;
  ~ProgramObject();

  /// Those that belong to perf events, in file order.
  [[nodiscard]] const std::vector<Program>& programs() const { return programs_; }

  /// Puts the setting's value into an array. Errors: no such map, or one that does not accept it.
  Result<> set_value(const MapSetting& setting);
  /// Checks that there is such a map and that it accepts events.
  Result<> check_event_map(const std::string& map) const;
  /// Puts an event's descriptor into a PERF_EVENT_ARRAY.
  Result<> set_event(const std::string& map, uint32_t index, int fd);

  /// Attaches what libbpf can attach itself (raw_tp, tp_btf, usdt …).
  Result<> attach_others();

 private:
  struct State;
  explicit ProgramObject(std::unique_ptr<State> state);
  Result<> find_programs(const Prologues& prologues, PrologueLoader& loader);
  std::unique_ptr<State> state_;
  std::vector<Program> programs_;
};

}  // namespace sonde
