#include "report/diff/notes.h"

#include <fmt/format.h>

#include <tuple>

namespace sonde::diff {
namespace {

/// Lengths further apart than this are mentioned.
constexpr double kLengthsApart = 1.25;

std::string rate_text(const abi::EventAttr& attr) {
  return attr.freq != 0 ? fmt::format("{} samples a second", attr.sample_period)
                        : fmt::format("a sample every {}", attr.sample_period);
}

double seconds_of(const DiffInput& input) {
  const ReplayCounts& counts = input.session().counts();
  if (counts.last_time_ns < counts.first_time_ns) return 0;
  return static_cast<double>(counts.last_time_ns - counts.first_time_ns) / 1e9;
}

class Notes {
 public:
  Notes(const DiffInput& baseline, const DiffInput& other) : baseline_(baseline), other_(other) {}

  std::vector<std::string> all() {
    for (const auto& event : baseline_.events()) compare_event(*event);
    for (const auto& event : other_.events())
      if (event->samples != 0 && baseline_.find(other_.desc(*event).attr) == nullptr)
        say("{} is only in {}", event->name, other_.path());
    compare_lengths();
    compare_machines();
    show_losses(baseline_);
    show_losses(other_);
    return std::move(notes_);
  }

 private:
  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    notes_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void compare_event(const report::EventReport& event) {
    const abi::EventAttr& attr = baseline_.desc(event).attr;
    const report::EventReport* found = other_.find(attr);
    if (found == nullptr) {
      if (event.samples != 0) say("{} is not in {}", event.name, other_.path());
      return;
    }
    const abi::EventAttr& there = other_.desc(*found).attr;
    if (attr.sample_period != there.sample_period || attr.freq != there.freq)
      say("{}: {} has {}, {} has {}: periods don't compare, and the finer one has more functions",
          event.name, baseline_.path(), rate_text(attr), other_.path(), rate_text(there));
    auto modes = [](const abi::EventAttr& of) {
      return std::tuple(of.exclude_user, of.exclude_kernel, of.exclude_hv, of.exclude_host,
                        of.exclude_guest);
    };
    if (modes(attr) != modes(there))
      say("{}: the recordings count in different modes (user, kernel, guest): shares are of "
          "different "
          "totals",
          event.name);
    if (attr.config1() != there.config1() || attr.config2() != there.config2())
      say("{}: the recordings count it with different settings", event.name);
  }

  void compare_lengths() {
    double before = seconds_of(baseline_), after = seconds_of(other_);
    if (before <= 0 || after <= 0) return;
    if (std::max(before, after) / std::min(before, after) < kLengthsApart) return;
    say("{} lasts {:.3f} s, {} {:.3f} s: shares are compared, which is not time; ratios, wdiff and "
        "periods grow with the length",
        baseline_.path(), before, other_.path(), after);
  }

  void compare_machines() {
    const Features& before = baseline_.session().recording().features();
    const Features& after = other_.session().recording().features();
    compare("processors", before.cpu_desc, after.cpu_desc);
    compare("architectures", before.arch, after.arch);
    compare("kernels", before.os_release, after.os_release);
  }
  void compare(std::string_view what, const std::optional<std::string>& before,
               const std::optional<std::string>& after) {
    if (before && after && *before != *after)
      say("the recordings are from different {}: {} and {}", what, *before, *after);
  }

  void show_losses(const DiffInput& input) {
    const LostCounts& lost = input.session().counts().lost;
    if (lost.most_samples() == 0) return;
    say("{} lost {}{} samples: the busiest moments are missing", input.path(),
        lost.is_bound() ? "up to " : "", lost.most_samples());
  }

  const DiffInput& baseline_;
  const DiffInput& other_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> comparison_notes(const DiffInput& baseline, const DiffInput& other) {
  return Notes(baseline, other).all();
}

}  // namespace sonde::diff
