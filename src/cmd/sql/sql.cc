// `sql`: questions to a recording in SQL, one or at a prompt.
#include "sql/database.h"

#include <unistd.h>

#include "base/output_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "sql/result_text.h"

namespace sonde {
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

class SqlCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] ['<query>' ...]");
    flags.description(
        R"(Answers questions to a recording in SQL (SQLite's). Nothing is exported: the tables are the recording itself. Without a query, statements are read from standard input; on a terminal there is a prompt, with .schema [TABLE], .tables, .help and .quit.

Tables: samples, stacks (a row per frame), frames, threads, mappings, objects, events, and one per tracepoint, with its fields as columns: sched:sched_switch is sched__sched_switch. Views: running and waiting (from sched:sched_switch) and syscalls (from raw_syscalls:* or syscalls:*) have intervals. Times are in nanoseconds.)");
    flags.section(
        "EXAMPLES",
        R"(  sonde sql 'select symbol, count(*) n from samples group by symbol order by n desc limit 10'
  sonde sql --format csv 'select comm, sum(period) from samples group by comm'
  sonde sql 'select name, count(*), max(duration) from syscalls group by name'
  sonde sql .schema)");
    input_.declare(flags);
    flags.text('o', "output", output_, "file", "output file name; - is standard output");
    flags.text(0, "format", format_, "table|csv|json", "how results are written (default: table)")
        .offers({"table", "csv", "json"});
    flags.group("Where names come from");
    declare_symbol_sources(flags, session_.symbols);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    sql::ResultFormat format = TRY(chosen_format());
    name_frame_functions(session_.symbols, env);
    session_.open = input_.open_options(env);
    session_.inlines = chosen_inlines(std::nullopt);
    std::string path = input_.path.empty() ? "perf.data" : input_.path;
    if (arguments.empty() && path == "-")
      return fail(ErrorCode::kUsage,
                  "sql: a recording on standard input needs a query as argument");
    Session session = TRY(Session::open(path, session_, env));
    sql::Database database = TRY(sql::Database::open(session));
    OutputFile output = TRY(OutputFile::open(output_, env));
    std::unique_ptr<sql::ResultWriter> writer = sql::make_result_writer(format, output.sink());
    if (arguments.empty()) {
      TRY(read_statements(env, database, output.sink(), *writer));
    } else {
      for (const std::string& query : arguments.words)
        TRY(answer(query, database, output.sink(), *writer));
    }
    TRY(output.finish());
    return 0;
  }

 private:
  [[nodiscard]] Result<sql::ResultFormat> chosen_format() const {
    if (format_ == "table") return sql::ResultFormat::kTable;
    if (format_ == "csv") return sql::ResultFormat::kCsv;
    if (format_ == "json") return sql::ResultFormat::kJson;
    return fail(ErrorCode::kUsage, "--format: '{}' is none of table, csv, json", format_);
  }

  static Result<> answer(const std::string& text, sql::Database& database, Sink& out,
                         sql::ResultWriter& writer) {
    std::vector<std::string_view> words = split(text, ' ');
    if (words[0] == ".tables") {
      out.print("{}\n", join(database.names(), "\n"));
    } else if (words[0] == ".schema") {
      std::string schema = database.schema(words.size() > 1 ? words[1] : "");
      if (schema.empty())
        return fail(ErrorCode::kFailed, "there is no table '{}'; .tables lists them", words[1]);
      out.write(schema);
    } else if (words[0] == ".help") {
      out.write(
          "Statements end in a semicolon. .schema [TABLE] shows columns, .tables names, .quit "
          "ends.\n");
    } else if (text.starts_with('.')) {
      return fail(ErrorCode::kFailed, "'{}' is not known; there are .schema .tables .help .quit",
                  words[0]);
    } else if (Result<> done = database.run(text, writer); !done) {
      return fail(done.error().code, "sql: {}. .schema shows tables and columns",
                  done.error().message);
    }
    return {};
  }

  /// At a prompt a wrong statement is told, and the next one read; in a file it ends the run.
  static Result<> read_statements(Env& env, sql::Database& database, Sink& out,
                                  sql::ResultWriter& writer) {
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
      env.err.print("{}\n", done.error().message);
      env.err.flush();
    }
    if (at_prompt) out.put('\n');
    bool is_rest = statement.find_first_not_of(" \t\n") != std::string::npos;
    return is_rest ? answer(statement, database, out, writer) : Result<>();
  }

  RecordingInput input_;
  SessionOptions session_;
  std::string output_;
  std::string format_ = "table";
};

}  // namespace

std::unique_ptr<Command> make_sql() {
  return std::make_unique<SqlCommand>();
}

}  // namespace sonde
