#include "selftest/check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

#include "base/text.h"

namespace sonde::selftest {
namespace {

constexpr auto kChecks = std::to_array<Check>({
#define CHECK_OF(name, summary) {#name, summary, check_##name},
#include "selftest/checks.def"
#undef CHECK_OF
});

}  // namespace

std::span<const Check> checks() {
  return kChecks;
}

std::string reason_of(const Finished& finished) {
  constexpr std::string_view kLabel = "Error:";
  for (std::string_view line : split(finished.err, '\n')) {
    if (line.starts_with(kLabel)) line.remove_prefix(kLabel.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty()) return std::string(line);
  }
  return fmt::format("status {}", finished.status);
}

Outcome skip(std::string reason) {
  return {Outcome::Kind::kSkip, std::move(reason)};
}
Outcome failed(std::string reason) {
  return {Outcome::Kind::kFailed, std::move(reason)};
}

Result<Finished> CheckRun::own(const std::vector<std::string>& words) const {
  Finished finished = TRY(run_own(words, directory_));
  if (said_ != nullptr)
    said_->print("  $ sonde {}\n{}{}", join(words, " "), finished.out, finished.err);
  return finished;
}

Outcome CheckRun::record(const std::vector<std::string>& options,
                         const std::vector<std::string>& workload) const {
  std::vector<std::string> words = {"record", "-o", "perf.data"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "/proc/self/exe", "test", "-w"});
  words.insert(words.end(), workload.begin(), workload.end());
  Result<Finished> done = own(words);
  if (!done) return failed(done.error().message);
  return done->status == 0 ? ok() : failed(reason_of(*done));
}

double count_of(std::string_view text, std::string_view event) {
  for (std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() < 3 || !fields[2].ends_with(event)) continue;
    double value = -1;
    std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), value);
    return value;
  }
  return -1;
}

Outcome CheckRun::expect_count(const std::vector<std::string>& words,
                               std::string_view event) const {
  Result<Finished> done = own(words);
  if (!done) return failed(done.error().message);
  if (done->status != 0) return skip(reason_of(*done));
  return count_of(done->err, event) > 0 ? ok() : failed(fmt::format("{} was not counted", event));
}

Result<> CheckRun::save(const std::string& name, const std::string& content) const {
  std::ofstream file(directory_ + "/" + name, std::ios::binary);
  file << content;
  file.close();
  return file ? Result<>() : fail(ErrorCode::kIo, "{}/{} cannot be written", directory_, name);
}

Outcome CheckRun::expect(const std::vector<std::string>& words,
                         const std::vector<std::string>& parts) const {
  Result<Finished> done = own(words);
  if (!done) return failed(done.error().message);
  if (done->status != 0) return failed(reason_of(*done));
  for (const std::string& part : parts)
    if (!done->out.contains(part))
      return failed(fmt::format("`{}` does not show '{}'", join(words, " "), part));
  return ok();
}

}  // namespace sonde::selftest
