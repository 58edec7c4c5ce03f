// `buildid-cache`: lists the build-id cache, and adds and removes objects.
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "objects/cache_changes.h"
#include "store/build_id_cache.h"
#include "symbol/debuginfod.h"

namespace sonde {
namespace {

class BuildIdCacheCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        "Shows and changes the build-id cache: copies of programs, libraries and kernel symbol "
        "lists, with which a recording can be reported even if the originals have changed, are "
        "gone, or were in a container. The cache is ~/.debug, or the directory that "
        "--buildid-dir or buildid.dir in the perfconfig names; perf and sonde share it.\n\n"
        "Separate the files of a list with commas. Actions in one command line run in this "
        "order: add, remove, purge, purge all, missing, update, kcore.");
    flags.call(
        'a', "add", "file list",
        "files to copy into the cache; of a recording (perf.data), the objects that it names",
        list_into(add_));
    flags.boolean('f', "force", force_, "read recordings even if another user owns them");
    flags.text(
        'k', "kcore", kcore_, "file",
        "copy the kernel's code from this file (/proc/kcore), with kallsyms and modules beside it");
    flags.boolean('l', "list", list_, "list what is in the cache: build ids and paths");
    flags.text('M', "missing", missing_, "file",
               "list what this recording names and the cache lacks");
    flags.call('p', "purge", "file list",
               "files of which every version is removed, also of files that are gone",
               list_into(purge_));
    flags.boolean('P', "purge-all", purge_all_, "remove everything from the cache");
    flags.call('r', "remove", "file list",
               "files whose build ids are removed, under whatever path they are kept",
               list_into(remove_));
    flags.call('u', "update", "file list", "files that replace what is kept under their build ids",
               list_into(update_));
    flags.count('v', "verbose", verbose_, "say what becomes of each file");
    flags.number(0, "target-ns", target_pid_, "n",
                 "look up paths as the process with this pid sees them");
    flags
        .call(0, "debuginfod", "debuginfod urls",
              "ask debuginfod servers (DEBUGINFOD_URLS or these) for what a recording that is "
              "added names and that is not here",
              [this](std::string_view urls) -> Result<> {
                TRY(start_debuginfod(std::string(urls)));
                debuginfod_ = urls;
                return {};
              })
        .when_bare("");
    flags.section("EXAMPLES",
                  "  sonde buildid-cache --add /usr/bin/node\n"
                  "  sonde buildid-cache --target-ns 4711 --add /app/server\n"
                  "  sonde buildid-cache --missing perf.data");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    bool changes = !add_.empty() || !remove_.empty() || !purge_.empty() || purge_all_ ||
                   !missing_.empty() || !update_.empty() || !kcore_.empty();
    if (!arguments.empty() || (!list_ && !changes)) return fail(ErrorCode::kUsage, "");
    if (list_ && changes)
      return fail(ErrorCode::kUsage, "  Error: -l only lists: leave it out to change the cache.\n");
    BuildIdCache cache(build_id_directory(env));
    if (cache.directory().empty())
      return fail(ErrorCode::kNotFound,
                  "there is no build-id cache: HOME is not set; name a directory with "
                  "--buildid-dir");
    if (list_) return list(cache, env);
    CacheChanges work(cache, env,
                      {.target_pid = target_pid_,
                       .force = force_,
                       .verbose = verbose_,
                       .debuginfod = debuginfod_});
    for (const std::string& file : add_) work.add(file);
    for (const std::string& file : remove_) work.remove(file);
    for (const std::string& file : purge_) work.purge(file);
    if (purge_all_) work.purge_all();
    if (!missing_.empty()) TRY(work.print_missing(missing_));
    for (const std::string& file : update_) work.update(file);
    if (!kcore_.empty()) work.add_kcore(kcore_);
    return work.all_done() ? 0 : exit_status(ErrorCode::kFailed);
  }

 private:
  static FlagTable::OnValue list_into(std::vector<std::string>& files) {
    return [&files](std::string_view value) -> Result<> {
      for (std::string_view file : split(value, ','))
        if (!file.empty()) files.emplace_back(file);
      return {};
    };
  }

  static int list(const BuildIdCache& cache, Env& env) {
    for (const BuildIdCache::Entry& entry : cache.entries())
      if (cache.holds(entry.build_id)) env.out.print("{} {}\n", to_hex(entry.build_id), entry.path);
    return 0;
  }

  std::vector<std::string> add_, remove_, purge_, update_;
  std::string missing_, kcore_;
  std::optional<std::string> debuginfod_;
  bool list_ = false;
  bool purge_all_ = false;
  bool force_ = false;
  int verbose_ = 0;
  int target_pid_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_buildid_cache() {
  return std::make_unique<BuildIdCacheCommand>();
}

}  // namespace sonde
