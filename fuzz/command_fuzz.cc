// Arbitrary bytes as a recording, given to the commands that read one: each ends with a status,
// and says why if that is not success. The first byte chooses the command line.
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sys.h"
#include "base/text.h"
#include "cli/dispatch.h"
#include "cmd/commands.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/own_folder.h"
#include "store/expand.h"

namespace {

using namespace sonde;

/// "@" is the recording, "%" a file for the output.
constexpr std::array kCommandLines = {
    "report --stdio -i @",
    "report --stdio -g caller -s comm,dso,sym,srcline,cpu,parent --header -I -i @",
    "report --stdio --mem-mode -s mem,symbol_daddr,dso_daddr,tlb,weight -i @",
    "report --stdio -b -s dso_from,symbol_to,mispredict,cycles -i @",
    "report --stdio --hierarchy -s comm,sym --itrace=i1i -i @",
    "report --tasks -i @",
    "report --mmaps -i @",
    "report --stats -i @",
    "script -i @",
    "script -F +addr,+period,+brstacksym,+phys_addr,+data_src,+weight,+misc,+srcline -i @",
    "script --itrace=be -F +misc,+period,+symoff,+srcline,+insn,+insnlen -i @",
    "script --show-mmap-events --show-task-events --show-lost-events --show-switch-events -i @",
    "script -D -i @",
    "annotate --stdio -i @",
    "diff @ @",
    "buildid-list -i @",
    "evlist -v -i @",
    "fold -i @",
    "export --to json -i @",
    "export --to firefox -i @",
    "export --to pprof -o % -i @",
    "export --to perfetto -o % -i @",
    "flamegraph -i @",
    "timeline -i @",
    "heatmap --subsecond -i @",
    "view -o % -i @",
    "mem report --stdio -i @",
    "c2c report --stdio -i @",
    "sched latency -i @",
    "sched timehist -i @",
    "sched map -i @",
    "lock report -i @",
    "lock contention -i @",
    "kmem stat -i @",
    "kwork report -i @",
    "kvm stat report -i @",
    "timechart -o % -i @",
    "trace -i @",
    "stat report -i @",
    "sql -i @",
    "inject -f -b -o % -i @",
    "inject -f --itrace=ibe --strip -o % -i @",
    "inject -f --buildid-all -s --convert-callchain -o % -i @",
    "data convert --to-json % -i @",
};

}  // namespace

FUZZ_TARGET(command)(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 32768;
  if (size == 0 || size > kMaxBytes) return 0;
  auto file = memory_file("fuzz");
  CHECK(file && write_all(file->get(), "fuzz", std::as_bytes(std::span(data + 1, size - 1))));
  std::string path = "/proc/self/fd/" + std::to_string(file->get());
  static const OwnFolder folder;
  std::string output = folder.path() + "/output";
  std::vector<std::string> words = {"sonde"};
  for (std::string_view word : split(kCommandLines[data[0] % kCommandLines.size()], ' '))
    words.push_back(word == "@" ? path : word == "%" ? output : std::string(word));
  if (words[1] == "sql") words.emplace_back("select * from samples, threads limit 5");
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out,
          .err = err,
          .out_fd = -1,
          .sys = Sys::host(),
          .losses = losses,
          .variables = {{"PERF_CONFIG_NOSYSTEM", "1"}, {"SONDE_CACHE", "off"}}};
  int status = run_command_line(env, all_commands(), words);
  CHECK(status == 0 || !err.text().empty());
  std::error_code error;
  for (const auto& made : std::filesystem::directory_iterator(folder.path(), error))
    std::filesystem::remove_all(made.path(), error);
  return 0;
}
