// Several sources merged by time: system calls from BPF programs, everything else from rings.
//
// The items of each source keep their order; if times are equal, the earlier source goes first. An
// item is held back as long as any source might still deliver an older one. Event indices are those
// of the last source: the others have no events.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "trace/sources/trace_source.h"

namespace sonde {

class MergedSource final : public TraceSource {
 public:
  explicit MergedSource(std::vector<TraceSource*> sources) : sources_(std::move(sources)) {}

  [[nodiscard]] const std::vector<TracedEvent>& events() const override {
    return sources_.back()->events();
  }
  [[nodiscard]] std::vector<int> wait_fds() const override {
    std::vector<int> fds;
    for (const TraceSource* source : sources_)
      for (int fd : source->wait_fds()) fds.push_back(fd);
    return fds;
  }
  Result<> start() override {
    for (TraceSource* source : sources_) TRY(source->start());
    return {};
  }
  void stop() override {
    for (TraceSource* source : sources_) source->stop();
  }
  Result<> refill(bool all) override {
    for (TraceSource* source : sources_) TRY(source->refill(all));
    return {};
  }
  [[nodiscard]] const TraceItem* front() override {
    from_ = nullptr;
    const TraceItem* oldest = nullptr;
    for (TraceSource* source : sources_) {
      const TraceItem* item = source->front();
      if (item == nullptr || (oldest != nullptr && oldest->time_ns <= item->time_ns)) continue;
      oldest = item;
      from_ = source;
    }
    return oldest != nullptr && oldest->time_ns <= safe_until_ns() ? oldest : nullptr;
  }
  void pop() override { from_->pop(); }
  [[nodiscard]] uint64_t safe_until_ns() const override {
    uint64_t time = UINT64_MAX;
    for (const TraceSource* source : sources_) time = std::min(time, source->safe_until_ns());
    return time;
  }
  [[nodiscard]] bool at_end() const override {
    return std::ranges::all_of(sources_,
                               [](const TraceSource* source) { return source->at_end(); });
  }
  [[nodiscard]] Result<std::vector<CallTotals>> totals() override {
    return sources_.front()->totals();
  }

 private:
  std::vector<TraceSource*> sources_;
  TraceSource* from_ = nullptr;  // of the item at the front
};

}  // namespace sonde
