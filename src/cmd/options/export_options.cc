#include "cmd/options/export_options.h"

#include <vector>

#include "base/text.h"

namespace sonde {

std::vector<std::string> export_format_list(bool with_experimental) {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats())
    if (with_experimental || !format.is_experimental) names.emplace_back(format.name);
  return names;
}

std::string export_format_names(bool with_experimental) {
  return join(export_format_list(with_experimental), ", ");
}

void set_shape(SessionStacksOptions& stacks, ExportShape shape) {
  stacks.want_objects = shape != ExportShape::kOneEvent;
  stacks.want_samples = shape == ExportShape::kThreads;
  stacks.task_root = shape != ExportShape::kThreads;
}

}  // namespace sonde
