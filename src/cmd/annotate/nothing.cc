#include "cmd/annotate/nothing.h"

#include <set>

#include "base/text.h"
#include "replay/fields/chosen_names.h"
#include "report/no_samples.h"

namespace sonde::annotation {
namespace {

/// Where the samples of a recording fell, as far as that explains why no function is shown.
struct Fallen {
  uint64_t samples = 0;     // of the recording
  uint64_t wanted = 0;      // in the requested objects
  uint64_t nameless = 0;    // of those, without a symbol
  std::set<DsoId> objects;  // where that happened
};

Fallen look(const Session& session, const Options& options) {
  Fallen found;
  const SampleColumns& samples = session.samples();
  found.samples = samples.size();
  for (size_t i = 0; i < samples.size(); ++i) {
    const Frame& frame = session.frame(samples.leaf[i]);
    if (!frame.dso.valid() || !wants_object(options, session.machine().dsos()[frame.dso])) continue;
    found.wanted += samples.count_of(i);
    if (frame.symbol.valid()) continue;
    found.nameless += samples.count_of(i);
    found.objects.insert(frame.dso);
  }
  return found;
}

/// "/usr/bin/ls has no symbols", "/tmp/gone is not here".
std::string what_is_wrong(const Session& session, const std::set<DsoId>& objects) {
  constexpr size_t kMax = 3;
  std::vector<std::string> said;
  for (DsoId dso : objects) {
    if (said.size() == kMax) {
      said.push_back(fmt::format("{} more", objects.size() - kMax));
      break;
    }
    bool is_here = !session.symbolizer().object_path(dso).empty();
    said.push_back(fmt::format("{} {}", session.machine().dsos()[dso].path,
                               is_here ? "has no symbols" : "is not here"));
  }
  return join(said, ", ");
}

}  // namespace

bool wants_object(const Options& options, const Dso& dso) {
  return options.dsos.empty() || is_listed(options.dsos, dso);
}

int report_nothing(const Session& session, const Options& options, Env& env) {
  Fallen found = look(session, options);
  std::string where = options.dsos.empty() ? "" : " of " + join(options.dsos, ", ");
  if (found.samples == 0) return report::say_no_samples(env, options.input, 0);
  if (found.wanted == 0)
    env.err.print("Error:\nNo sample of {} fell on {}: report -s dso lists what has samples\n",
                  options.input, options.dsos.empty() ? "an object" : join(options.dsos, ", "));
  else if (options.symbol)
    env.err.print("Error:\nNo sample of {} fell on {}{}\n", options.input, *options.symbol, where);
  else
    env.err.print("Error:\nThe {} sample{} of {}{} fell on no function: {}\n", found.wanted,
                  found.wanted == 1 ? "" : "s", options.input,
                  where.empty() ? "" : " on" + where.substr(3),
                  what_is_wrong(session, found.objects));
  return 1;
}

}  // namespace sonde::annotation
