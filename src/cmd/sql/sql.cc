// `sql`: questions to a recording in SQL, one or at a prompt.
#include "sql/database.h"

#include "base/output_file.h"
#include "base/printing/csv.h"
#include "cli/command.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "sql/prompt.h"
#include "sql/result_text.h"

namespace sonde {
namespace {

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
    flags.text('o', "output", output_, "file", "file to write; - is standard output (the default)");
    flags.text(0, "format", format_, "table|csv|json", "how results are written (default: table)")
        .offers({"table", "csv", "json"});
    flags.group("Where names come from");
    declare_symbol_sources(flags, session_.symbols);
    declare_guest_files(flags, session_.symbols.guests);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    sql::ResultFormat format = TRY(chosen_format());
    name_frame_functions(session_.symbols, env);
    session_.inlines = chosen_inlines(std::nullopt);
    // Without a query, standard input has the statements.
    if (arguments.empty() && input_.path.empty()) input_.path = "perf.data";
    if (arguments.empty() && input_.path == "-")
      return fail(ErrorCode::kUsage,
                  "sql: a recording on standard input needs a query as argument");
    Session session = TRY(input_.open_session(session_, env));
    sql::Database database = TRY(sql::Database::open(session));
    OutputFile output = TRY(OutputFile::open(output_, env));
    std::unique_ptr<sql::ResultWriter> writer =
        sql::make_result_writer(format, output.sink(), TRY(quotes_formulas(env)));
    if (arguments.empty()) {
      TRY(sql::read_statements(env, database, output.sink(), *writer));
    } else {
      for (const std::string& query : arguments.words)
        TRY(sql::answer(query, database, output.sink(), *writer));
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
