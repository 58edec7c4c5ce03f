// c2c: which cache lines CPUs take from each other, and which code does it.
#include "cmd/c2c/c2c.h"

#include "cli/command_family.h"

namespace sonde {
namespace {

class C2c final : public CommandFamily {
 public:
  C2c() : CommandFamily("c2c") {}

  void declare(FlagTable& flags) override {
    flags.usage("{record|report}");
    declare_members(flags);
    flags.description(
        R"(Finds cache lines that several CPUs write and read in turn, so that each access has to fetch the line from another CPU's cache: `c2c record` samples memory accesses, `c2c report` shows the lines, and for each of them the offsets that are accessed, by which code and from which nodes.)");
    flags.section("EXAMPLES", R"(  sonde c2c record -- ./program
  sonde c2c record -- -a -g -- sleep 10
  sonde c2c report
  sonde c2c report --stats
  sonde c2c report -c pid,iaddr -d rmt)");
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {{"record", [] { return make_c2c_record(); }},
            {"report", [] { return make_c2c_report(); }}};
  }
};

}  // namespace

std::unique_ptr<Command> make_c2c() {
  return std::make_unique<C2c>();
}

}  // namespace sonde
