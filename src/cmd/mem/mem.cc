// mem: which memory accesses programs wait for, and how each was served.
#include "cmd/mem/mem.h"

#include "cli/command_family.h"

namespace sonde {

void MemOptions::declare_shared(FlagTable& flags) {
  flags
      .call('t', "type", "type", "kinds of accesses: load, store, or both (the default)",
            [this](std::string_view words) -> Result<> {
              operations = TRY(parse_memory_operations(words));
              return {};
            })
      .offers({"load", "store", "load,store"});
  flags.boolean('p', "phys-data", physical_addresses, "also the physical addresses of the data");
  flags.boolean(0, "data-page-size", page_sizes, "also the sizes of the pages that the data is in");
}

void MemOptions::declare_dump(FlagTable& flags) {
  flags.boolean('D', "dump-raw-samples", dumps, "a line per sample, instead of a table");
  flags.text('x', "field-separator", separator, "separator",
             "character between columns, which are not padded then; in names it becomes `.'");
}

namespace {

class Mem final : public CommandFamily {
 public:
  Mem() : CommandFamily("mem") {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|report}");
    declare_members(flags);
    flags.description(
        R"(Records memory accesses with their addresses, how each was served and how long it took (`mem record`), and shows which code made them and which data they touched (`mem report`).

The options may also follow the subcommand.)");
    flags.section("EXAMPLES", R"(  sonde mem record -- ./program
  sonde mem report
  sonde mem report --sort mem,symbol_daddr
  sonde mem report -D
  sonde mem record -e page-faults -c 1 -- ./program)");
    options_.declare_shared(flags);
    options_.declare_dump(flags);
    flags.boolean('U', "hide-unresolved", options_.hide_unresolved,
                  "leave out samples of code without a symbol");
    flags.boolean('f', "force", options_.force, "read the recording even if another user owns it");
    flags.text('i', "input", options_.input, "file",
               "recording to read (default: standard input if that is a pipe, else perf.data)");
    flags.text('C', "cpu", options_.cpus, "cpu", "of `record`: only what happens on these CPUs");
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"record", [this] { return make_mem_record(options_); }},
            {"report", [this] { return make_mem_report(options_); }}};
  }

  MemOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_mem() {
  return std::make_unique<Mem>();
}

}  // namespace sonde
