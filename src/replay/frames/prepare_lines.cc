#include "replay/frames/prepare_lines.h"

#include <map>

#include "base/parallel.h"

namespace sonde {

void prepare_lines(const Session& session) {
  std::map<DsoId, std::vector<uint64_t>> by_object;
  for (const Frame& frame : session.frames())
    if (frame.dso.valid()) by_object[frame.dso].push_back(frame.address);
  std::vector<std::pair<const DsoId, std::vector<uint64_t>>*> objects;
  for (auto& object : by_object) objects.push_back(&object);
  parallel_for(objects.size(), [&](size_t i) {
    session.symbolizer().prepare_lines(objects[i]->first, objects[i]->second, LineParts::kLines);
  });
}

}  // namespace sonde
