#include "event/print_fmt/print_fmt_parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "event/print_fmt/print_fmt.h"
#include "event/print_fmt/print_fmt_builder.h"
#include "event/print_fmt/print_fmt_calls.h"
#include "event/print_fmt/print_fmt_lexer.h"
#include "event/print_fmt/print_fmt_names.h"
#include "event/print_fmt/print_fmt_spec.h"

namespace sonde::print_fmt {
namespace {

constexpr int kMaxDepth = 200;  // of nested expressions; limits the parser's recursion

/// A name declared by a statement expression.
struct Local {
  enum class Kind : uint8_t { kValue, kOutput, kStrings, kBits };
  std::string name;
  Kind kind = Kind::kValue;
  NodeId value = 0;    // kValue, and the word of kBits
  uint32_t first = 0;  // kStrings
  uint32_t count = 0;
  std::string tag;  // for kBits: of the union
};

struct TypeName {
  IntType type;  // the named type, without its stars
  bool is_pointer = false;
  bool is_pointer_to_pointer = false;
};

class Parser final : public CallParser {
 public:
  Parser(const TracepointFormat& format, const PrintTarget& target, std::vector<Token> tokens)
      : format_(format), target_(target), tokens_(std::move(tokens)), builder_(target.word_size) {}

  Result<Parsed> run() {
    std::vector<Piece> pieces = TRY(format_and_arguments(Token::Kind::kEnd));
    TRY(add_format(pieces));
    return Parsed{std::move(builder_.code), std::move(unresolved_)};
  }

  // CallParser: what the functions of print_fmt_calls.cc parse their arguments with.
  Builder& builder() override { return builder_; }
  const PrintTarget& target() const override { return target_; }
  Result<NodeId> expression() override { return conditional(); }
  const Token& peek(size_t ahead = 0) const override {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token take() override {
    Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view punctuation) override {
    if (!is(punctuation)) return false;
    take();
    return true;
  }
  Result<> expect(std::string_view punctuation) override {
    if (accept(punctuation)) return {};
    return fail(ErrorCode::kCorrupt, "expected '{}' but found '{}' in the print format",
                punctuation, peek().text);
  }
  Result<const TracepointField*> field_name() override {
    const Token token = take();
    std::string_view name = token.text;
    const TracepointField* field = format_.field(name);
    if (field == nullptr && name.starts_with("__data_loc_")) field = format_.field(name.substr(11));
    if (field == nullptr && name.starts_with("__rel_loc_")) field = format_.field(name.substr(10));
    if (field == nullptr)
      return fail(ErrorCode::kCorrupt, "the print format names a field \"{}\" that does not exist",
                  name);
    return field;
  }

 private:
  [[nodiscard]] bool is(std::string_view punctuation, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::kPunctuation && peek(ahead).text == punctuation;
  }
  [[nodiscard]] bool is_name(std::string_view name, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::kName && peek(ahead).text == name;
  }

  // ---- the format string and what it prints

  /// "fmt", argument, argument … up to the end of the text or a closing parenthesis.
  Result<std::vector<Piece>> format_and_arguments(Token::Kind) {
    if (peek().kind != Token::Kind::kString)
      return fail(ErrorCode::kCorrupt, "the print format does not begin with a string");
    std::vector<FormatPart> parts = split_format(take().text, target_.word_size);
    std::vector<NodeId> arguments;
    while (accept(",")) arguments.push_back(TRY(conditional()));
    if (peek().kind != Token::Kind::kEnd && !is(")"))
      return fail(ErrorCode::kCorrupt, "unexpected '{}' in the print format", peek().text);
    return assign(parts, arguments);
  }

  Result<std::vector<Piece>> assign(const std::vector<FormatPart>& parts,
                                    const std::vector<NodeId>& arguments) {
    std::vector<Piece> pieces;
    size_t used = 0;
    auto next = [&]() -> Result<NodeId> {
      if (used == arguments.size())
        return fail(ErrorCode::kCorrupt, "the print format has fewer arguments than conversions");
      return arguments[used++];
    };
    for (const FormatPart& part : parts) {
      Piece piece{.text = builder_.string(part.text), .spec = part.spec};
      if (part.spec.width == Spec::kStar) piece.width = TRY(next());
      if (part.spec.precision == Spec::kStar) piece.precision = TRY(next());
      if (part.spec.conversion != 0) piece.argument = TRY(next());
      pieces.push_back(piece);
    }
    return pieces;
  }

  Result<uint32_t> add_format(const std::vector<Piece>& pieces) {
    Code& code = builder_.code;
    code.formats.push_back(
        {static_cast<uint32_t>(code.pieces.size()), static_cast<uint32_t>(pieces.size())});
    code.pieces.insert(code.pieces.end(), pieces.begin(), pieces.end());
    return static_cast<uint32_t>(code.formats.size() - 1);
  }

  // ---- expressions, by precedence

  struct Deeper {
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& depth_;
  };

  Result<NodeId> conditional() {
    Deeper deeper(depth_);
    if (depth_ > kMaxDepth)
      return fail(ErrorCode::kCorrupt, "the print format is nested too deeply");
    NodeId condition = TRY(binary(0));
    if (!accept("?")) return condition;
    NodeId yes = is(":") ? condition : TRY(conditional());
    TRY(expect(":"));
    NodeId no = TRY(conditional());
    return builder_.select(condition, yes, no);
  }

  struct Operator {
    std::string_view text;
    int precedence;
    Op op;
    bool swapped;  // a > b is b < a
  };
  [[nodiscard]] std::optional<Operator> binary_operator() const {
    static constexpr auto kOperators = std::to_array<Operator>({
        {"||", 1, Op::kLogicalOr, false},
        {"&&", 2, Op::kLogicalAnd, false},
        {"|", 3, Op::kOr, false},
        {"^", 4, Op::kXor, false},
        {"&", 5, Op::kAnd, false},
        {"==", 6, Op::kEqual, false},
        {"!=", 6, Op::kNotEqual, false},
        {"<", 7, Op::kLess, false},
        {"<=", 7, Op::kLessEqual, false},
        {">", 7, Op::kLess, true},
        {">=", 7, Op::kLessEqual, true},
        {"<<", 8, Op::kShiftLeft, false},
        {">>", 8, Op::kShiftRight, false},
        {"+", 9, Op::kAdd, false},
        {"-", 9, Op::kSubtract, false},
        {"*", 10, Op::kMultiply, false},
        {"/", 10, Op::kDivide, false},
        {"%", 10, Op::kModulo, false},
    });
    if (peek().kind != Token::Kind::kPunctuation) return std::nullopt;
    auto found = std::ranges::find(kOperators, std::string_view(peek().text), &Operator::text);
    return found == kOperators.end() ? std::nullopt : std::optional(*found);
  }

  Result<NodeId> binary(int lowest) {
    NodeId left = TRY(unary());
    for (;;) {
      auto op = binary_operator();
      if (!op || op->precedence <= lowest) return left;
      take();
      NodeId right = TRY(binary(op->precedence));
      left = TRY(op->swapped ? builder_.binary(op->op, right, left)
                             : builder_.binary(op->op, left, right));
    }
  }

  Result<NodeId> unary() {
    Deeper deeper(depth_);
    if (depth_ > kMaxDepth)
      return fail(ErrorCode::kCorrupt, "the print format is nested too deeply");
    if (accept("!")) return builder_.unary(Op::kNot, TRY(unary()));
    if (accept("~")) return builder_.unary(Op::kInvert, TRY(unary()));
    if (accept("-")) return builder_.unary(Op::kNegate, TRY(unary()));
    if (accept("+")) return unary();
    if (accept("&")) return builder_.address_of(TRY(unary()));
    if (accept("*")) {
      NodeId pointer = TRY(unary());
      return builder_.element(pointer, TRY(builder_.constant(0, {4, true})));
    }
    if (is("(") && is_cast()) {
      take();
      TypeName type = TRY(type_name());
      TRY(expect(")"));
      NodeId operand = TRY(unary());
      if (!type.is_pointer) return builder_.cast(operand, type.type);
      return builder_.pointer_cast(operand,
                                   type.is_pointer_to_pointer ? builder_.word() : type.type);
    }
    return postfix();
  }

  Result<NodeId> postfix() {
    NodeId value = TRY(primary());
    while (is("[")) {
      take();
      NodeId index = TRY(conditional());
      TRY(expect("]"));
      value = TRY(builder_.element(value, index));
    }
    return value;
  }

  Result<NodeId> primary() {
    if (is("(")) {
      take();
      if (is("{")) return statement_expression();
      // (REC)->field
      if (is_name("REC") && is(")", 1)) {
        take();
        take();
        return record_field();
      }
      NodeId value = TRY(conditional());
      TRY(expect(")"));
      return value;
    }
    switch (peek().kind) {
      case Token::Kind::kNumber:
        return number(take());
      case Token::Kind::kChar:
        return builder_.constant(take().value, {4, true});
      case Token::Kind::kString:
        return builder_.literal(take().text);
      case Token::Kind::kName:
        return name();
      default:
        break;
    }
    return fail(ErrorCode::kCorrupt, "unexpected '{}' in the print format", peek().text);
  }

  Result<NodeId> number(const Token& token) {
    IntType word = builder_.word();
    IntType type{4, true};
    if (token.is_long) type.bytes = token.is_long_long ? 8 : word.bytes;
    type.is_signed = !token.is_unsigned;
    // The first type that can hold it, in C's order; decimal constants never become unsigned on
    // their own.
    auto fits = [&] {
      return narrow(token.value, type) == token.value &&
             (!type.is_signed || token.value >> (8 * type.bytes - 1) == 0);
    };
    while (!fits() && type != IntType{8, false}) {
      if (type.is_signed && (!token.is_decimal || type.bytes == 8))
        type.is_signed = false;
      else
        type = {8, !token.is_unsigned};
    }
    return builder_.constant(token.value, type);
  }

  Result<NodeId> record_field() {
    if (!accept("->")) TRY(expect("."));
    bool is_location =
        peek().text.starts_with("__data_loc_") || peek().text.starts_with("__rel_loc_");
    const TracepointField* field = TRY(field_name());
    if (!is_location) return builder_.field(*field);
    TracepointField location;
    location.name = field->name;
    location.offset = field->offset;
    location.size = location.element_size = 4;
    return builder_.field(location);
  }

  Result<NodeId> name() {
    Token token = take();
    if (token.text == "REC") return record_field();
    if (token.text == "sizeof") return size_of();
    if (is("(")) return parse_call(*this, token.text);
    for (const Local& local : locals_)
      if (local.name == token.text) return local_value(local);
    return named_value(token.text);
  }

  Result<NodeId> named_value(const std::string& name) {
    std::optional<int64_t> value;
    if (target_.constant) value = target_.constant(name);
    if (!value) value = named_constant(name);
    if (value) {
      bool fits = *value >= INT32_MIN && *value <= INT32_MAX;
      return builder_.constant(static_cast<uint64_t>(*value),
                               {static_cast<uint8_t>(fits ? 4 : 8), true});
    }
    if (std::ranges::find(unresolved_, name) == unresolved_.end()) unresolved_.push_back(name);
    return builder_.unresolved_constant();
  }

  // ---- types

  [[nodiscard]] bool is_known_type(const Token& token) const {
    return token.kind == Token::Kind::kName &&
           (is_type_keyword(token.text) || named_type(token.text, target_.word_size).has_value());
  }
  [[nodiscard]] bool is_local(std::string_view name) const {
    return std::ranges::find(locals_, name, &Local::name) != locals_.end();
  }

  /// Whether the parenthesis here contains a type. Unknown types are recognised by what follows: a
  /// name in parentheses before the start of another operand, or before a star and the closing
  /// parenthesis.
  [[nodiscard]] bool is_cast() const {
    size_t i = 1;
    if (is_known_type(peek(i))) return true;
    if (peek(i).kind != Token::Kind::kName || is_local(peek(i).text) || is_name("REC", i))
      return false;
    ++i;
    bool has_star = false;
    for (; is("*", i); ++i) has_star = true;
    if (!is(")", i)) return false;
    const Token& next = peek(i + 1);
    if (next.kind == Token::Kind::kPunctuation)
      return next.text == "(" || next.text == "~" || (has_star && next.text == "&");
    return next.kind != Token::Kind::kEnd;
  }

  Result<TypeName> type_name() {
    TypeName name;
    std::optional<IntType> base;
    std::optional<bool> sign;
    int longs = 0;
    bool is_first = true;
    for (; peek().kind == Token::Kind::kName; is_first = false) {
      const std::string word = peek().text;
      if (word == "struct" || word == "union" || word == "enum") {
        take();
        take();
        base = word == "enum" ? IntType{4, false} : IntType{0, false};
        continue;
      }
      auto known = named_type(word, target_.word_size);
      if (!known && !is_type_keyword(word) && !is_first) break;  // the declared name
      take();
      if (word == "unsigned" || word == "signed") {
        sign = word == "signed";
      } else if (word == "long") {
        ++longs;
      } else if (known && !(word == "int" && base)) {
        base = known;
      } else if (!known && !is_type_keyword(word)) {
        base = IntType{0, false};  // unknown size: a cast to it changes nothing
      } else {
        is_first = true;  // const and similar
        continue;
      }
    }
    name.type = base.value_or(IntType{4, true});
    if (longs > 0) name.type = {static_cast<uint8_t>(longs > 1 ? 8 : target_.word_size), true};
    if (sign) name.type.is_signed = *sign;
    while (is("*") || is_name("const") || is_name("__user") || is_name("__force") ||
           is_name("volatile")) {
      if (take().text != "*") continue;
      name.is_pointer_to_pointer = name.is_pointer;
      name.is_pointer = true;
    }
    return name;
  }

  Result<NodeId> size_of() {
    TRY(expect("("));
    uint64_t size = 0;
    if (is_known_type(peek()) && !is_local(peek().text)) {
      TypeName type = TRY(type_name());
      size = type.is_pointer ? target_.word_size : type.type.bytes;
    } else {
      NodeId operand = TRY(conditional());
      const Node& node = builder_.node(operand);
      size = node.op == Op::kBytes ? node.b : builder_.type_of(operand).bytes;
    }
    TRY(expect(")"));
    if (size == 0)
      return fail(ErrorCode::kCorrupt, "sizeof of an unknown type in the print format");
    return builder_.constant(size, builder_.word());
  }

  // ---- statement expressions: ({ declarations; statements; value; })

  Result<NodeId> statement_expression() {
    TRY(expect("{"));
    size_t outer_locals = locals_.size();
    std::vector<Piece> outer_output = std::exchange(output_, {});
    std::optional<NodeId> value;
    while (!is("}")) value = TRY(statement());
    take();
    TRY(expect(")"));
    locals_.resize(outer_locals);
    output_ = std::move(outer_output);
    if (!value) return fail(ErrorCode::kCorrupt, "a statement expression without a value");
    return *value;
  }

  Result<std::optional<NodeId>> statement() {
    std::optional<NodeId> value;
    if (is_name("trace_seq_printf")) {
      TRY(print_statement());
    } else if (is_name("trace_seq_putc")) {
      // Only used to terminate the text with its NUL.
      while (!is(";") && peek().kind != Token::Kind::kEnd) take();
    } else if (is_declaration()) {
      TRY(declaration());
    } else if (is(".", 1) && is_local(peek().text)) {
      TRY(assignment());
    } else {
      value = TRY(conditional());
    }
    TRY(expect(";"));
    return value;
  }

  [[nodiscard]] bool is_declaration() const {
    if (is_local(peek().text)) return false;
    return is_known_type(peek()) ||
           (peek().kind == Token::Kind::kName && peek(1).kind == Token::Kind::kName);
  }

  Result<> print_statement() {
    take();
    TRY(expect("("));
    take();  // the sequence: p
    TRY(expect(","));
    std::vector<Piece> pieces = TRY(format_and_arguments(Token::Kind::kPunctuation));
    TRY(expect(")"));
    output_.insert(output_.end(), pieces.begin(), pieces.end());
    return {};
  }

  Result<> declaration() {
    Local local;
    for (size_t i = 0; peek(i).kind == Token::Kind::kName; ++i)
      if (is_name("union", i)) local.tag = peek(i + 1).text;
    TypeName type = TRY(type_name());
    local.name = take().text;
    if (accept("[")) {
      while (!is("]") && peek().kind != Token::Kind::kEnd) take();
      TRY(expect("]"));
      TRY(expect("="));
      TRY(string_list(local));
    } else if (is(";")) {
      local.kind = Local::Kind::kBits;
      local.value = TRY(builder_.constant(0, {4, false}));
    } else {
      TRY(expect("="));
      if (is_name("trace_seq_buffer_ptr")) {
        while (!is(";") && peek().kind != Token::Kind::kEnd) take();
        local.kind = Local::Kind::kOutput;
      } else {
        local.value = TRY(conditional());
        if (!type.is_pointer) local.value = TRY(builder_.cast(local.value, type.type));
      }
    }
    locals_.push_back(std::move(local));
    return {};
  }

  Result<> string_list(Local& local) {
    local.kind = Local::Kind::kStrings;
    TRY(expect("{"));
    Code& code = builder_.code;
    local.first = static_cast<uint32_t>(code.strings.size());
    while (peek().kind == Token::Kind::kString) {
      code.strings.push_back(
          take().text);  // in a row, so not through the table of distinct strings
      ++local.count;
      if (!accept(",")) break;
    }
    return expect("}");
  }

  /// role.word = expression
  Result<> assignment() {
    std::string name = take().text;
    take();
    std::string member = take().text;
    TRY(expect("="));
    NodeId value = TRY(conditional());
    auto local = std::ranges::find(locals_, name, &Local::name);
    if (local->kind != Local::Kind::kBits || !bit_field(local->tag, member))
      return fail(ErrorCode::kCorrupt, "the print format sets an unknown member \"{}\"", member);
    local->value = TRY(builder_.cast(value, {4, false}));
    return {};
  }

  Result<NodeId> local_value(const Local& local) {
    switch (local.kind) {
      case Local::Kind::kValue:
        return local.value;
      case Local::Kind::kOutput: {
        uint32_t cost = 1;
        for (const Piece& piece : output_)
          if (piece.spec.conversion != 0) cost += builder_.cost(piece.argument);
        return builder_.text(Op::kFormat, TRY(add_format(output_)), 0, 0, cost);
      }
      case Local::Kind::kStrings: {
        uint32_t first = local.first;
        uint32_t count = local.count;
        TRY(expect("["));
        NodeId index = TRY(conditional());
        TRY(expect("]"));
        return builder_.text(Op::kPick, first, count, index, builder_.cost(index) + 1);
      }
      case Local::Kind::kBits:
        break;
    }
    NodeId word = local.value;
    std::string tag = local.tag;
    TRY(expect("."));
    std::string member = take().text;
    auto bits = bit_field(tag, member);
    if (!bits)
      return fail(ErrorCode::kCorrupt, "the print format reads an unknown member \"{}\"", member);
    NodeId shift = TRY(builder_.constant(bits->shift, {4, true}));
    NodeId mask = TRY(builder_.constant((uint64_t{1} << bits->width) - 1, {4, false}));
    NodeId shifted = TRY(builder_.binary(Op::kShiftRight, word, shift));
    return builder_.binary(Op::kAnd, shifted, mask);
  }

  const TracepointFormat& format_;
  const PrintTarget& target_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  Builder builder_;
  std::vector<Local> locals_;
  std::vector<Piece> output_;  // of the trace_seq_printf calls in this statement expression
  std::vector<std::string> unresolved_;
};

}  // namespace

Result<Parsed> parse_print_fmt(const TracepointFormat& format, const PrintTarget& target) {
  return Parser(format, target, TRY(tokenize(format.print_fmt()))).run();
}

}  // namespace sonde::print_fmt
