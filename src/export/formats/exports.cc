#include "export/formats/exports.h"

#include <algorithm>

namespace sonde {

std::span<const ExportFormat> export_formats() {
  static constexpr ExportFormat kFormats[] = {
#define EXPORT(name, shape, summary) {#name, summary, ExportShape::shape, false, export_##name},
#define EXPERIMENTAL(name, shape, summary) \
  {#name, summary, ExportShape::shape, true, export_##name},
#include "export/formats/exports.def"
#undef EXPORT
#undef EXPERIMENTAL
  };
  return kFormats;
}

const ExportFormat* find_export_format(std::string_view name) {
  auto formats = export_formats();
  auto found = std::ranges::find(formats, name, &ExportFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace sonde
