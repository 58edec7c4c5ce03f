// `archive`: the objects of a recording, packed for transfer to another machine.
#include "cli/command.h"
#include "objects/archived_objects.h"
#include "store/archive_unpack.h"
#include "store/build_id_cache.h"

namespace sonde {
namespace {

class Archive final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [file]");
    flags.usage("--unpack [archive]");
    flags.description(
        "Packs the objects that a recording's samples hit, so that the recording can be reported "
        "on another machine: by default into FILE.tar.bz2, which you unpack there into ~/.debug "
        "with tar or --unpack.\n\n"
        "--bundle makes one file of the recording, its objects with their debug files, the "
        "kernel's "
        "symbols, and the maps of generated code. Every command opens it as it is:\n\n"
        "  sonde report -i perf.data.bundle\n\n"
        "Nothing has to be unpacked first. `tar --zstd -xf` extracts its contents.");
    flags.text('i', "input", options_.input, "file", "recording to pack (perf.data)");
    flags.text(
        'o', "output", output_, "file",
        "archive to write (default: the recording's name and .tar.bz2, with --bundle .bundle)");
    flags.boolean('f', "force", options_.force, "read the recording even if another user owns it");
    flags.boolean('a', "all", options_.all, "also pack objects that no sample hit");
    flags.text(0, "exclude-buildids", options_.excluded_ids, "file",
               "leave out the objects whose build ids are in this file, one per line");
    flags.boolean('b', "bundle", bundle_,
                  "make one file that includes the recording and opens on any machine");
    flags.boolean('u', "unpack", unpack_, "unpack an archive into the build-id cache");
    flags.section("EXAMPLES",
                  "  sonde archive                          perf.data.tar.bz2\n"
                  "  sonde archive --bundle -o slow.bundle  for a colleague\n"
                  "  sonde archive --unpack perf.data.tar.bz2");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 1) return fail(ErrorCode::kUsage, "");
    if (unpack_) return unpack(arguments, env);
    if (!arguments.empty()) options_.input = arguments[0];
    return bundle_ ? make_bundle(env) : make_tarball(env);
  }

 private:
  Result<int> make_tarball(Env& env) const {
    ArchivedObjects found = TRY(find_objects_of(options_, env));
    if (found.objects.empty())
      return fail(ErrorCode::kNotFound,
                  "{}: nothing to pack: samples hit no object with a build id that is not excluded "
                  "(-a also packs objects without samples)",
                  options_.input);
    std::string path = output_.empty() ? options_.input + ".tar.bz2" : output_;
    ArchiveWriter archive = TRY(ArchiveWriter::create(path, Compression::kBzip2));
    count_missing(TRY(put_objects(found, false, archive)), env.losses);
    TRY(archive.finish());
    env.out.print(
        "{0} is packed. On the machine that reports, unpack it by one of\n\n"
        "  tar xf {0} -C ~/.debug\n"
        "  {1} archive --unpack {0}\n",
        path, env.tool);
    return 0;
  }

  Result<int> make_bundle(Env& env) const {
    std::string path = output_.empty() ? options_.input + ".bundle" : output_;
    BundleSummary made = TRY(write_bundle(options_, path, env));
    env.out.print("{}: the recording and {} objects, {:.3f} MB\n", path, made.objects,
                  static_cast<double>(made.bytes) / (1 << 20));
    return 0;
  }

  Result<int> unpack(const Arguments& arguments, Env& env) const {
    std::string directory = build_id_directory(env);
    if (directory.empty())
      return fail(ErrorCode::kNotFound,
                  "there is no build-id cache to unpack into: HOME is not set; name a directory "
                  "with --buildid-dir");
    std::string archive = arguments.empty() ? options_.input + ".tar.bz2" : arguments[0];
    UnpackSummary done = TRY(unpack_archive(archive, directory));
    env.out.print("{} objects of {} are in {}\n", done.objects, archive, directory);
    if (done.refused > 0)
      env.err.print("{}: {} members of {} were skipped: their names point outside the cache\n",
                    env.tool, done.refused, archive);
    return 0;
  }

  ArchiveOptions options_;
  std::string output_;
  bool bundle_ = false;
  bool unpack_ = false;
};

}  // namespace

std::unique_ptr<Command> make_archive() {
  return std::make_unique<Archive>();
}

}  // namespace sonde
