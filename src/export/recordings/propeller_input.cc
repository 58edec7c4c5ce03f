#include "export/recordings/propeller_input.h"

#include <optional>

#include "dwarf/names/unit_files.h"

namespace sonde {
namespace {

/// The files that functions were compiled from; the debug information is read when first asked for.
class FunctionModules {
 public:
  FunctionModules(const Session& session, DsoId dso) : session_(session), dso_(dso) {}

  std::string at(ElfAddr address) {
    if (!was_read_) read();
    return units_ ? std::string(units_->at(address)) : "";
  }

 private:
  void read() {
    was_read_ = true;
    auto info = session_.symbolizer().debug_info(dso_);
    if (!info) return;
    auto units = UnitFiles::read(std::move(info->file), info->places);
    if (units) units_ = std::move(*units);
  }

  const Session& session_;
  DsoId dso_;
  bool was_read_ = false;
  std::optional<UnitFiles> units_;
};

/// The map is of the object as it ran; a debug file may have kept it where the object was stripped.
Result<BasicBlockMap> block_map_of(const FoundObject& files) {
  const ElfFile& runtime = files.runtime ? *files.runtime : *files.symbols;
  auto map = BasicBlockMap::read(runtime);
  if (map || !files.symbols || map.error().code != ErrorCode::kNotFound) return map;
  auto other = BasicBlockMap::read(*files.symbols);
  return other || other.error().code != ErrorCode::kNotFound ? other : map;
}

std::vector<std::string> problems(const ProgramFlow& flow, const PropellerLayout& layout,
                                  uint64_t taken) {
  std::vector<std::string> lines;
  if (flow.unmapped > 0)
    lines.push_back(fmt::format(
        "{} of {} branches are in code without a map of its basic blocks, which keeps its place",
        flow.unmapped, taken));
  if (flow.strayed > 0)
    lines.push_back(fmt::format(
        "{} stretches between branches run from one function into the next: the branch stacks have "
        "gaps, or the object is another build",
        flow.strayed));
  if (layout.unnamed > 0)
    lines.push_back(fmt::format("{} functions were left out: they have no symbol", layout.unnamed));
  if (layout.cloned > 0)
    lines.push_back(
        fmt::format("{} functions were left out: their basic blocks have no numbers of their own",
                    layout.cloned));
  if (layout.ambiguous > 0)
    lines.push_back(fmt::format(
        "{} local functions were left out: others have the same names ({}), and debug information "
        "does not tell from which files they are: build with -g1, each file under another path",
        layout.ambiguous, layout.first_ambiguous));
  return lines;
}

}  // namespace

Result<PropellerResult> lay_out_for_propeller(const Session& session,
                                              const BranchProfile::Object& object) {
  const Dso& dso = session.machine().dsos()[object.dso];
  FoundObject files = session.symbolizer().object_files(object.dso);
  if (!files.usable())
    return fail(ErrorCode::kNotFound,
                "--to-propeller: {} is not here, which has the map of its basic blocks; --symfs "
                "names where it lies",
                dso.path);
  BasicBlockMap map = TRY(block_map_of(files));
  if (!files.symbols)
    return fail(ErrorCode::kNotFound,
                "--to-propeller: {} has no symbols to name its functions by: it was stripped",
                files.symbols_path);
  ProgramFlow flow = flow_of(object, files.segments(), map);
  FunctionModules modules(session, object.dso);
  PropellerResult result;
  result.layout = propeller_layout(flow, map, *files.symbols,
                                   [&](ElfAddr address) { return modules.at(address); });
  result.left_out = problems(flow, result.layout, object.taken);
  if (result.layout.functions.empty())
    return fail(ErrorCode::kNotFound,
                "--to-propeller: no function of {} that has a map of its basic blocks was seen to "
                "run",
                dso.path);
  return result;
}

}  // namespace sonde
