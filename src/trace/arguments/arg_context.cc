#include "trace/arguments/arg_context.h"

#include <algorithm>
#include <charconv>

namespace sonde {
namespace {

template <typename T>
void append_number(std::string& out, T value, int base) {
  char digits[24];
  auto end = std::to_chars(std::begin(digits), std::end(digits), value, base).ptr;
  out.append(digits, end);
}

#define WORDS(name, prefix, ...) constexpr Word kWords_##name[] = {__VA_ARGS__};
#include "trace/arguments/arg_names.def"
#undef WORDS

constexpr Vocabulary kVocabularies[] = {
    {"", {}},
#define WORDS(name, prefix, ...) {prefix, kWords_##name},
#include "trace/arguments/arg_names.def"
#undef WORDS
};

// A word without the prefix of its set.
std::string_view stripped(std::string_view word, std::string_view prefix) {
  if (word.size() > prefix.size() && word.starts_with(prefix)) word.remove_prefix(prefix.size());
  return word;
}

void append_flags_text(std::string& out, const Vocabulary& set, uint64_t value, bool is_full) {
  size_t before = out.size();
  auto add = [&](std::string_view word) {
    if (out.size() != before) out += '|';
    out += is_full ? word : stripped(word, set.prefix);
  };
  uint64_t left = value;
  for (const Word& word : set.words) {
    bool is_in = word.value == 0 ? value == 0 : (left & word.value) == word.value;
    if (!is_in) continue;
    add(word.name);
    left &= ~word.value;
  }
  if (left == 0 && out.size() != before) return;
  if (out.size() != before) out += '|';
  append_hex(out, left);
}

void append_unknown(std::string& out, const Vocabulary& set, uint64_t value) {
  append_hex(out, value);
  out += " /* ";
  out += set.prefix;
  out += "??? */";
}

}  // namespace

void append_decimal(std::string& out, int64_t value) {
  append_number(out, value, 10);
}
void append_unsigned(std::string& out, uint64_t value) {
  append_number(out, value, 10);
}
void append_hex(std::string& out, uint64_t value) {
  if (value != 0) out += "0x";
  append_number(out, value, 16);
}
void append_octal(std::string& out, uint64_t value) {
  if (value != 0) out += '0';
  append_number(out, value, 8);
}
void append_pointer(std::string& out, uint64_t value) {
  if (value == 0)
    out += "NULL";
  else
    append_hex(out, value);
}

const Vocabulary& vocabulary(WordSet set) {
  return kVocabularies[static_cast<size_t>(set)];
}

std::string_view word_of(WordSet set, uint64_t value) {
  const auto& words = vocabulary(set).words;
  auto found = std::ranges::find(words, value, &Word::value);
  return found == words.end() ? std::string_view{} : found->name;
}

void append_flags(ArgContext& context, WordSet set, uint64_t value) {
  append_flags_text(context.out, vocabulary(set), value,
                    !context.is_perf() || context.style.show_prefixes);
}

void append_full_flags(std::string& out, WordSet set, uint64_t value) {
  append_flags_text(out, vocabulary(set), value, true);
}

void append_word(ArgContext& context, WordSet set, std::string_view name) {
  bool is_full = !context.is_perf() || context.style.show_prefixes;
  context.out += is_full ? name : stripped(name, vocabulary(set).prefix);
}

void append_choice(ArgContext& context, WordSet set, uint64_t value) {
  std::string_view word = word_of(set, value);
  if (!word.empty()) return append_word(context, set, word);
  if (!context.is_perf()) return append_unknown(context.out, vocabulary(set), value);
  // perf prints a value that it has no name for as an int.
  append_decimal(context.out, static_cast<int32_t>(value));
}

void append_full_choice(std::string& out, WordSet set, uint64_t value) {
  std::string_view word = word_of(set, value);
  if (word.empty())
    append_unknown(out, vocabulary(set), value);
  else
    out += word;
}

std::string& StructText::field(std::string_view name) {
  if (!is_first_) out_ += ", ";
  is_first_ = false;
  out_ += name;
  out_ += '=';
  return out_;
}
StructText& StructText::number(std::string_view name, int64_t value) {
  append_decimal(field(name), value);
  return *this;
}
StructText& StructText::count(std::string_view name, uint64_t value) {
  append_unsigned(field(name), value);
  return *this;
}
StructText& StructText::hex(std::string_view name, uint64_t value) {
  append_hex(field(name), value);
  return *this;
}
StructText& StructText::pointer(std::string_view name, uint64_t value) {
  append_pointer(field(name), value);
  return *this;
}
StructText& StructText::flags(std::string_view name, WordSet set, uint64_t value) {
  append_full_flags(field(name), set, value);
  return *this;
}
StructText& StructText::choice(std::string_view name, WordSet set, uint64_t value) {
  append_full_choice(field(name), set, value);
  return *this;
}
void StructText::cut() {
  out_ += is_first_ ? "..." : ", ...";
  is_first_ = false;
}

uint64_t read_word(ByteCursor& cursor, bool is_32) {
  return is_32 ? cursor.u32() : cursor.u64();
}
int64_t read_signed_word(ByteCursor& cursor, bool is_32) {
  return is_32 ? static_cast<int32_t>(cursor.u32()) : static_cast<int64_t>(cursor.u64());
}

}  // namespace sonde
