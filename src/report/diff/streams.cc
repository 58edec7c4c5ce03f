#include "report/diff/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/shown_tree.h"

namespace sonde::diff {
namespace {

using report::EventReport;

// As in perf.
constexpr size_t kMostStreams = 5;     // per event
constexpr double kLeastPercent = 0.5;  // of the event's period

/// The part of a path that it does not share with longer ones: a run of steps of a call tree.
struct Stream {
  std::vector<std::string> steps;  // "two p.c:4"
  uint64_t hits = 0;               // period of the paths that end here
  uint64_t cycles = 0;             // of its branches, each on average
};

/// The hottest streams of an event. Rows are looked through in their order, paths of a row from the
/// hottest on; a hotter stream takes the place of the coldest one.
class HotStreams {
 public:
  explicit HotStreams(const EventReport& event)
      : data_(*event.data),
        profile_(data_.rows->profile(0)),
        builder_(profile_, &data_.input),
        min_hits_(static_cast<uint64_t>(static_cast<double>(profile_.totals().period) *
                                        kLeastPercent / 100)) {
    for (uint32_t row : data_.rows->order()) add_row(row);
  }

  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
  [[nodiscard]] std::string summary(const Stream& stream) const {
    double share = all_hits_ == 0
                       ? 0
                       : 100 * static_cast<double>(stream.hits) / static_cast<double>(all_hits_);
    return fmt::format("cycles: {}, hits: {:.2f}%", stream.cycles, share);
  }

 private:
  void add_row(uint32_t row) {
    uint32_t id = data_.rows->row_in(row, 0);
    if (id == TableRows::kAbsent || data_.rows->hidden(row)) return;
    CallTree tree = builder_.build(id, {.min_weight = min_hits_});
    std::vector<const CallTree::Node*> ends;
    collect(tree, tree.top(), ends);
    std::ranges::stable_sort(ends, std::greater(), &CallTree::Node::self);
    for (const CallTree::Node* node : ends) {
      all_hits_ += node->self;
      add(*node);
    }
  }

  void collect(const CallTree& tree, const std::vector<uint32_t>& nodes,
               std::vector<const CallTree::Node*>& ends) const {
    // Paths may be thousands of nodes long.
    std::vector<uint32_t> open(nodes.rbegin(), nodes.rend());
    while (!open.empty()) {
      const CallTree::Node& node = tree.node(open.back());
      open.pop_back();
      if (node.self > 0 && node.self >= min_hits_) ends.push_back(&node);
      open.insert(open.end(), node.children.rbegin(), node.children.rend());
    }
  }

  void add(const CallTree::Node& node) {
    if (streams_.size() < kMostStreams) return streams_.push_back(stream_of(node));
    auto coldest = std::ranges::min_element(streams_, {}, &Stream::hits);
    if (node.self > coldest->hits) *coldest = stream_of(node);
  }

  [[nodiscard]] Stream stream_of(const CallTree::Node& node) const {
    Stream stream{.steps = {}, .hits = node.self, .cycles = 0};
    for (uint32_t call : node.calls)
      stream.steps.push_back(report::call_text(profile_.frames().call(call), data_.input));
    for (const BranchCounts& counts : node.branches)
      if (counts.branches > 0) stream.cycles += counts.cycles / counts.branches;
    return stream;
  }

  const EventReport::Data& data_;
  const Profile& profile_;
  CallTreeBuilder builder_;
  uint64_t min_hits_;
  uint64_t all_hits_ = 0;
  std::vector<Stream> streams_;
};

/// By stream of the baseline, the index of the same one of the other recording; SIZE_MAX: none.
std::vector<size_t> match(const std::vector<Stream>& before, const std::vector<Stream>& after) {
  std::vector<size_t> pairs;
  std::vector<bool> taken(after.size());
  for (const Stream& stream : before) {
    size_t pair = SIZE_MAX;
    for (size_t i = 0; i < after.size() && pair == SIZE_MAX; ++i)
      if (!taken[i] && after[i].steps == stream.steps) pair = i;
    if (pair != SIZE_MAX) taken[pair] = true;
    pairs.push_back(pair);
  }
  return pairs;
}

void write_one(Sink& out, const HotStreams& all, const Stream& stream, size_t number,
               std::string_view before) {
  out.print("\nhot chain {}:\n", number);
  out.print("{}{:>35}\n", before, all.summary(stream));
  out.print("{}{:>35}\n", before, "--------------------------");
  for (const std::string& step : stream.steps) out.print("{}{:>35}\n", before, step);
}

void write_pair(Sink& out, const HotStreams& before, const Stream& stream, const HotStreams& after,
                const Stream& pair, size_t number) {
  out.print("\nhot chain pair {}:\n", number);
  out.print("{:>35}\t{:>35}\n", before.summary(stream), after.summary(pair));
  out.print("{:>35}\t{:>35}\n", "---------------------------", "--------------------------");
  for (size_t i = 0; i < stream.steps.size(); ++i)
    out.print("{:>35}\t{:>35}\n", stream.steps[i], pair.steps[i]);
}

}  // namespace

void write_streams(Sink& out, const EventReport& event, const EventReport* other) {
  HotStreams before(event);
  std::optional<HotStreams> after;
  if (other != nullptr) after.emplace(*other);
  const std::vector<Stream> none;
  const std::vector<Stream>& there = after ? after->streams() : none;
  std::vector<size_t> pairs = match(before.streams(), there);
  size_t number = 0;
  out.write("[ Matched hot streams ]\n");
  for (size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i] != SIZE_MAX)
      write_pair(out, before, before.streams()[i], *after, there[pairs[i]], ++number);
  number = 0;
  out.write("\n[ Hot streams in old perf data only ]\n");
  for (size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i] == SIZE_MAX) write_one(out, before, before.streams()[i], ++number, "");
  number = 0;
  out.write("\n[ Hot streams in new perf data only ]\n");
  const std::string beside = std::string(35, ' ') + '\t';
  for (size_t i = 0; i < there.size(); ++i)
    if (std::ranges::find(pairs, i) == pairs.end())
      write_one(out, *after, there[i], ++number, beside);
}

}  // namespace sonde::diff
