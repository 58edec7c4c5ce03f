#include "script/call_names.h"

#include <algorithm>

#include "script/field_texts.h"
#include "script/sample_target.h"

namespace sonde {

CallName call_name(const Session& session, uint32_t index, const Sample& sample,
                   const TraceDetails& details) {
  Frame frame;
  uint64_t address = 0;
  if ((details.flags & (kTraceCall | kTraceBegin)) != 0) {
    uint64_t time = sample.id.has_time() ? sample.id.time : UINT64_MAX - 1;
    frame = target_frame(session, sample.id.pid, time, sample.addr, sample.cpu_mode);
    address = sample.addr;
  } else if ((details.flags & (kTraceReturn | kTraceEnd)) != 0) {
    frame = session.frame(session.samples().leaf[index]);
    address = sample.ip;
  }
  if (frame.symbol.valid()) return {session.symbolizer().name(frame.symbol), 0};
  return {{}, address};
}

void CallIndent::print(const CallName& call, const TraceDetails& details, std::string& out) {
  constexpr size_t kStep = 32, kSlack = 52, kBetween = 4, kPerCall = 4;
  size_t begin = out.size();
  // A return has left the function that it is printed for.
  size_t depth = details.depth + ((details.flags & kTraceReturn) != 0 ? 1 : 0);
  if (!call.name.empty() || call.address != 0) out.append(depth * kPerCall, ' ');
  if (!call.name.empty())
    out += call.name;
  else if (call.address != 0)
    script::append_hex16(out, call.address);
  size_t size = out.size() - begin;
  if (size > width_ || (size > 0 && size + kSlack < width_))
    width_ = (size + kBetween + kStep - 1) / kStep * kStep;
  out.append(width_ - std::min(width_, size), ' ');
}

}  // namespace sonde
