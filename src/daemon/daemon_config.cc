#include "daemon/daemon_config.h"

#include "base/file.h"
#include "base/text.h"
#include "daemon/request.h"

namespace sonde {
namespace {

constexpr std::string_view kSessionPrefix = "session-";

/// The name is part of a path and of requests.
Result<> check_name(std::string_view name) {
  if (name.empty() || name.size() >= DaemonRequest::kMaxNameSize ||
      name.find('/') != std::string_view::npos)
    return fail(ErrorCode::kFailed,
                "[{}{}]: a session's name has 1 to {} characters and no slash; rename it",
                kSessionPrefix, name, DaemonRequest::kMaxNameSize - 1);
  return {};
}

Result<DaemonSession> session_of(std::string_view name, std::string_view variable,
                                 const std::string& value) {
  TRY(check_name(name));
  if (variable != "run")
    return fail(ErrorCode::kFailed, "{}{}.{}: a session has only the variable `run`",
                kSessionPrefix, name, variable);
  Result<std::vector<std::string>> words = session_words(value);
  if (!words) return fail(ErrorCode::kFailed, "{}{}.run: {}", kSessionPrefix, name, words.error());
  return DaemonSession{std::string(name), value, std::move(*words)};
}

}  // namespace

Result<DaemonConfig> daemon_config(const Config& config) {
  DaemonConfig result;
  for (const Config::Entry& entry : config.entries()) {
    std::string_view name = entry.name;
    if (name == "daemon.base") result.base = entry.value;
    if (!name.starts_with(kSessionPrefix)) continue;
    size_t dot = name.rfind('.');
    result.sessions.push_back(
        TRY(session_of(name.substr(kSessionPrefix.size(), dot - kSessionPrefix.size()),
                       name.substr(dot + 1), entry.value)));
  }
  return result;
}

Result<DaemonConfig> read_daemon_config(const std::vector<std::string>& files) {
  Config config;
  bool found = false;
  for (const std::string& file : files) {
    Result<std::string> text = read_file(file);
    if (!text && text.error().code != ErrorCode::kNotFound)
      return std::unexpected(std::move(text).error());
    if (!text) continue;
    found = true;
    TRY(config.parse(*text, file));
  }
  if (!found)
    return fail(ErrorCode::kNotFound,
                "no configuration: {} does not exist; write it, or name another with --config",
                join(files, " or "));
  return daemon_config(config);
}

Result<std::vector<std::string>> session_words(std::string_view run) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (char c : run) {
    bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      words.back() += c;
  }
  if (quote != 0) return fail(ErrorCode::kFailed, "the quote {} is not closed", quote);
  if (words.empty()) return fail(ErrorCode::kFailed, "it is empty; give the options of record");
  return words;
}

}  // namespace sonde
