#include "export/recordings/autofdo.h"

#include "base/text.h"

namespace sonde {
namespace {

void write_pairs(Sink& out, const std::vector<BranchProfile::Pair>& pairs, std::string_view link) {
  out.print("{}\n", pairs.size());
  for (const BranchProfile::Pair& pair : pairs)
    out.print("{:x}{}{:x}:{}\n", pair.from, link, pair.to, pair.count);
}

}  // namespace

void write_autofdo(Sink& out, const BranchProfile::Object& object, std::string_view build_id,
                   std::string_view path) {
  write_pairs(out, object.ranges, "-");
  out.write("0\n");
  write_pairs(out, object.branches, "->");
  if (!build_id.empty()) out.print("// build_id: 0x{}\n", to_hex(build_id));
  out.print("// {}\n\n", path);
}

}  // namespace sonde
