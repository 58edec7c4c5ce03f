#include "sql/prompt.h"

#include <unistd.h>

#include <utility>

#include "base/text.h"

namespace sonde::sql {
namespace {

/// Lines of a descriptor.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}
  /// False at the end.
  bool next(std::string& line) {
    while (true) {
      if (size_t end = pending_.find('\n'); end != std::string::npos) {
        line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        return true;
      }
      char more[4096];
      ssize_t count = ::read(fd_, more, sizeof more);
      if (count <= 0) {
        line = std::exchange(pending_, {});
        return !line.empty();
      }
      pending_.append(more, static_cast<size_t>(count));
    }
  }

 private:
  int fd_;
  std::string pending_;
};

}  // namespace

Result<> answer(const std::string& text, Database& database, Sink& out, ResultWriter& writer) {
  std::vector<std::string_view> words = split(text, ' ');
  if (words[0] == ".tables") {
    out.write_lines(join(database.names(), "\n") + '\n');
  } else if (words[0] == ".schema") {
    std::string schema = database.schema(words.size() > 1 ? words[1] : "");
    if (schema.empty())
      return fail(ErrorCode::kFailed, "there is no table '{}'; .tables lists them", words[1]);
    out.write_lines(schema);
  } else if (words[0] == ".help") {
    out.write(
        "Statements end in a semicolon. .schema [TABLE] shows columns, .tables names, .quit "
        "ends.\n");
  } else if (text.starts_with('.')) {
    return fail(ErrorCode::kFailed, "'{}' is not known; there are .schema .tables .help .quit",
                words[0]);
  } else if (Result<> done = database.run(text, writer); !done) {
    return fail(done.error().code, "sql: {}. .schema shows tables and columns", done.error());
  }
  return {};
}

Result<> read_statements(Env& env, Database& database, Sink& out, ResultWriter& writer) {
  bool at_prompt = ::isatty(env.in_fd) != 0;
  LineReader lines(env.in_fd);
  std::string statement, line;
  while (true) {
    if (at_prompt) {
      out.write(statement.empty() ? "sql> " : "...> ");
      out.flush();
    }
    if (!lines.next(line)) break;
    if (statement.empty() && (line == ".quit" || line == ".exit")) return {};
    bool is_command = statement.empty() && line.starts_with('.');
    statement += line;
    if (!is_command && !database.is_complete(statement)) {
      if (!statement.empty()) statement += '\n';
      continue;
    }
    Result<> done = answer(std::exchange(statement, {}), database, out, writer);
    out.flush();
    if (done) continue;
    if (!at_prompt) return done;
    env.err.write_lines(done.error().message + '\n');
    env.err.flush();
  }
  if (at_prompt) out.put('\n');
  bool is_rest = statement.find_first_not_of(" \t\n") != std::string::npos;
  return is_rest ? answer(statement, database, out, writer) : Result<>();
}

}  // namespace sonde::sql
