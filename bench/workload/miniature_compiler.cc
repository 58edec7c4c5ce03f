// A compiler in miniature, as a load for recordings: what a C++ build looks like to a profiler.
//
// Several processes, each with threads, generate source text, split it into tokens, parse it by
// recursive descent, and run passes over the trees. Precedence levels, passes and policies are
// templates, so there are about a thousand functions with the long names typical of C++, deep
// stacks of constantly changing shape, and leaves in the standard library.
//
//   miniature_compiler CPU_SECONDS [PROCESSES]
//
// Runs until its processes together have used CPU_SECONDS of CPU time. Must be built with frame
// pointers and without sibling calls (see bench.py), so that the kernel sees whole call chains.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#define OUT_OF_LINE [[gnu::noinline]]

namespace miniature {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint32_t below(uint32_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 32) * limit >> 32);
  }

 private:
  uint64_t state_;
};

// --- source text and tokens

namespace text {

constexpr std::array<std::string_view, 10> kOperators = {"||", "&&", "|",  "^", "&",
                                                         "==", "<",  "<<", "+", "*"};

class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}
  OUT_OF_LINE void expression(int depth) {
    if (depth <= 0 || random_.below(12) == 0) return primary(depth);
    expression(depth - 1 - static_cast<int>(random_.below(3)));
    source += ' ';
    source += kOperators[random_.below(kOperators.size())];
    source += ' ';
    expression(depth - 1 - static_cast<int>(random_.below(2)));
  }
  std::string source;

 private:
  OUT_OF_LINE void primary(int depth) {
    switch (depth > 1 ? random_.below(6) : random_.below(3)) {
      case 0:
        source += std::to_string(random_.below(100000));
        return;
      case 1:
      case 2:
        source += "name_" + std::to_string(random_.below(700));
        return;
      case 3:
        source += "call_" + std::to_string(random_.below(60)) + "(";
        expression(depth - 2);
        source += ", ";
        expression(depth - 2);
        source += ')';
        return;
      default:
        source += '(';
        expression(depth - 1);
        source += ')';
    }
  }
  Random& random_;
};

enum class TokenKind { kEnd, kNumber, kName, kOperator, kOpen, kClose, kComma };
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view spelling;
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : left_(source) {}
  OUT_OF_LINE std::vector<Token> all_tokens() {
    std::vector<Token> tokens;
    while (auto token = next_token()) tokens.push_back(*token);
    tokens.push_back({});
    return tokens;
  }

 private:
  OUT_OF_LINE std::optional<Token> next_token() {
    left_.remove_prefix(std::min(left_.size(), left_.find_first_not_of(' ')));
    if (left_.empty()) return std::nullopt;
    char c = left_.front();
    if (c == '(') return take(TokenKind::kOpen, 1);
    if (c == ')') return take(TokenKind::kClose, 1);
    if (c == ',') return take(TokenKind::kComma, 1);
    if (c >= '0' && c <= '9')
      return take(TokenKind::kNumber, left_.find_first_not_of("0123456789"));
    if (c >= 'a' && c <= 'z') return take(TokenKind::kName, left_.find_first_of(" (),"));
    return take(TokenKind::kOperator, left_.find(' '));
  }
  Token take(TokenKind kind, size_t size) {
    Token token{kind, left_.substr(0, size)};
    left_.remove_prefix(token.spelling.size());
    return token;
  }
  std::string_view left_;
};

}  // namespace text

// --- trees

namespace tree {

struct Number {
  int64_t value = 0;
};
struct Name {
  std::string spelling;
};
struct Binary {
  size_t level = 0;
};
struct Call {
  std::string callee;
};

struct Node {
  std::variant<Number, Name, Binary, Call> content;
  std::vector<std::unique_ptr<Node>> children;
};
using NodePointer = std::unique_ptr<Node>;

template <typename Content, typename... Children>
OUT_OF_LINE NodePointer make_node(Content content, Children... children) {
  auto node = std::make_unique<Node>();
  node->content = std::move(content);
  (node->children.push_back(std::move(children)), ...);
  return node;
}

}  // namespace tree

// --- parsing: one function template per level of precedence

namespace syntax {

class TokenStream {
 public:
  explicit TokenStream(const std::vector<text::Token>& tokens) : tokens_(tokens) {}
  const text::Token& peek() const { return tokens_[at_]; }
  text::Token next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  OUT_OF_LINE bool accept(text::TokenKind kind, std::string_view spelling = {}) {
    if (peek().kind != kind || (!spelling.empty() && peek().spelling != spelling)) return false;
    next();
    return true;
  }

 private:
  const std::vector<text::Token>& tokens_;
  size_t at_ = 0;
};

template <size_t Level>
struct PrecedenceLevel {
  template <typename Stream>
  OUT_OF_LINE static tree::NodePointer parse_expression(Stream& stream);
};

template <typename Stream>
OUT_OF_LINE tree::NodePointer parse_arguments(Stream& stream, std::string_view callee) {
  tree::NodePointer call = tree::make_node(tree::Call{std::string(callee)});
  while (!stream.accept(text::TokenKind::kClose) && stream.peek().kind != text::TokenKind::kEnd) {
    call->children.push_back(PrecedenceLevel<0>::template parse_expression<Stream>(stream));
    stream.accept(text::TokenKind::kComma);
  }
  return call;
}

template <typename Stream>
OUT_OF_LINE tree::NodePointer parse_primary(Stream& stream) {
  text::Token token = stream.next();
  switch (token.kind) {
    case text::TokenKind::kNumber:
      return tree::make_node(
          tree::Number{std::strtoll(std::string(token.spelling).c_str(), nullptr, 10)});
    case text::TokenKind::kOpen: {
      auto inner = PrecedenceLevel<0>::template parse_expression<Stream>(stream);
      stream.accept(text::TokenKind::kClose);
      return inner;
    }
    case text::TokenKind::kName:
      if (stream.accept(text::TokenKind::kOpen)) return parse_arguments(stream, token.spelling);
      return tree::make_node(tree::Name{std::string(token.spelling)});
    default:
      return tree::make_node(tree::Number{});
  }
}

template <size_t Level>
template <typename Stream>
tree::NodePointer PrecedenceLevel<Level>::parse_expression(Stream& stream) {
  if constexpr (Level == text::kOperators.size()) {
    return parse_primary(stream);
  } else {
    auto left = PrecedenceLevel<Level + 1>::template parse_expression<Stream>(stream);
    while (stream.accept(text::TokenKind::kOperator, text::kOperators[Level]))
      left = tree::make_node(tree::Binary{Level}, std::move(left),
                             PrecedenceLevel<Level + 1>::template parse_expression<Stream>(stream));
    return left;
  }
}

}  // namespace syntax

// --- passes: every combination of pass and policy is separate code

namespace passes {

struct Facts {
  std::map<std::string, int64_t> by_name;
  std::unordered_map<int64_t, uint32_t> number_of_value;
  std::vector<std::pair<int64_t, std::string>> worklist;
  uint64_t hash = 14695981039346656037u;
};

template <size_t Effort>
struct InlinePolicy {
  static constexpr size_t kEffort = Effort;
};
template <size_t Effort>
struct LoopPolicy {
  static constexpr size_t kEffort = Effort + 1;
};
template <typename Inner>
struct DiagnosingPolicy {
  static constexpr size_t kEffort = Inner::kEffort + 1;
};

class PassInterface {
 public:
  virtual ~PassInterface() = default;
  virtual int64_t run_on_unit(const tree::Node& root, Facts& facts) = 0;
};

template <size_t Index, typename Policy>
class TreePass : public PassInterface {
 public:
  OUT_OF_LINE int64_t run_on_unit(const tree::Node& root, Facts& facts) override {
    int64_t result = visit_node(root, facts, 0);
    if (!facts.worklist.empty()) order_worklist(facts);
    return result;
  }

 private:
  OUT_OF_LINE int64_t visit_node(const tree::Node& node, Facts& facts, size_t depth) {
    return std::visit(
        [&](const auto& content) { return this->visit_content(content, node, facts, depth); },
        node.content);
  }
  OUT_OF_LINE int64_t visit_content(const tree::Number& number, const tree::Node&, Facts& facts,
                                    size_t) {
    facts.number_of_value[number.value % 4096]++;
    return mix_hash(facts, static_cast<uint64_t>(number.value));
  }
  OUT_OF_LINE int64_t visit_content(const tree::Name& name, const tree::Node&, Facts& facts,
                                    size_t depth) {
    return look_up_name(name.spelling, facts) + static_cast<int64_t>(depth);
  }
  OUT_OF_LINE int64_t visit_content(const tree::Binary& binary, const tree::Node& node,
                                    Facts& facts, size_t depth) {
    int64_t left = visit_node(*node.children[0], facts, depth + 1);
    int64_t right = visit_right_operand(*node.children[1], facts, depth + 1);
    return fold_constants(static_cast<int64_t>(binary.level), left, right, facts);
  }
  OUT_OF_LINE int64_t visit_content(const tree::Call& call, const tree::Node& node, Facts& facts,
                                    size_t depth) {
    std::function<int64_t(const tree::NodePointer&)> argument =
        [&](const tree::NodePointer& child) { return this->visit_node(*child, facts, depth + 1); };
    int64_t sum = 0;
    for (const tree::NodePointer& child : node.children) sum += argument(child);
    facts.worklist.emplace_back(sum & 0xffff, call.callee);
    if (facts.worklist.size() > 64) order_worklist(facts);
    return sum;
  }
  OUT_OF_LINE int64_t visit_right_operand(const tree::Node& node, Facts& facts, size_t depth) {
    return (Index + depth) % 3 == 0 ? visit_again_with_effort(node, facts, depth)
                                    : visit_node(node, facts, depth);
  }
  OUT_OF_LINE int64_t visit_again_with_effort(const tree::Node& node, Facts& facts, size_t depth) {
    return visit_node(node, facts, depth) ^ mix_hash(facts, depth);
  }
  OUT_OF_LINE int64_t look_up_name(const std::string& name, Facts& facts) {
    auto [entry, added] =
        facts.by_name.try_emplace(name, static_cast<int64_t>(facts.by_name.size()));
    return added ? mix_hash(facts, name.size()) : entry->second;
  }
  OUT_OF_LINE int64_t fold_constants(int64_t level, int64_t left, int64_t right, Facts& facts) {
    switch (level) {
      case 8:
        return left + right;
      case 9:
        return mix_hash(facts, static_cast<uint64_t>(left) * static_cast<uint64_t>(right));
      case 6:
        return left < right;
      default:
        return mix_hash(facts, static_cast<uint64_t>(left ^ right));
    }
  }
  OUT_OF_LINE void order_worklist(Facts& facts) {
    std::sort(facts.worklist.begin(), facts.worklist.end(), [](const auto& a, const auto& b) {
      return (a.first ^ static_cast<int64_t>(Index)) < (b.first ^ static_cast<int64_t>(Index));
    });
    facts.worklist.resize(facts.worklist.size() / 2);
  }
  OUT_OF_LINE int64_t mix_hash(Facts& facts, uint64_t value) {
    for (size_t round = 0; round < 4 * Policy::kEffort + Index % 5; ++round)
      facts.hash = (facts.hash ^ (value >> (round % 8))) * 1099511628211u;
    return static_cast<int64_t>(facts.hash >> 40);
  }
};

template <typename Policy, size_t... Index>
void add_passes(std::vector<std::unique_ptr<PassInterface>>& all, std::index_sequence<Index...>) {
  (all.push_back(std::make_unique<TreePass<Index, Policy>>()), ...);
}

std::vector<std::unique_ptr<PassInterface>> all_passes() {
  std::vector<std::unique_ptr<PassInterface>> all;
  constexpr auto kIndices = std::make_index_sequence<16>();
  add_passes<InlinePolicy<1>>(all, kIndices);
  add_passes<LoopPolicy<2>>(all, kIndices);
  add_passes<DiagnosingPolicy<InlinePolicy<2>>>(all, kIndices);
  add_passes<DiagnosingPolicy<LoopPolicy<1>>>(all, kIndices);
  return all;
}

}  // namespace passes

// --- the build: processes, threads, units

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

OUT_OF_LINE int64_t
compile_unit(Random& random, const std::vector<std::unique_ptr<passes::PassInterface>>& pipeline) {
  text::Writer writer(random);
  writer.expression(9 + static_cast<int>(random.below(4)));
  std::vector<text::Token> tokens = text::Lexer(writer.source).all_tokens();
  syntax::TokenStream stream(tokens);
  tree::NodePointer root =
      syntax::PrecedenceLevel<0>::parse_expression<syntax::TokenStream>(stream);
  passes::Facts facts;
  int64_t result = 0;
  for (size_t i = 0; i < 4; ++i)
    result +=
        pipeline[random.below(static_cast<uint32_t>(pipeline.size()))]->run_on_unit(*root, facts);
  return result;
}

OUT_OF_LINE void compile_until(double seconds, uint64_t seed) {
  Random random(seed);
  auto pipeline = passes::all_passes();
  int64_t sum = 0;
  while (cpu_seconds() < seconds)
    for (int i = 0; i < 8; ++i) sum += compile_unit(random, pipeline);
  if (sum == 42) std::puts("unlikely");
}

void run_process(double seconds, uint64_t number) {
  prctl(PR_SET_NAME, ("compile-" + std::to_string(number)).c_str());
  std::thread helper([=] {
    prctl(PR_SET_NAME, ("optimize-" + std::to_string(number)).c_str());
    compile_until(seconds, 2 * number);
  });
  compile_until(seconds, 2 * number + 1);
  helper.join();
}

}  // namespace miniature

int main(int argc, char** argv) {
  double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  int processes = argc > 2 ? std::atoi(argv[2]) : 6;
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) {
      miniature::run_process(seconds / processes, static_cast<uint64_t>(i + 1));
      _exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
}
