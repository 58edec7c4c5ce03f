#include "render/listing_columns.h"

#include <algorithm>
#include <set>

#include "render/color.h"
#include "render/short_count.h"

namespace sonde::render {
namespace {

constexpr size_t kCycleWidth = 6;
constexpr std::string_view kCounterTitle = "Branch Counter";

std::string_view without_blanks(std::string_view text) {
  size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// "mov" and "%rsp,%rbp".
struct Words {
  std::string_view name, operands;
};
Words words_of(const view::ListingLine& line) {
  std::string_view text = without_blanks(line.text);
  size_t blank = std::min(text.find(' '), text.size());
  return {text.substr(0, blank), without_blanks(text.substr(blank))};
}

class ColumnWriter {
 public:
  ColumnWriter(Sink& out, const view::Listing& listing, const ListingTextOptions& options)
      : out_(out), listing_(listing), options_(options) {
    value_width_ = options.column == ListingColumn::kPeriod ? 12 : 7;
    if (listing.counter_width > 0)
      counter_width_ = std::max(listing.counter_width, kCounterTitle.size()) + 1;
    uint64_t size = listing.end - listing.start;
    address_width_ = fmt::formatted_size("{:x}", size);
    for (const view::ListingLine& line : listing.lines) {
      if (line.kind != view::ListingKind::kInstruction) continue;
      name_width_ = std::max(name_width_, words_of(line).name.size());
      if (line.flow == view::ListingFlow::kJump && is_inside(line)) targets_.insert(*line.target);
    }
  }

  void write() {
    write_heading();
    // The title goes into the first line, which is empty.
    for (size_t i = 1; i < listing_.lines.size(); ++i) {
      const view::ListingLine& line = listing_.lines[i];
      if (line.kind == view::ListingKind::kInstruction)
        write_instruction(line, listing_.hits_of(i));
      else
        write_text(line);
    }
  }

 private:
  [[nodiscard]] bool is_inside(const view::ListingLine& line) const {
    return line.target && listing_.start <= *line.target && *line.target < listing_.end;
  }

  void write_heading() {
    uint64_t samples = 0;
    for (const view::ListingHits& shown : listing_.shown) samples += shown.samples;
    out_.print("Samples: {} of event{} '{}'{}, Event count (approx.): {}, [percent: {}]\n",
               short_count(samples), listing_.events.size() > 1 ? "s" : "", listing_.events_name,
               listing_.frequency, listing_.shown.empty() ? 0 : listing_.shown[0].period,
               percent_words(options_.percent));
    out_.print("{}() {}\n", listing_.function, listing_.path);
    out_.write_lines(listing_.counter_legend);
    out_.write(column_title(options_.column));
    if (listing_.has_cycles) write_cycle_titles();
    out_.put('\n');
  }
  void write_cycle_titles() {
    size_t values = value_width_ * listing_.events.size();
    size_t title = column_title(options_.column).size();
    out_.write(std::string(values - std::min(values, title), ' '));
    out_.print("{:>{}} {:>{}} ", "IPC", kCycleWidth - 1, "Cycle", kCycleWidth - 1);
    if (counter_width_ > 0) out_.print("{:>{}} ", kCounterTitle, counter_width_ - 1);
    out_.print("{:>36}", ipc_summary(listing_));
  }

  /// The column where texts begin.
  [[nodiscard]] size_t text_column() const {
    size_t cycles = listing_.has_cycles ? 2 * kCycleWidth + counter_width_ : 0;
    return value_width_ * listing_.events.size() + cycles + 1 + address_width_ + 2;
  }

  void write_text(const view::ListingLine& line) {
    if (!line.text.empty()) {
      out_.write(std::string(text_column(), ' '));
      out_.write(line.text);
    }
    out_.put('\n');
  }

  void write_instruction(const view::ListingLine& line, std::span<const view::ListingHits> hits) {
    bool any = std::ranges::any_of(hits, [](auto& hit) { return hit.samples > 0; });
    for (size_t event = 0; event < hits.size(); ++event) write_value(hits[event], event, any);
    if (listing_.has_cycles) write_cycles(line.branches);
    out_.put(' ');
    if (targets_.contains(line.address))
      out_.print("{:{}x}: ", line.address - listing_.start, address_width_);
    else
      out_.write(std::string(address_width_ + 2, ' '));
    out_.write(arrow_of(line));
    out_.write(text_of(line));
    if (!line.data_type.empty()) out_.print("\t\t# data-type: {}", line.data_type);
    out_.put('\n');
  }
  void write_cycles(const view::ListingBranches& branches) {
    if (branches.ipc > 0)
      out_.print("{:{}.2f} ", branches.ipc, kCycleWidth - 1);
    else
      out_.write(std::string(kCycleWidth, ' '));
    if (branches.cycles > 0)
      out_.print("{:{}} ", branches.cycles, kCycleWidth - 1);
    else
      out_.write(std::string(kCycleWidth, ' '));
    if (counter_width_ > 0) out_.print("{:>{}} ", branches.counters, counter_width_ - 1);
  }
  /// Blank only if no event has hits on the line.
  void write_value(const view::ListingHits& hits, size_t event, bool any) {
    double percent = listing_.percent(hits, event, options_.percent);
    std::string value;
    if (!any)
      value.assign(value_width_ - 1, ' ');
    else if (options_.column == ListingColumn::kPeriod)
      value = fmt::format("{:11}", hits.period);
    else if (options_.column == ListingColumn::kSamples)
      value = fmt::format("{:6}", hits.samples);
    else
      value = fmt::format("{:6.2f}", percent);
    Escape color = hits.samples == 0 ? Escape() : percent_color(percent);
    bool is_colored = options_.color && !color.empty();
    if (is_colored) out_.write(color);
    out_.write(value);
    if (is_colored) out_.write(kReset);
    out_.put(' ');
  }

  [[nodiscard]] std::string_view arrow_of(const view::ListingLine& line) const {
    switch (line.flow) {
      case view::ListingFlow::kJump:
        if (!line.target) return "  ";
        if (!is_inside(line)) return "→ ";
        return *line.target > line.address ? "↓ " : "↑ ";
      case view::ListingFlow::kCall:
        return "→ ";
      case view::ListingFlow::kReturn:
        return "← ";
      default:
        return "  ";
    }
  }

  [[nodiscard]] std::string text_of(const view::ListingLine& line) const {
    Words words = words_of(line);
    if (options_.raw) return std::string(without_blanks(line.text));
    if (words.name == "nopl" || words.name == "nopw" || words.name == "nop") return "nop";
    std::string operands = operands_of(line, words);
    if (operands.empty()) return std::string(words.name);
    return fmt::format("{:<{}} {}", words.name, name_width_, operands);
  }
  [[nodiscard]] std::string operands_of(const view::ListingLine& line, const Words& words) const {
    if (!line.target) return std::string(words.operands);
    if (line.flow == view::ListingFlow::kJump && is_inside(line))
      return fmt::format("{:x}", *line.target - listing_.start);
    if (line.flow != view::ListingFlow::kOn && !line.target_name.empty()) return line.target_name;
    return with_name(words.operands, line.target_name);
  }
  /// "0x2e06(%rip),%rdi        # 404060 <table>" becomes "table,%rdi".
  static std::string with_name(std::string_view operands, std::string_view name) {
    size_t comment = operands.find("  ");
    std::string text(operands.substr(0, std::min(comment, operands.size())));
    size_t counter = text.find("(%rip)");
    if (name.empty() || counter == std::string::npos) return std::string(operands);
    constexpr size_t kCounterLength = 6;
    size_t before = text.rfind(',', counter);
    size_t first = before == std::string::npos ? 0 : before + 1;
    text.replace(first, counter + kCounterLength - first, name);
    return text;
  }

  Sink& out_;
  const view::Listing& listing_;
  const ListingTextOptions& options_;
  size_t value_width_;
  size_t address_width_;
  size_t name_width_ = 0;
  size_t counter_width_ = 0;  // with the blank behind it; 0: there are none
  std::set<uint64_t> targets_;
};

}  // namespace

std::string ipc_summary(const view::Listing& listing) {
  return fmt::format("(Average IPC: {:.2f}, IPC Coverage: {:.1f}%)", listing.average_ipc,
                     listing.ipc_coverage);
}

void write_listing_columns(Sink& out, const view::Listing& listing,
                           const ListingTextOptions& options) {
  ColumnWriter(out, listing, options).write();
}

}  // namespace sonde::render
