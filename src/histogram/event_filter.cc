#include "histogram/event_filter.h"

#include <array>
#include <memory>

#include "base/text.h"
#include "bpf/filters/filter_text.h"

namespace sonde {
namespace {

/// A node of the expression: a test, or two parts; `is_negated` is of parts and tests alike.
struct FilterNode {
  enum class Kind : uint8_t { kTest, kAnd, kOr };
  Kind kind = Kind::kTest;
  bool is_negated = false;
  FilterTest test = {};
  std::unique_ptr<FilterNode> left = {}, right = {};
  size_t tests = 1;
};
using Node = std::unique_ptr<FilterNode>;

class FilterReader : FilterText {
 public:
  explicit FilterReader(std::string_view text) : FilterText(text) {}

  Result<Node> read() {
    Node node = TRY(read_alternatives());
    skip_blanks();
    if (at_ != text_.size()) return refuse("expected && or ||");
    return node;
  }

 private:
  static constexpr size_t kDeepest = 32;

  static Node joined(FilterNode::Kind kind, Node left, Node right) {
    auto node = std::make_unique<FilterNode>();
    node->kind = kind;
    node->tests = left->tests + right->tests;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  Result<Node> read_alternatives() {
    Node node = TRY(read_conjunction());
    while (take("||"))
      node = joined(FilterNode::Kind::kOr, std::move(node), TRY(read_conjunction()));
    return node;
  }
  Result<Node> read_conjunction() {
    Node node = TRY(read_term());
    while (take("&&")) node = joined(FilterNode::Kind::kAnd, std::move(node), TRY(read_term()));
    return node;
  }
  Result<Node> read_term() {
    bool is_negated = false;
    while (take("!")) is_negated = !is_negated;
    if (!take("(")) {
      Node node = TRY(read_test());
      node->is_negated = is_negated;
      return node;
    }
    if (++depth_ > kDeepest) return refuse("too many parentheses");
    Node node = TRY(read_alternatives());
    if (!take(")")) return refuse("expected )");
    --depth_;
    node->is_negated ^= is_negated;
    return node;
  }

  Result<Node> read_test() {
    if (++tests_ > HISTOGRAM_TESTS)
      return refuse(fmt::format("more than {} comparisons", HISTOGRAM_TESTS));
    auto node = std::make_unique<FilterNode>();
    FilterTest& test = node->test;
    skip_blanks();
    size_t end = end_of_field(at_);
    test.field = text_.substr(at_, end - at_);
    if (test.field.empty()) return refuse("expected a field");
    at_ = end;
    TRY(read_operation(test));
    TRY(read_operand(test));
    return node;
  }
  /// Variables may have arrows in them: "job->size".
  [[nodiscard]] size_t end_of_field(size_t from) const {
    size_t end = std::min(text_.find_first_of(" \t=!<>&|~()\"'", from), text_.size());
    bool is_arrow = end > from && text_.substr(end).starts_with('>') && text_[end - 1] == '-';
    return is_arrow ? end_of_field(end + 1) : end;
  }
  Result<> read_operation(FilterTest& test) {
    struct Spelling {
      std::string_view text;
      histogram_operation operation;
    };
    static constexpr auto kSpellings = std::to_array<Spelling>({{"==", HISTOGRAM_EQUAL},
                                                                {"!=", HISTOGRAM_NOT_EQUAL},
                                                                {"<=", HISTOGRAM_AT_MOST},
                                                                {">=", HISTOGRAM_AT_LEAST},
                                                                {"<", HISTOGRAM_LESS},
                                                                {">", HISTOGRAM_GREATER},
                                                                {"&", HISTOGRAM_HAS_BITS}});
    skip_blanks();
    if (text_.substr(at_).starts_with('~'))
      return refuse("a program in the kernel compares text with == and != only, not with a glob,");
    for (const Spelling& one : kSpellings)
      if (!text_.substr(at_).starts_with("&&") && take(one.text)) {
        test.operation = one.operation;
        return {};
      }
    return refuse("expected one of == != < <= > >= &");
  }
  Result<> read_operand(FilterTest& test) {
    skip_blanks();
    char quote = at_ < text_.size() ? text_[at_] : '\0';
    bool is_quoted = quote == '"' || quote == '\'';
    size_t end = is_quoted ? text_.find(quote, at_ + 1) : text_.find_first_of(" \t&|()", at_);
    if (is_quoted && end == std::string_view::npos) return refuse("a quote is not closed");
    end = std::min(end, text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    if (is_quoted) word.remove_prefix(1);
    bool is_negative = !is_quoted && word.starts_with('-');
    auto number = parse_number(word.substr(is_negative ? 1 : 0));
    if (word.empty() && !is_quoted) return refuse("expected a number or text");
    if (number && !is_quoted) {
      test.number = is_negative ? -*number : *number;
    } else {
      if (word.size() >= HISTOGRAM_TEXT)
        return refuse(fmt::format("text of more than {} characters", HISTOGRAM_TEXT - 1));
      test.is_text = true;
      test.text = word;
      if (test.operation != HISTOGRAM_EQUAL && test.operation != HISTOGRAM_NOT_EQUAL)
        return refuse("text is compared with == and != only");
    }
    at_ = end + (is_quoted ? 1 : 0);
    return {};
  }

  size_t depth_ = 0, tests_ = 0;
};

/// Appends the tests of a part, which begin where the list ends: that is where others jump to.
void append_tests(FilterNode& node, uint8_t if_true, uint8_t if_false,
                  std::vector<FilterTest>& tests) {
  if (node.is_negated) std::swap(if_true, if_false);
  if (node.kind == FilterNode::Kind::kTest) {
    node.test.if_true = if_true;
    node.test.if_false = if_false;
    tests.push_back(std::move(node.test));
    return;
  }
  auto right = static_cast<uint8_t>(tests.size() + node.left->tests);
  bool is_and = node.kind == FilterNode::Kind::kAnd;
  append_tests(*node.left, is_and ? right : if_true, is_and ? if_false : right, tests);
  append_tests(*node.right, if_true, if_false, tests);
}

}  // namespace

Result<std::vector<FilterTest>> parse_event_filter(std::string_view text) {
  std::vector<FilterTest> tests;
  if (trim(text).empty()) return tests;
  Node node = TRY(FilterReader(text).read());
  append_tests(*node, HISTOGRAM_PASSES, HISTOGRAM_FAILS, tests);
  return tests;
}

bool compare_numbers(uint64_t left, histogram_operation operation, uint64_t right, bool is_signed) {
  if (operation == HISTOGRAM_HAS_BITS) return (left & right) != 0;
  auto order =
      is_signed ? static_cast<int64_t>(left) <=> static_cast<int64_t>(right) : left <=> right;
  switch (operation) {
    case HISTOGRAM_EQUAL:
      return order == 0;
    case HISTOGRAM_NOT_EQUAL:
      return order != 0;
    case HISTOGRAM_LESS:
      return order < 0;
    case HISTOGRAM_AT_MOST:
      return order <= 0;
    case HISTOGRAM_GREATER:
      return order > 0;
    default:
      return order >= 0;
  }
}

}  // namespace sonde
