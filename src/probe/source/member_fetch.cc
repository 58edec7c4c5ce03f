#include "probe/source/member_fetch.h"

#include <algorithm>

namespace sonde {
namespace {

/// What a variable and the members after it lead to.
struct Reached {
  FetchText fetch;
  ValueType type;
  ValueMember bits = {};  // of a bit field
};

/// Follows "->next", ".name", "[3]".
class MemberWalk {
 public:
  MemberWalk(Reached start, const RequestedArgument& argument, const ValueTypes& types)
      : at_(std::move(start)), argument_(argument), types_(types), shown_(argument.what) {}

  Result<Reached> run() {
    for (const RequestedMember& member : argument_.members) {
      TRY(member.kind == RequestedMember::Kind::kIndex ? index(member) : enter(member));
    }
    return std::move(at_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view why) const {
    return fail(ErrorCode::kUnsupported, "'{}': {} {}", argument_.text, shown_, why);
  }

  Result<> need_memory() const {
    if (at_.fetch.is_memory()) return {};
    return refuse(at_.fetch.is_constant() ? "is a constant here, and has no members in memory"
                                          : "is kept in a register here, not in memory");
  }

  Result<> index(const RequestedMember& member) {
    ValueType type = types_.plain(at_.type);
    ValueKind kind = types_.kind(type);
    if (kind != ValueKind::kArray && kind != ValueKind::kPointer)
      return refuse("is neither an array nor a pointer");
    ValueType element = types_.target(type);
    uint64_t size = types_.size(element);
    if (size == 0) return refuse("has elements of unknown size");
    if (kind == ValueKind::kPointer)
      at_.fetch.follow(0, argument_.user_memory);
    else
      TRY(need_memory());
    at_.fetch.move(static_cast<int64_t>(static_cast<uint64_t>(member.index) * size));
    at_.type = element;
    shown_ += fmt::format("[{}]", member.index);
    return {};
  }

  Result<> enter(const RequestedMember& member) {
    ValueType type = types_.plain(at_.type);
    bool is_arrow = member.kind == RequestedMember::Kind::kArrow;
    ValueKind kind = types_.kind(type);
    // A reference is used like what it refers to.
    if (kind == ValueKind::kReference || (kind == ValueKind::kPointer && is_arrow)) {
      at_.fetch.follow(0, argument_.user_memory);
      type = types_.plain(types_.target(type));
      kind = types_.kind(type);
    } else if (kind == ValueKind::kPointer) {
      return refuse(fmt::format("is a pointer: write {}->{}", shown_, member.name));
    } else if (is_arrow && kind == ValueKind::kRecord) {
      return refuse(fmt::format("is no pointer: write {}.{}", shown_, member.name));
    } else if (kind == ValueKind::kRecord) {
      TRY(need_memory());
    }
    if (kind != ValueKind::kRecord) return refuse("is no structure or union");
    auto found = types_.member(type, member.name);
    if (!found) return no_member(type, member.name);
    at_.fetch.move(static_cast<int64_t>(found->offset));
    at_.type = found->type;
    at_.bits = *found;
    shown_ += (is_arrow ? "->" : ".") + member.name;
    return {};
  }

  [[nodiscard]] std::unexpected<Error> no_member(ValueType record, const std::string& name) const {
    std::string type = types_.shown(record);
    if (types_.is_declaration(record))
      return fail(ErrorCode::kNotFound,
                  "'{}': {} is only declared in this source file, so its members are not known",
                  argument_.text, type);
    return fail(ErrorCode::kNotFound, "'{}': {} has no member '{}'", argument_.text,
                type.empty() ? "its type" : type, name);
  }

  Reached at_;
  const RequestedArgument& argument_;
  const ValueTypes& types_;
  std::string shown_;
};

/// The type that the tracer is to show a value as.
class FetchType {
 public:
  FetchType(Reached& reached, const RequestedArgument& argument, const ValueTypes& types)
      : reached_(reached), argument_(argument), types_(types) {}

  /// Without the colon; empty if the tracer's own choice is right.
  Result<std::string> run() {
    const std::string& cast = argument_.type;
    if (is_string_type(cast)) return text();
    if (reached_.fetch.is_address())
      return fail(ErrorCode::kUnsupported,
                  "'{}' is always the same address here, which is not in memory: ask for what is "
                  "there",
                  argument_.text);
    if (!cast.empty() && !is_bare_type(cast)) return cast;
    if (reached_.bits.bits != 0) return bit_field();
    return number();
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view what,
                                              std::string_view remedy) const {
    return fail(ErrorCode::kUnsupported, "'{}' is {}, which probes cannot record: {}",
                argument_.text, what, remedy);
  }

  Result<std::string> text() {
    ValueType type = types_.plain(reached_.type);
    ValueKind kind = types_.kind(type);
    if (kind != ValueKind::kPointer && kind != ValueKind::kArray)
      return fail(ErrorCode::kUnsupported, "'{}' is no text: {} is neither a pointer nor an array",
                  argument_.text, types_.shown(reached_.type));
    ValueType target = types_.plain(types_.target(type));
    ValueKind letter = types_.kind(target);
    bool is_letter = letter == ValueKind::kSigned || letter == ValueKind::kUnsigned;
    if (!is_letter || types_.size(target) != 1)
      return fail(ErrorCode::kUnsupported, "'{}' is no text: {} does not consist of characters",
                  argument_.text, types_.shown(reached_.type));
    if (kind == ValueKind::kPointer)
      reached_.fetch.follow(0, argument_.user_memory);
    else if (!reached_.fetch.is_memory())
      return refuse("an array in registers", "probe where it is in memory");
    return argument_.type;
  }

  Result<std::string> bit_field() {
    uint64_t offset = reached_.bits.offset;
    auto container =
        bit_field_fetch(reached_.bits.first_bit, reached_.bits.bits, types_.size(reached_.type));
    if (!container) return refuse("a bit field across words", "record the bytes around it");
    // The walk has moved to where the member is said to begin.
    reached_.fetch.move(static_cast<int64_t>(container->offset - offset));
    return container->type;
  }

  Result<std::string> number() {
    ValueType type = types_.plain(reached_.type);
    uint64_t size = types_.size(type);
    bool is_cast = !argument_.type.empty();
    switch (types_.kind(type)) {
      case ValueKind::kArray:
        if (reached_.fetch.is_memory() && !is_cast) return std::string();
        return refuse("an array", "name an element of it, or :string");
      case ValueKind::kRecord: {
        std::string name = types_.shown(type);
        return refuse(name.empty() ? "an unnamed structure" : name + " as a whole",
                      "name a member of it");
      }
      case ValueKind::kFloat:
        if (is_cast) break;
        return refuse("a floating-point number",
                      fmt::format("':x{}' records its bits", size <= 8 ? size * 8 : 64));
      case ValueKind::kOther:
        return refuse("of no known size", "give a type, as in ':u64'");
      default:
        break;
    }
    if (size == 0) return refuse("of no known size", "give a type, as in ':u64'");
    bool is_signed = types_.kind(type) == ValueKind::kSigned;
    char prefix = is_cast ? argument_.type[0] : is_signed ? 's' : 'x';
    return fmt::format("{}{}", prefix, std::min<uint64_t>(size * 8, 64));
  }

  Reached& reached_;
  const RequestedArgument& argument_;
  const ValueTypes& types_;
};

}  // namespace

Result<std::string> member_fetch(FetchText start, ValueType type, const RequestedArgument& argument,
                                 const ValueTypes& types) {
  Reached reached = TRY(MemberWalk(Reached{std::move(start), type, {}}, argument, types).run());
  std::string shown_as = TRY(FetchType(reached, argument, types).run());
  std::string text = reached.fetch.text();
  if (!shown_as.empty()) text += ":" + shown_as;
  return text;
}

std::string unique_fetch_name(const RequestedArgument& argument,
                              const std::vector<std::string>& texts) {
  std::string name = fetch_name(argument);
  auto is_taken = [&](const std::string& wanted) {
    return std::ranges::any_of(
        texts, [&](const std::string& text) { return text.starts_with(wanted + "="); });
  };
  if (!is_taken(name)) return name;
  for (int i = 1;; ++i)
    if (std::string other = fmt::format("{}_{}", name, i); !is_taken(other)) return other;
}

}  // namespace sonde
