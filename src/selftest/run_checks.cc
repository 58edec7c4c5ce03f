#include "selftest/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "capture/control/temporary_directory.h"
#include "selftest/check.h"

namespace sonde::selftest {
namespace {

struct Chosen {
  size_t number;  // from 1
  const Check* check;
};

struct Finding {
  Chosen chosen;
  Outcome outcome;
  double seconds;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), to_ascii_lower);
  return out;
}

bool is_meant(const std::string& word, const Chosen& one) {
  size_t number = 0;
  const char* end = word.data() + word.size();
  if (auto read = std::from_chars(word.data(), end, number);
      read.ec == std::errc() && read.ptr == end)
    return number == one.number;
  return lower(one.check->name).contains(lower(word)) ||
         lower(one.check->summary).contains(lower(word));
}

std::vector<Chosen> choose(const CheckOptions& options) {
  std::vector<Chosen> chosen;
  for (size_t i = 0; i < checks().size(); ++i) {
    Chosen one{i + 1, &checks()[i]};
    auto meant = [&](const std::string& word) { return is_meant(word, one); };
    if (options.wanted.empty() || std::ranges::any_of(options.wanted, meant)) chosen.push_back(one);
  }
  return chosen;
}

std::string line_of(const Chosen& one) {
  size_t width = 0;
  for (const Check& check : checks()) width = std::max(width, check.summary.size());
  return fmt::format("{:>3}: {:<{}}", one.number, one.check->summary, width);
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

void write_junit(const std::vector<Finding>& findings, Sink& out) {
  auto count = [&](Outcome::Kind kind) {
    return std::ranges::count(findings, kind, [](const Finding& one) { return one.outcome.kind; });
  };
  out.print(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"sonde\" tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\">\n",
      findings.size(), count(Outcome::Kind::kFailed), count(Outcome::Kind::kSkip));
  for (const Finding& one : findings) {
    out.print("  <testcase classname=\"sonde\" name=\"{}\" time=\"{:.3f}\">",
              one.chosen.check->name, one.seconds);
    if (one.outcome.kind != Outcome::Kind::kOk)
      out.print("<{} message=\"{}\"/>",
                one.outcome.kind == Outcome::Kind::kSkip ? "skipped" : "failure",
                xml_text(one.outcome.reason));
    out.write("</testcase>\n");
  }
  out.write("</testsuite>\n");
}

Result<Finding> run_one(const Chosen& one, const CheckOptions& options, Env& env) {
  TemporaryDirectory directory = TRY(TemporaryDirectory::make(env));
  uint64_t start_ns = monotonic_ns();
  CheckRun run(directory.path(), options.verbose > 1 ? &env.out : nullptr);
  Outcome outcome = one.check->run(run);
  return Finding{one, std::move(outcome), static_cast<double>(monotonic_ns() - start_ns) / 1e9};
}

}  // namespace

void list_checks(const CheckOptions& options, Sink& out) {
  for (const Chosen& one : choose(options))
    out.print("{:>3}: {}\n", one.number, one.check->summary);
}

Result<int> run_checks(const CheckOptions& options, Env& env) {
  std::vector<Chosen> chosen = choose(options);
  if (chosen.empty())
    return fail(ErrorCode::kUsage, "no check is called '{}': `test list` shows them",
                join(options.wanted, " "));
  std::vector<Finding> findings;
  for (const Chosen& one : chosen) {
    env.out.print("{} :", line_of(one));
    env.out.flush();
    bool is_left_out = std::ranges::any_of(
        options.skipped, [&](const std::string& word) { return is_meant(word, one); });
    if (options.verbose > 1) env.out.put('\n');
    findings.push_back(is_left_out ? Finding{one, skip("user override"), 0}
                                   : TRY(run_one(one, options, env)));
    const Outcome& outcome = findings.back().outcome;
    constexpr std::string_view kWords[] = {" Ok", " Skip", " FAILED!"};
    env.out.write(kWords[static_cast<size_t>(outcome.kind)]);
    bool is_told = outcome.kind == Outcome::Kind::kFailed || options.verbose > 0 || is_left_out;
    if (is_told && !outcome.reason.empty()) env.out.print(" ({})", outcome.reason);
    env.out.put('\n');
    env.out.flush();
  }
  if (!options.junit.empty()) {
    OutputFile file = TRY(OutputFile::open(options.junit, env));
    write_junit(findings, file.sink());
    TRY(file.finish());
  }
  return std::ranges::any_of(
      findings, [](const Finding& one) { return one.outcome.kind == Outcome::Kind::kFailed; });
}

}  // namespace sonde::selftest
