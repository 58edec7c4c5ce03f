// `doctor`: what can be measured here, what cannot and why, and the command that mends it.
#include "cli/command.h"
#include "doctor/findings_text.h"
#include "doctor/machine_findings.h"
#include "doctor/program_findings.h"
#include "doctor/program_path.h"

namespace sonde {
namespace {

class DoctorCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<program>|<pid> ...]");
    flags.description(
        R"(Says what this user can measure on this machine, what not and why, and for each the command that mends it: permissions, hardware counters, tracepoints, probes, BPF, kernel symbols. For programs (a path, a name in PATH, or a process), what profiles of them can show: symbols, lines, and whether their call chains can be walked. Without a program, the C library is looked at.

Everything is tried, nothing is changed. The status is 1 if something does not work.)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    env.out.write("This machine\n");
    doctor::MachineChecks checks{env.sys, "", env.variable("DEBUGINFOD_URLS").value_or("")};
    bool works = doctor::show(doctor::examine_machine(checks), env.out);
    std::vector<std::string> programs = arguments.words;
    if (programs.empty())
      if (std::string library = doctor::own_library(); !library.empty())
        programs.push_back(library);
    for (const std::string& program : programs) {
      std::string path = TRY(doctor::program_path(program, env));
      env.out.print("\n{}\n", path);
      works &= doctor::show(TRY(doctor::examine_program(path)), env.out);
    }
    return works ? 0 : 1;
  }
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace sonde
