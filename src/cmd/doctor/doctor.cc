// `doctor`: what can be measured here, what cannot and why, and the command that mends it.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "doctor/machine_findings.h"
#include "doctor/program_findings.h"

namespace sonde {
namespace {

using doctor::Finding;

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
    show(doctor::examine_machine(checks), env.out);
    std::vector<std::string> programs = arguments.words;
    if (programs.empty())
      if (std::string library = own_library(); !library.empty()) programs.push_back(library);
    for (const std::string& program : programs) {
      std::string path = TRY(path_of(program, env));
      env.out.print("\n{}\n", path);
      show(TRY(doctor::examine_program(path)), env.out);
    }
    return is_missing_ ? 1 : 0;
  }

 private:
  void show(const std::vector<Finding>& findings, Sink& out) {
    size_t width = 0;
    for (const Finding& finding : findings) width = std::max(width, finding.subject.size());
    for (const Finding& finding : findings) {
      constexpr std::string_view kStates[] = {"ok", "in part", "no"};
      out.print("  {:<7}  {:<{}}  {}\n", kStates[static_cast<size_t>(finding.state)],
                finding.subject, width, finding.what);
      if (!finding.remedy.empty()) out.print("           {:<{}}  > {}\n", "", width, finding.remedy);
      is_missing_ |= finding.state == Finding::State::kMissing;
    }
  }

  /// The C library that this process runs with.
  static std::string own_library() {
    Result<std::string> maps = read_file("/proc/self/maps");
    if (!maps) return {};
    for (std::string_view line : split(*maps, '\n'))
      if (line.find("/libc.so") != std::string_view::npos)
        return std::string(line.substr(line.find('/')));
    return {};
  }

  static Result<std::string> path_of(const std::string& program, const Env& env) {
    bool is_pid = std::ranges::all_of(program, [](char c) { return c >= '0' && c <= '9'; });
    if (is_pid) {
      std::error_code error;
      auto target = std::filesystem::read_symlink("/proc/" + program + "/exe", error);
      if (!error) return target.string();
      return fail(ErrorCode::kNotFound, "doctor: process {}: {}", program, error.message());
    }
    std::error_code ignored;
    if (program.find('/') != std::string::npos)
      return std::filesystem::absolute(program, ignored).string();
    std::string places = env.variable("PATH").value_or("");
    for (std::string_view place : split(places, ':'))
      if (std::string path = std::string(place) + "/" + program; ::access(path.c_str(), X_OK) == 0)
        return path;
    return fail(ErrorCode::kNotFound, "doctor: there is no program '{}' in PATH", program);
  }

  bool is_missing_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace sonde
