#include "render/data_layout_text.h"

#include <fmt/format.h>

#include "render/color.h"

namespace sonde::render {
namespace {

constexpr size_t kLineWidth = 76;
constexpr size_t kNumberWidth = 10;
constexpr size_t kMemberIndent = 4;
constexpr size_t kRuleWidth = 59;

double share(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string hexadecimal(uint64_t number) {
  return number == 0 ? "0" : fmt::format("{:#x}", number);
}

class LayoutWriter {
 public:
  LayoutWriter(Sink& out, const view::DataLayout& layout, ListingColumn column, bool color)
      : out_(out),
        layout_(layout),
        column_(column),
        color_(color),
        width_(column == ListingColumn::kPeriod ? 12 : 8) {}

  void write() {
    out_.print("Annotate type: '{}' in {} ({} samples):\n", layout_.type, layout_.object,
               layout_.totals.empty() ? 0 : layout_.totals[0].samples);
    if (layout_.events.size() > 1)
      for (size_t i = 0; i < layout_.events.size(); ++i)
        out_.print(" event[{}] = {}\n", i, layout_.events[i]);
    out_.print("{}\n", std::string(kLineWidth, '='));
    out_.print("{:>{}} {:>{}} {:>{}}  field\n", column_title(column_),
               width_ * layout_.events.size(), "offset", kNumberWidth, "size", kNumberWidth);
    for (size_t i = 0; i < layout_.rows.size(); ++i) write_row(i);
    out_.put('\n');
  }

 private:
  void write_row(size_t i) {
    const view::DataLayoutRow& row = layout_.rows[i];
    size_t indent = row.depth * kMemberIndent;
    if (row.kind == view::DataLayoutRow::Kind::kCloses) {
      size_t before = width_ * layout_.events.size() + 2 * (kNumberWidth + 1) + 2;
      out_.print("{}}};\n", std::string(before + indent, ' '));
      return;
    }
    for (size_t event = 0; event < layout_.events.size(); ++event)
      write_number(layout_.hits_of(i)[event], layout_.totals[event]);
    bool opens = row.kind == view::DataLayoutRow::Kind::kOpens;
    out_.print(" {:>{}} {:>{}}  {}{}{}{}{}\n", hexadecimal(row.offset), kNumberWidth,
               hexadecimal(row.size), kNumberWidth, std::string(indent, ' '), row.type,
               row.name.empty() ? "" : "\t", row.name, opens ? " {" : ";");
  }

  void write_number(const view::ListingHits& hits, const view::ListingHits& total) {
    double percent = share(hits.period, total.period);
    std::string text;
    if (column_ == ListingColumn::kSamples)
      text = fmt::format("{:>{}}", hits.samples, width_);
    else if (column_ == ListingColumn::kPeriod)
      text = fmt::format("{:>{}}", hits.period, width_);
    else
      text = fmt::format("{:>{}.2f}", percent, width_);
    Escape begin = color_ ? percent_color(percent) : Escape();
    if (begin.empty()) return out_.write(text);
    out_.print("{}{}{}", begin, text, kReset);
  }

  Sink& out_;
  const view::DataLayout& layout_;
  ListingColumn column_;
  bool color_;
  size_t width_;
};

}  // namespace

void write_data_layout(Sink& out, const view::DataLayout& layout, ListingColumn column,
                       bool color) {
  LayoutWriter(out, layout, column, color).write();
}

void write_instruction_counts(Sink& out, std::span<const view::InstructionCounts> counts) {
  uint64_t known = 0, unknown = 0;
  for (const view::InstructionCounts& one : counts) {
    known += one.known;
    unknown += one.unknown;
  }
  uint64_t all = known + unknown;
  out.print("Annotate Instruction stats\ntotal {}, ok {} ({:.1f}%), bad {} ({:.1f}%)\n\n", all,
            known, share(known, all), unknown, share(unknown, all));
  out.print("  {:<20}: {:>5} {:>5} {:>7}\n", "Name/opcode", "Good", "Bad", "Good %");
  out.print("{}\n", std::string(kRuleWidth, '-'));
  for (const view::InstructionCounts& one : counts) {
    out.print("  {:<20}: {:>5} {:>5} {:>7.1f}", one.name, one.known, one.unknown,
              share(one.known, one.known + one.unknown));
    for (size_t i = 0; i < one.reasons.size(); ++i)
      out.print("{}{} {}", i == 0 ? "   " : ", ", one.reasons[i].name, one.reasons[i].samples);
    out.put('\n');
  }
  out.put('\n');
}

void write_data_type_counts(Sink& out, const view::DataTypeCounts& counts) {
  uint64_t bad = counts.samples - counts.known;
  out.print("Annotate data type stats:\ntotal {}, ok {} ({:.1f}%), bad {} ({:.1f}%)\n",
            counts.samples, counts.known, share(counts.known, counts.samples), bad,
            share(bad, counts.samples));
  out.print("{}\n", std::string(kRuleWidth, '-'));
  for (const view::DataTypeCounts::Reason& reason : counts.reasons)
    if (reason.samples > 0) out.print("{:>10} : {}\n", reason.samples, reason.name);
  out.put('\n');
}

}  // namespace sonde::render
