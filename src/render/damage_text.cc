#include "render/damage_text.h"

namespace sonde::render {

void write_damage(Sink& out, const LossLedger& losses, std::string_view file) {
  std::vector<std::string> lines = losses.damage();
  if (lines.empty()) return;
  if (!file.empty()) out.print("# {}:\n", file);
  for (const std::string& line : lines) out.print("# {}\n", line);
  out.write("#\n");
}

}  // namespace sonde::render
