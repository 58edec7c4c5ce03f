#include "script/function_graph.h"

#include <algorithm>

#include "script/call_names.h"

namespace sonde {

void FunctionGraph::narrow(const Session& session, std::vector<ScriptItem>& items) {
  if (functions_.empty()) return;
  std::erase_if(items, [&](const ScriptItem& item) {
    return !item.is_record && !shows(session, item.index);
  });
}

/// The rules are perf's. Whatever is not deeper than the function ends it, and is not shown, even
/// if it is the function's next call.
bool FunctionGraph::shows(const Session& session, uint32_t index) {
  Thread& thread = threads_.try_emplace(session.samples().tid[index]).first.value();
  auto details = trace_details_of(session.record(index));
  if (details) thread.depth = details->depth;
  if (thread.is_inside) {
    thread.is_inside = thread.depth > thread.entry_depth;
    return thread.is_inside;
  }
  Sample sample;
  if (!details || !session.decode(index, sample)) return false;
  std::string_view name = call_name(session, index, sample, *details).name;
  if (std::ranges::find(functions_, name) == functions_.end()) return false;
  thread.is_inside = true;
  thread.entry_depth = thread.depth;
  return true;
}

}  // namespace sonde
