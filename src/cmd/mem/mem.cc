// mem: which memory accesses programs wait for, and how each was served.
#include "cmd/mem/mem.h"

#include "cli/command_family.h"

namespace sonde {

void MemOptions::declare_shared(FlagTable& flags) {
  flags
      .call('t', "type", "type", "memory operations(load,store) Default load,store",
            [this](std::string_view words) -> Result<> {
              operations = TRY(parse_memory_operations(words));
              return {};
            })
      .offers({"load", "store", "load,store"});
  flags.boolean('p', "phys-data", physical_addresses, "Record/Report sample physical addresses");
  flags.boolean(0, "data-page-size", page_sizes, "Record/Report sample data address page size");
}

void MemOptions::declare_dump(FlagTable& flags) {
  flags.boolean('D', "dump-raw-samples", dumps, "dump raw samples in ASCII");
  flags.text('x', "field-separator", separator, "separator",
             "separator for columns, no spaces will be added between columns '.' is reserved.");
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
                  "Only display entries resolved to a symbol");
    flags.boolean('f', "force", options_.force, "don't complain, do it");
    flags.text('i', "input", options_.input, "file", "input file name");
    flags.text('C', "cpu", options_.cpus, "cpu", "list of cpus to profile");
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
