#include "python/script_wrappers.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace sonde::python {
namespace {

using Words = std::vector<std::string>;

/// The shell script in its third word, with the rest as arguments; what it calls perf is this
/// program.
constexpr const char* kShell =
    "perf() { \"$SONDE_PROGRAM\" \"$@\"; }; script=$1; shift; . \"$script\"";

/// The environment of a shell script.
Result<Words> environment(const Env& env, const std::string& exec_path) {
  std::error_code failed;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return fail(ErrorCode::kIo, "failed to read /proc/self/exe: {}", failed.message());
  Words all;
  for (const auto& [name, value] : env.variables)
    if (name != "PERF_EXEC_PATH") all.push_back(name + "=" + value);
  all.push_back("PERF_EXEC_PATH=" + exec_path);
  all.push_back("SONDE_PROGRAM=" + self.string());
  return all;
}

std::vector<char*> pointers(Words& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Starts a shell script, with other descriptors as its input and output unless they are
/// -1.
Result<pid_t> start(const std::string& script, const Words& words, Words environment, int in,
                    int out) {
  Words command = {"/bin/sh", "-c", kShell, "sh", script};
  command.insert(command.end(), words.begin(), words.end());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (in >= 0) ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  if (out >= 0) ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t pid = 0;
  int failed = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, pointers(command).data(),
                             pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return fail(ErrorCode::kIo, "failed to run {}: {}", script, std::strerror(failed));
  return pid;
}

/// Ctrl-C is for the shell scripts, which end by themselves.
class IgnoredInterrupt {
 public:
  IgnoredInterrupt() {
    struct sigaction ignore{};
    ignore.sa_handler = [](int) {};
    ignore.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &ignore, &before_);
  }
  IgnoredInterrupt(const IgnoredInterrupt&) = delete;
  IgnoredInterrupt& operator=(const IgnoredInterrupt&) = delete;
  ~IgnoredInterrupt() { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<int> run(const ScriptCatalog& catalog, const std::string& script, const Words& words,
                Env& env) {
  Words variables = TRY(environment(env, catalog.exec_path()));
  env.out.flush();
  IgnoredInterrupt ignored;
  return wait_for(TRY(start(script, words, std::move(variables), -1, -1)));
}

/// Whether some word is not an option: values of options look like a command, as in perf.
bool has_command(const Words& words, size_t from) {
  for (size_t i = from; i < words.size(); ++i) {
    if (words[i] == "--") return i + 1 < words.size();
    if (!words[i].starts_with('-')) return true;
  }
  return false;
}

/// What perf adds for a recording of everything.
void add_rest(Words& command, const Words& words, size_t from) {
  if (!has_command(words, from)) command.push_back("-a");
  command.insert(command.end(), words.begin() + static_cast<ptrdiff_t>(from), words.end());
}

Result<> check(const ScriptCatalog& catalog, const Words& words, const std::string& wrapper) {
  if (!wrapper.empty()) return {};
  if (words.empty())
    return fail(ErrorCode::kFailed, "no script was named: 'perf script -l' lists them");
  TRY(catalog.refuse_perl(words[0]));
  return ScriptCatalog::unknown(words[0]);
}

}  // namespace

Result<int> run_record_wrapper(const ScriptCatalog& catalog, const Words& words, Env& env) {
  std::string script = words.empty() ? std::string() : catalog.wrapper(words[0], "record");
  TRY(check(catalog, words, script));
  Words command;
  add_rest(command, words, 1);
  return run(catalog, script, command, env);
}

Result<int> run_report_wrapper(const ScriptCatalog& catalog, const Words& words, Env& env) {
  std::string script = words.empty() ? std::string() : catalog.wrapper(words[0], "report");
  TRY(check(catalog, words, script));
  return run(catalog, script, {words.begin() + 1, words.end()}, env);
}

Result<int> run_live(const ScriptCatalog& catalog, const Words& words, Env& env) {
  std::string report = words.empty() ? std::string() : catalog.wrapper(words[0], "report");
  std::string record = words.empty() ? std::string() : catalog.wrapper(words[0], "record");
  TRY(check(catalog, words, report.empty() || record.empty() ? std::string() : report));
  auto text = TRY(MappedFile::open(report));
  // Scripts like `sctop` take all words themselves: they show everything, until Ctrl-C.
  bool is_top = words[0].ends_with("top");
  size_t own = is_top ? words.size() - 1
                      : required_arguments(described(words[0], as_text(text.bytes())).arguments);
  if (words.size() - 1 < own)
    return fail(ErrorCode::kUsage, "`{}' script requires options", words[0]);

  auto split = words.begin() + 1 + static_cast<ptrdiff_t>(own);
  Words to_record = {"-q", "-o", "-"}, to_report(words.begin() + 1, split);
  to_report.insert(to_report.end(), {"-i", "-"});
  add_rest(to_record, words, 1 + own);

  Words variables = TRY(environment(env, catalog.exec_path()));
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::kIo, "failed to make a pipe: {}", std::strerror(errno));
  Fd from(ends[0]), to(ends[1]);
  env.out.flush();
  IgnoredInterrupt ignored;
  pid_t recorder = TRY(start(record, to_record, variables, -1, to.get()));
  auto reporter = start(report, to_report, variables, from.get(), -1);
  from = Fd();
  to = Fd();
  if (!reporter) {
    wait_for(recorder);
    return std::unexpected(reporter.error());
  }
  int status = wait_for(*reporter);
  wait_for(recorder);
  return status;
}

}  // namespace sonde::python
