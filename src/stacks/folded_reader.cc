#include "stacks/folded_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

constexpr size_t kMarkSize = 4;  // "_[k]"

std::optional<double> parse_count(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// Cuts off the last word and the blank before it; nullopt if it is not a count. A name may end in
/// a blank of its own ("f<float ").
std::optional<double> cut_count(std::string_view& line) {
  size_t blank = line.find_last_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  auto count = parse_count(line.substr(blank + 1));
  if (!count) return std::nullopt;
  line = line.substr(0, blank);
  return count;
}

class FoldedReader {
 public:
  FoldedReader(const std::string& name, LossLedger& losses, FoldedOptions options)
      : name_(name), losses_(losses), options_(options) {}

  Result<StackProfile> read(std::string_view text) && {
    two_counts_ = has_two_counts(text);
    while (!text.empty()) {
      size_t end = std::min(text.find('\n'), text.size());
      take_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_number_;
    }
    if (builder_.columns() == 0)
      return fail(ErrorCode::kCorrupt,
                  "{}: no folded stacks in it (lines of \"frame;frame;frame count\")", name_);
    StackProfile profile = std::move(builder_).finish();
    profile.origin = name_;
    return profile;
  }

 private:
  /// A name may end in a number, so one line is not enough to tell.
  static bool has_two_counts(std::string_view text) {
    constexpr size_t kEnough = 100;
    size_t lines = 0;
    for (; lines < kEnough && !text.empty(); ++lines) {
      size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = trim(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty() || line.front() == '#') continue;
      if (cut_count(line) && !cut_count(line)) return false;
    }
    return lines > 0;
  }

  void take_line(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') return;
    std::string_view rest = line;
    auto last = cut_count(rest);
    if (!last) {
      losses_.add(LossKind::k_bad_folded_line, 1, fmt::format("{}:{}", name_, line_number_));
      return;
    }
    std::string_view stack = rest;
    auto before = two_counts_ ? cut_count(stack) : std::nullopt;
    if (builder_.columns() == 0) add_columns(two_counts_);
    if (!before) {
      add(builder_.node_of(frames_of(rest)), builder_.columns() - 1, *last);
      return;
    }
    StackNodeId node = builder_.node_of(frames_of(stack));
    builder_.add(node, 0, *before);
    add(node, 1, *last);
  }
  void add(StackNodeId node, size_t column, double value) {
    if (options_.keep_order)
      builder_.add_sample(node, column, value, {.time_ns = line_number_});
    else
      builder_.add(node, column, value);
  }
  void add_columns(bool two) {
    if (options_.keep_order) builder_.add_thread({});  // shared by all samples
    if (two) builder_.add_column("before", "samples");
    builder_.add_column(two ? "after" : "samples", "samples");
  }

  std::span<const StackFrameId> frames_of(std::string_view stack) {
    stack_.clear();
    while (!stack.empty()) {
      size_t end = std::min(stack.find(';'), stack.size());
      std::string_view name = stack.substr(0, end);
      stack_.push_back(
          builder_.frame({.name = builder_.intern(name), .kind = kind_of_marked(name)}));
      stack.remove_prefix(std::min(end + 1, stack.size()));
    }
    return stack_;
  }

  const std::string& name_;
  LossLedger& losses_;
  FoldedOptions options_;
  StackTreeBuilder builder_;
  std::vector<StackFrameId> stack_;
  size_t line_number_ = 1;
  bool two_counts_ = false;
};

}  // namespace

FrameKind kind_of_marked(std::string_view name) {
  if (without_mark(name).size() == name.size()) return FrameKind::kUser;
  switch (name[name.size() - 2]) {
    case 'k':
      return FrameKind::kKernel;
    case 'i':
      return FrameKind::kInlined;
    case 'j':
      return FrameKind::kJit;
    default:
      return FrameKind::kWaker;
  }
}

std::string_view without_mark(std::string_view name) {
  constexpr std::string_view kMarks = "kijw";
  if (name.size() < kMarkSize || name.back() != ']') return name;
  std::string_view mark = name.substr(name.size() - kMarkSize);
  if (!mark.starts_with("_[") || kMarks.find(mark[2]) == std::string_view::npos) return name;
  return name.substr(0, name.size() - kMarkSize);
}

Result<StackProfile> read_folded(std::string_view text, const std::string& name, LossLedger& losses,
                                 FoldedOptions options) {
  return FoldedReader(name, losses, options).read(text);
}

}  // namespace sonde
