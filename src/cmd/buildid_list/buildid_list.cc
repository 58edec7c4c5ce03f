// `buildid-list`: the build ids of a recording's objects, of one ELF file, or of the running
// kernel.
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/recording_input.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "symbol/kallsyms.h"

namespace sonde {
namespace {

class BuildIdList final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        "Lists the build ids in a recording. The input may also be an ELF file; its own build id "
        "is then shown.");
    flags.boolean('f', "force", options_.input.force,
                  "read the recording even if another user owns it");
    flags.boolean('H', "with-hits", options_.with_hits, "only objects that samples hit");
    flags.text('i', "input", options_.input.path, "file",
               "recording or ELF file to read (default: standard input if that is a pipe, else "
               "perf.data)");
    flags.boolean('k', "kernel", options_.kernel, "show the running kernel's build id instead");
    flags.boolean('m', "kernel-maps", options_.kernel_maps,
                  "show build ids and addresses of the running kernel and its modules instead");
    flags
        .act('v', "verbose", "no effect: nothing more is known of an object",
             [] { return Result<>(); })
        .on_negation([] {})
        .without_effect("nothing more is known of an object");
    declare_guest_sides(flags, options_.host, options_.guests);
  }

  Result<int> run(Env& env, const Arguments&) override {
    if (options_.kernel) return print_kernel(env);
    if (options_.kernel_maps) return print_kernel_maps(env);
    options_.input.path = options_.input.chosen_path(env);
    if (Result<ElfFile> elf = ElfFile::open(options_.input.path); elf && !elf->build_id().empty()) {
      env.out.print("{}\n", to_hex(elf->build_id()));
      return 0;
    }
    if (options_.input.path != "-") {  // which can be read only once
      Recording recording = TRY(options_.input.open_recording(env));
      if (!needs_samples(recording.features())) return print_listed(recording.features(), env);
    }
    SessionOptions options;
    options.want_symbols = false;
    options.chains.reset();
    Session session = TRY(options_.input.open_session(std::move(options), env));
    const Features& features = session.recording().features();
    return needs_samples(features) ? print_hits(session, env) : print_listed(features, env);
  }

 private:
  [[nodiscard]] bool shows(bool is_guests) const {
    return is_guests ? options_.guests : options_.host;
  }
  [[nodiscard]] bool needs_samples(const Features& features) const {
    return options_.with_hits || features.build_ids.empty();
  }

  /// What the recording lists. After `inject -b` they are in the section and in records.
  Result<int> print_listed(const Features& features, Env& env) const {
    std::set<std::pair<std::string_view, std::string_view>> printed;
    for (const BuildIdEntry& entry : features.build_ids)
      if (shows(is_guest_mode(entry.misc & abi::kMiscCpuModeMask)) &&
          printed.emplace(entry.build_id, entry.path).second)
        env.out.print("{} {}\n", to_hex(entry.build_id), entry.path);
    return 0;
  }

  static Result<std::string> kernel_build_id() {
    std::string notes = TRY(read_file("/sys/kernel/notes"));
    return to_hex(build_id_in_notes(as_bytes(notes)));
  }

  static Result<int> print_kernel(Env& env) {
    env.out.print("{}\n", TRY(kernel_build_id()));
    return 0;
  }

  /// The kernel's text, then every loaded module.
  static Result<int> print_kernel_maps(Env& env) {
    Kallsyms kernel = TRY(Kallsyms::read("/proc/kallsyms"));
    uint64_t start = kernel.address_of("_stext").value_or(kernel.address_of("_text").value_or(0));
    uint64_t end = kernel.address_of("_etext").value_or(0);
    env.out.print("{} {:16x} {:16x} [kernel.kallsyms]\n", TRY(kernel_build_id()), start, end);
    Result<std::string> modules = read_file("/proc/modules");
    if (!modules) return 0;
    for (std::string_view line : split(*modules, '\n')) print_module(env, line);
    return 0;
  }

  // "name size refcount users state 0xaddress"
  static void print_module(Env& env, std::string_view line) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 6) return;
    auto size = parse_number(words[1]);
    auto address = parse_number(words[5]);
    std::string notes_path = fmt::format("/sys/module/{}/notes/.note.gnu.build-id", words[0]);
    Result<std::string> notes = read_file(notes_path);
    if (!size || !address || !notes) return;
    env.out.print("{} {:16x} {:16x} [{}]\n", to_hex(build_id_in_notes(as_bytes(*notes))), *address,
                  *address + *size, words[0]);
  }

  Result<int> print_hits(const Session& session, Env& env) const {
    std::set<uint32_t> hit;
    for (FrameId leaf : session.samples().leaf) hit.insert(session.frame(leaf).dso.value);
    const DsoTable& dsos = session.machine().dsos();
    std::set<uint32_t> printed;
    // Objects without a build id are listed too: they were hit.
    auto print = [&](DsoId dso) {
      if (!dso.valid() || !printed.insert(dso.value).second) return;
      if (hit.contains(dso.value) && shows(dsos[dso].is_guest))
        env.out.print("{:40} {}\n", to_hex(dsos[dso].build_id), dsos[dso].path);
    };
    for (const BuildIdEntry& entry : session.recording().features().build_ids)
      print(dsos.find(entry.path));
    for (size_t i = 0; i < dsos.size(); ++i) print(DsoId(i));
    return 0;
  }

  struct {
    RecordingInput input;
    bool with_hits = false;
    bool kernel = false;
    bool kernel_maps = false;
    bool host = true, guests = true;  // whose objects
  } options_;
};

}  // namespace

std::unique_ptr<Command> make_buildid_list() {
  return std::make_unique<BuildIdList>();
}

}  // namespace sonde
