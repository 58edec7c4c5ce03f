#include "stat/root_port_writer.h"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

constexpr double kBytesPerCount = 4, kBytesPerMb = 1024 * 1024;
constexpr int kIntervalsPerHeading = 25;

class RootPortWriter final : public render::CountWriter {
 public:
  RootPortWriter(std::vector<RootPort> ports, std::optional<std::string> separator,
                 std::unique_ptr<render::CountWriter> inner, Sink& out)
      : ports_(std::move(ports)),
        separator_(std::move(separator)),
        inner_(std::move(inner)),
        out_(out) {
    for (const RootPort& port : ports_) pmus_.push_back(port.pmu);
    std::ranges::sort(pmus_);
    pmus_.erase(std::ranges::unique(pmus_).begin(), pmus_.end());
  }

  void begin(const view::CountSummary& summary) override { inner_->begin(summary); }

  void page(const view::CountPage& page) override {
    if (!page.time_ns || pages_ % kIntervalsPerHeading == 0)
      write_heading(page.time_ns.has_value());
    ++pages_;
    for (const RootPort& port : ports_) write_port(page, port);
  }

  void end(const view::CountSummary& summary) override {
    if (!separator_) out_.put('\n');
    inner_->end(summary);
  }

 private:
  void write_heading(bool times) {
    if (separator_)
      out_.print("{}port{}", times ? " time" + *separator_ : "", *separator_);
    else
      out_.print("{}   port         ", times ? " #          time " : "");
    for (size_t metric = 0; metric < kRootPortMetrics; ++metric)
      write_cell(root_port_title(metric));
    out_.put('\n');
  }

  void write_port(const view::CountPage& page, const RootPort& port) {
    constexpr uint64_t kNsPerSecond = 1'000'000'000;
    std::string_view gap = separator_ ? std::string_view(*separator_) : " ";
    if (page.time_ns)
      out_.print("{:>6}.{:09}{}", *page.time_ns / kNsPerSecond, *page.time_ns % kNsPerSecond, gap);
    out_.print("{}{}", port.name(), gap);
    auto pmu = static_cast<size_t>(std::ranges::find(pmus_, port.pmu) - pmus_.begin());
    for (size_t metric = 0; metric < kRootPortMetrics; ++metric)
      write_cell(value_text(page, pmu * kRootPortMetrics + metric, port.die));
    out_.put('\n');
  }

  void write_cell(std::string_view text) {
    if (separator_)
      out_.print("{}{}", text, *separator_);
    else
      out_.print("{:>20} ", text);
  }

  static std::string value_text(const view::CountPage& page, size_t event, uint32_t die) {
    using Status = view::CountRow::Status;
    for (const view::CountRow& row : page.rows) {
      if (row.event != event) continue;
      if (row.status == Status::kNotSupported) return "<not supported>";
      if (row.unit != die) continue;
      if (row.status == Status::kNotCounted) return "<not counted>";
      return fmt::format("{:.0f}", row.value * kBytesPerCount / kBytesPerMb);
    }
    return "<not counted>";  // no CPU of this die is online
  }

  std::vector<RootPort> ports_;
  std::vector<uint32_t> pmus_;  // in the order of their events
  std::optional<std::string> separator_;
  std::unique_ptr<render::CountWriter> inner_;
  Sink& out_;
  int pages_ = 0;
};

}  // namespace

std::unique_ptr<render::CountWriter> make_root_port_writer(
    std::vector<RootPort> ports, std::optional<std::string> separator,
    std::unique_ptr<render::CountWriter> inner, Sink& out) {
  return std::make_unique<RootPortWriter>(std::move(ports), std::move(separator), std::move(inner),
                                          out);
}

}  // namespace sonde
