#include "profile/compared_session.h"

#include <tsl/robin_map.h>

#include "machine/executables.h"

namespace sonde {
namespace {

using SamplesOfName = tsl::robin_map<uint32_t, double>;  // by StringId

SamplesOfName samples_by_name(const Session& session) {
  const SampleColumns& samples = session.samples();
  SamplesOfName found;
  if (samples.comm.size() < samples.size()) return found;  // they are counted by place
  StringId last;
  double* count = nullptr;
  for (size_t i = 0; i < samples.size(); ++i) {
    StringId name = samples.comm[i];
    if (count == nullptr || name != last) count = &found[name.value];
    last = name;
    *count += static_cast<double>(samples.count_of(i));
  }
  return found;
}

std::vector<double> by_executable(const Session& session, const SamplesOfName& by_name) {
  std::vector<double> samples(session.machine().dsos().size());
  for (const NamedExecutable& each : executables_of(session.machine()))
    if (auto found = by_name.find(each.comm.value); found != by_name.end())
      samples[each.object.index()] += found->second;
  return samples;
}

}  // namespace

std::vector<double> samples_by_executable(const Session& session) {
  return by_executable(session, samples_by_name(session));
}

ComparedSide compared_side(const Session& session, bool long_names) {
  SamplesOfName by_name = samples_by_name(session);
  std::vector<double> by_object = by_executable(session, by_name);
  ComparedSide side;
  for (const auto& [name, samples] : by_name) {
    StringId comm;
    comm.value = name;
    side.tasks.push_back({std::string(session.strings().view(comm)), samples});
  }
  const DsoTable& dsos = session.machine().dsos();
  std::vector<bool> occurs(dsos.size());
  for (const Frame& frame : session.frames())
    if (frame.dso.valid()) occurs[frame.dso.index()] = true;
  for (size_t i = 0; i < dsos.size(); ++i) {
    if (!occurs[i] && by_object[i] <= 0) continue;
    const Dso& object = dsos[DsoId(i)];
    side.objects.push_back(
        {long_names ? object.path : object.short_name, object.build_id, by_object[i]});
  }
  return side;
}

}  // namespace sonde
