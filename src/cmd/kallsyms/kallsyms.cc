// `kallsyms NAME`: where the running kernel has a symbol.
#include "symbol/kallsyms.h"
#include "cli/command.h"

namespace sonde {
namespace {

class KallsymsCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] symbol_name");
    flags.description("Looks up symbols of the running kernel and its modules by name.");
    flags
        .act('v', "verbose", "no effect: all that is known of a symbol is shown anyway",
             [] { return Result<>(); })
        .on_negation([] {})
        .without_effect("all that is known of a symbol is shown anyway");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.empty()) return fail(ErrorCode::kUsage, "");
    Kallsyms kernel = TRY(Kallsyms::read("/proc/kallsyms"));
    if (kernel.restricted())
      return fail(ErrorCode::kPermission,
                  "/proc/kallsyms hides kernel addresses from this user\n"
                  "(/proc/sys/kernel/kptr_restrict); run as root to see them");
    for (const std::string& name : arguments.words) print(env.out, kernel, name);
    return 0;
  }

 private:
  static void print(Sink& out, const Kallsyms& kernel, const std::string& name) {
    std::vector<const Symbol*> found = kernel.table().find_by_name(name);
    if (found.empty()) {
      out.print("{}: not found\n", name);
      return;
    }
    const Symbol& symbol = *found.front();
    std::string_view module = kernel.module_of(symbol);
    bool in_kernel = symbol.module == 0;
    out.print("{}: {} {} {:#x}-{:#x} ({:#x}-{:#x})\n", name, in_kernel ? "[kernel]" : module,
              module, symbol.start, symbol.end, symbol.start, symbol.end);
  }
};

}  // namespace

std::unique_ptr<Command> make_kallsyms() {
  return std::make_unique<KallsymsCommand>();
}

}  // namespace sonde
