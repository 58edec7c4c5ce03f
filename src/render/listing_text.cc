#include "render/listing_text.h"

#include <algorithm>

#include "render/color.h"

namespace sonde::render {
namespace {

constexpr Escape kAddressColor{"\033[35m"};
constexpr Escape kCodeColor{"\033[34m"};

class ListingWriter {
 public:
  ListingWriter(Sink& out, const view::Listing& listing, const ListingTextOptions& options)
      : out_(out), listing_(listing), options_(options) {
    size_t width = options.column == ListingColumn::kPeriod ? 12 : 8;
    width_ = width * std::max<size_t>(listing.events.size(), 1);
    for (const view::ListingLine& line : listing.lines)
      if (line.kind == view::ListingKind::kInstruction)
        address_width_ = fmt::formatted_size("{:x}", line.address);
  }

  void write() {
    if (options_.summary) write_summary();
    write_heading();
    for (size_t i = 0; i < listing_.lines.size(); ++i) {
      const view::ListingLine& line = listing_.lines[i];
      if (line.kind == view::ListingKind::kInstruction)
        write_instruction(line, listing_.hits_of(i));
      else
        write_text(line);
    }
  }

 private:
  void write_summary() {
    out_.print("\nSorted summary for file {}\n----------------------------------------------\n\n",
               listing_.path);
    if (listing_.places.empty()) out_.write(" Nothing higher than 0.5%\n");
    for (const view::ListingPlace& place : listing_.places) {
      for (double percent : place.percents)
        write_colored(percent_color(percent), fmt::format(" {:7.2f}", percent));
      double most = std::ranges::max(place.percents);
      write_colored(percent_color(most), fmt::format(" {}", place.place));
      out_.put('\n');
    }
  }

  void write_heading() {
    std::string heading =
        fmt::format(" {:<{}}|\tSource code & Disassembly of {} for {} ({} samples, percent: {})\n",
                    column_title(options_.column), width_, listing_.object, listing_.events_name,
                    listing_.events[0].function.samples, percent_words(options_.percent));
    out_.write(heading);
    out_.write(std::string(heading.size(), '-'));
    out_.write("----\n");
  }

  void write_text(const view::ListingLine& line) {
    if (line.text.empty())
      out_.print(" {:{}}:\n", ' ', width_);
    else
      out_.print(" {:{}}: {:<{}} {}\n", ' ', width_, line.number, address_width_, line.text);
  }

  void write_instruction(const view::ListingLine& line, std::span<const view::ListingHits> hits) {
    double most = 0;
    for (size_t event = 0; event < hits.size(); ++event) {
      double percent = listing_.percent(hits[event], event, options_.percent);
      most = std::max(most, percent);
      write_value(hits[event], percent);
    }
    out_.write(" : ");
    write_colored(kAddressColor, fmt::format("  {:{}x}:", line.address, address_width_));
    write_colored(kCodeColor, line.text);
    write_branches(line.branches);
    if (!line.data_type.empty()) out_.print("\t\t# data-type: {}", line.data_type);
    if (!line.place.empty() && line.place != last_place_) {
      last_place_ = line.place;
      write_colored(percent_color(most), fmt::format(" // {}", line.place));
    }
    out_.put('\n');
  }
  void write_branches(const view::ListingBranches& branches) {
    constexpr double kLeastShown = 0.1;
    bool joins = branches.joined > kLeastShown, leaves = branches.left > kLeastShown;
    if (joins || leaves) out_.write("\t#");
    if (joins) out_.print(" +{:.2f}%", branches.joined);
    if (leaves) out_.print(" -{:.2f}% (p:{:.2f}%)", branches.left, branches.predicted);
  }
  void write_value(const view::ListingHits& hits, double percent) {
    switch (options_.column) {
      case ListingColumn::kPeriod:
        return write_colored(percent_color(percent), fmt::format(" {:11}", hits.period));
      case ListingColumn::kSamples:
        return write_colored(percent_color(percent), fmt::format(" {:7}", hits.samples));
      default:
        return write_colored(percent_color(percent), fmt::format(" {:7.2f}", percent));
    }
  }
  void write_colored(Escape color, std::string_view text) {
    bool is_colored = options_.color && !color.empty();
    if (is_colored) out_.write(color);
    out_.write(text);
    if (is_colored) out_.write(kReset);
  }

  Sink& out_;
  const view::Listing& listing_;
  const ListingTextOptions& options_;
  size_t width_;
  size_t address_width_ = 0;
  std::string last_place_;
};

}  // namespace

std::string_view column_title(ListingColumn column) {
  switch (column) {
    case ListingColumn::kPeriod:
      return "Period";
    case ListingColumn::kSamples:
      return "Samples";
    default:
      return "Percent";
  }
}

std::string_view percent_words(view::ListingPercent percent) {
  switch (percent) {
    case view::ListingPercent::kLocalHits:
      return "local hits";
    case view::ListingPercent::kGlobalPeriod:
      return "global period";
    case view::ListingPercent::kGlobalHits:
      return "global hits";
    default:
      return "local period";
  }
}

void write_listing(Sink& out, const view::Listing& listing, const ListingTextOptions& options) {
  ListingWriter(out, listing, options).write();
}

}  // namespace sonde::render
