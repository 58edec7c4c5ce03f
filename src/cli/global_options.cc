#include "cli/global_options.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "cli/command.h"

namespace sonde {
namespace {

constexpr std::array kNames = {"--help",      "--version",   "--exec-path",   "--html-path",
                               "--paginate",  "--no-pager",  "--debugfs-dir", "--buildid-dir",
                               "--list-cmds", "--list-opts", "--debug"};

constexpr std::array kDebugNames = {"verbose", "ordered-events", "stderr", "data-convert",
                                    "perf-event-open"};

class GlobalReader {
 public:
  GlobalReader(Env& env, CommandList commands, std::span<const std::string> words)
      : env_(env), commands_(commands), words_(words) {}

  GlobalOptions run() {
    while (!found_.done && found_.used < words_.size() && words_[found_.used].starts_with('-') &&
           found_.command_instead.empty())
      option(words_[found_.used++]);
    return std::move(found_);
  }

 private:
  void option(std::string_view word) {
    std::string_view name = word.substr(0, word.find('='));
    std::optional<std::string_view> value;
    if (name.size() < word.size()) value = word.substr(name.size() + 1);

    if (word == "-h" || word == "--help") return instead({"help"});
    if (word == "-v" || word == "--version") return instead({"version"});
    if (word == "-vv") return instead({"version", "-vv"});
    if (word == "-p" || word == "--paginate") return paging(GlobalOptions::Paging::kAlways);
    if (word == "--no-pager") return paging(GlobalOptions::Paging::kNever);
    if (word == "--list-cmds") return list_commands();
    if (word == "--list-opts") return list_options();
    if (word == "--html-path")
      return answer(env_.variable("SONDE_HTML_PATH").value_or("/usr/share/doc/sonde"));
    if (word == "--exec-path")
      return answer(env_.variable("PERF_EXEC_PATH").value_or("/usr/libexec/perf-core"));
    if (name == "--exec-path") return set_variable("PERF_EXEC_PATH", *value);
    if (name == "--debugfs-dir") return directory("PERF_DEBUGFS_DIR", name, value);
    if (name == "--buildid-dir") return directory("PERF_BUILDID_DIR", name, value);
    if (name == "--debug-file") return directory("PERF_DEBUG_FILE", name, value);
    if (name == "--debug") return debug(value);
    wrong(fmt::format("Unknown option: {}", word));
  }

  void instead(std::vector<std::string> command) { found_.command_instead = std::move(command); }
  void paging(GlobalOptions::Paging paging) { found_.paging = paging; }
  void set_variable(std::string_view name, std::string_view value) {
    env_.variables[std::string(name)] = value;
  }

  void answer(std::string_view line) {
    env_.out.print("{}\n", line);
    found_.done = 0;
  }
  void wrong(std::string_view message) {
    env_.err.print("{}\n\n Usage: {}\n", message, global_usage(env_.tool));
    found_.done = 129;
  }

  void list_commands() {
    for (const CommandInfo& info : commands_)
      if (!info.hidden) env_.out.print("{} ", info.name);
    answer("");
  }
  void list_options() {
    for (std::string_view name : kNames) env_.out.print("{} ", name);
    answer("");
  }

  std::optional<std::string_view> value_of(std::optional<std::string_view> attached) {
    if (attached) return attached;
    if (found_.used == words_.size()) return std::nullopt;
    return words_[found_.used++];
  }

  void directory(std::string_view variable, std::string_view name,
                 std::optional<std::string_view> attached) {
    auto value = value_of(attached);
    if (!value) return wrong(fmt::format("No directory given for {}.", name));
    set_variable(variable, *value);
  }

  void debug(std::optional<std::string_view> attached) {
    auto value = value_of(attached);
    if (!value) return wrong("--debug needs NAME[=LEVEL]");
    for (std::string_view setting : split(*value, ',')) {
      std::string_view name = setting.substr(0, setting.find('='));
      if (std::ranges::find(kDebugNames, name) == kDebugNames.end())
        return wrong(fmt::format("Unknown option name '{}'", name));
      auto level = name.size() < setting.size() ? parse_number(setting.substr(name.size() + 1)) : 1;
      if (!level) return wrong(fmt::format("--debug {}: the level is not a number", setting));
      env_.debug[std::string(name)] = static_cast<int>(std::min<uint64_t>(*level, 10));
    }
  }

  Env& env_;
  CommandList commands_;
  std::span<const std::string> words_;
  GlobalOptions found_;
};

}  // namespace

GlobalOptions read_global_options(Env& env, CommandList commands,
                                  std::span<const std::string> words) {
  return GlobalReader(env, commands, words).run();
}

std::string global_usage(std::string_view tool) {
  return fmt::format("{} [--version] [--help] [OPTIONS] COMMAND [ARGS]", tool);
}

}  // namespace sonde
