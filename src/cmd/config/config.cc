// config: shows and changes the user's perfconfig.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/output/overwriting.h"
#include "base/text.h"
#include "cli/command.h"

namespace sonde {
namespace {

constexpr std::string_view kSystemFile = "/etc/perfconfig";

class ConfigCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<file-option>] [options] [section.name[=value] ...]");
    flags.description(R"(Shows or changes settings.

Settings are read from /etc/perfconfig and then from ~/.perfconfig, which takes precedence; if the environment variable PERF_CONFIG names a file, only that file is read. Changes go to the user's file unless --system is given. The file is rewritten: its comments are not kept.)");
    flags.section("EXAMPLES", R"(  sonde config report.percent-limit=0.5
  sonde config call-graph.record-mode
  sonde config events.directory=~/perfmon   # the processor vendor's JSON files of events
  sonde config --list)");
    flags.boolean('l', "list", list_, "list all settings, as without arguments");
    flags.boolean(0, "system", system_, "show and change /etc/perfconfig alone");
    flags.boolean(0, "user", user_, "show and change ~/.perfconfig alone");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (system_ && user_) {
      // perf shows the usage here, but with the exit status of a failure.
      return fail(ErrorCode::kFailed,
                  "Error: --system and --user name different files: give one of them");
    }
    if (list_ && !arguments.empty())
      return fail(ErrorCode::kUsage, "Error: -l lists all settings: leave it out to see or set {}",
                  arguments[0]);
    Config shown = system_ || user_ ? TRY(read(file(env))) : env.config;
    if (arguments.empty()) {
      for (const Config::Entry& entry : shown.entries())
        env.out.print("{}={}\n", entry.name, entry.value);
      return 0;
    }
    for (const std::string& word : arguments.words) TRY(show_or_set(env, shown, word));
    return 0;
  }

 private:
  Result<> show_or_set(Env& env, const Config& shown, std::string_view word) const {
    size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals);
    size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0)
      return fail(
          ErrorCode::kFailed,
          "'{}' names no section: settings are called SECTION.NAME, such as report.percent-limit",
          word);
    if (dot + 1 == name.size())
      return fail(
          ErrorCode::kFailed,
          "'{}' is only a section: settings are called SECTION.NAME, such as report.percent-limit",
          word);
    if (equals == std::string_view::npos) {
      if (auto value = shown.get(name)) env.out.print("{}={}\n", name, *value);
      return {};
    }
    if (equals + 1 == word.size())
      return fail(ErrorCode::kFailed, "{0}= lacks a value: {0}=VALUE sets it, {0} alone shows it",
                  name);
    std::string path = file(env);
    Config changed = TRY(read(path));
    std::string_view value = word.substr(equals + 1);
    changed.set(name, value);
    // Whatever could not be read again would end every later command.
    Config again;
    if (!again.parse(changed.to_text(), path) || again.get(name) != value)
      return fail(ErrorCode::kFailed,
                  "{} cannot be kept in a file of settings: names of sections and variables have "
                  "letters, digits, '-' and '_'",
                  name);
    return write(path, "# Written by the command config, which does not keep comments.\n" +
                           changed.to_text());
  }

  /// The file that a change goes to.
  std::string file(const Env& env) const {
    if (system_) return std::string(kSystemFile);
    if (auto only = env.variable("PERF_CONFIG"); only && !user_) return *only;
    return env.variable("HOME").value_or("") + "/.perfconfig";
  }

  static Result<Config> read(const std::string& path) {
    Config config;
    Result<std::string> text = read_file(path);
    if (text)
      TRY(config.parse(*text, path));
    else if (text.error().code == ErrorCode::kCorrupt)
      return std::unexpected(std::move(text).error());
    return config;
  }

  /// Writes a second file first, so that a full disk leaves the old one intact.
  static Result<> write(const std::string& path, std::string_view text) {
    struct stat old{};
    bool is_there = ::lstat(path.c_str(), &old) == 0;
    bool is_link = is_there && S_ISLNK(old.st_mode);
    std::error_code error;
    std::string target = is_link ? std::filesystem::canonical(path, error).string() : path;
    if (is_others_link(path) || error || (is_link && ::stat(path.c_str(), &old) != 0) ||
        (is_there && !S_ISREG(old.st_mode)))
      return fail(ErrorCode::kFailed,
                  "{}: it is no file of settings, and is left alone: remove it, or name another "
                  "file by PERF_CONFIG",
                  path);
    constexpr mode_t kUsualMode = 0644, kPermissions = 07777;
    std::string fresh = target + ".XXXXXX";
    Fd fd(::mkostemp(fresh.data(), O_CLOEXEC));
    if (!fd.valid())
      return fail(ErrorCode::kPermission, "cannot write {}: {}", path, std::strerror(errno));
    Result<> written = write_all(fd.get(), path, as_bytes(text));
    bool keeps_owner =
        !is_there || old.st_uid == ::geteuid() || ::fchown(fd.get(), old.st_uid, old.st_gid) == 0;
    if (written && (!keeps_owner ||
                    ::fchmod(fd.get(), is_there ? old.st_mode & kPermissions : kUsualMode) != 0 ||
                    ::rename(fresh.c_str(), target.c_str()) != 0))
      written = fail(ErrorCode::kIo, "cannot replace {}: {}", path, std::strerror(errno));
    if (!written) ::unlink(fresh.c_str());
    return written;
  }

  bool list_ = false;
  bool system_ = false;
  bool user_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config() {
  return std::make_unique<ConfigCommand>();
}

}  // namespace sonde
