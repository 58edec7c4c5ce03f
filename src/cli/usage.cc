#include "cli/usage.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "base/text.h"

namespace sonde {
namespace {

constexpr size_t kHelpColumn = 26;

int lower(char c) {
  return std::tolower(static_cast<unsigned char>(c));
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

/// "callgraph" asks for "call-graph".
std::string without_dashes(std::string_view name) {
  std::string text(name);
  std::erase(text, '-');
  return text;
}

bool word_asks_for(std::string_view word, const Flag& flag) {
  if (word.starts_with("--")) return flag.name == word.substr(2);
  if (word.starts_with('-')) return word.size() > 1 && flag.letter == word[1];
  if (word.size() == 1) return flag.letter == word[0];
  return flag.name == word || without_dashes(flag.name) == without_dashes(word) ||
         contains_ignoring_case(flag.help, word);
}

void print_flag(Sink& out, std::string_view tool, const Flag& flag) {
  std::string line = "    ";
  if (flag.letter) line += fmt::format("-{}", flag.letter);
  if (flag.letter && !flag.name.empty()) line += ", ";
  if (!flag.letter) line += "    ";
  if (!flag.name.empty()) line += "--" + flag.name;
  line += value_syntax(flag);
  // The gap of two blanks must fit before the help's column; otherwise the help starts on a new
  // line.
  if (line.size() + 2 <= kHelpColumn)
    line.resize(kHelpColumn, ' ');
  else
    line += "\n" + std::string(kHelpColumn, ' ');
  out.write_lines(line + help_text(flag, tool) + "\n");
}

}  // namespace

std::string named_for(std::string_view tool, std::string text) {
  constexpr std::string_view kPerf = "'perf ";
  for (size_t at = 0; (at = text.find(kPerf, at)) != std::string::npos; at += tool.size())
    text.replace(at + 1, kPerf.size() - 2, tool);
  return text;
}

std::string help_text(const Flag& flag, std::string_view tool) {
  return named_for(tool, flag.help);
}

std::string value_syntax(const Flag& flag) {
  if (flag.takes == Flag::Takes::kNothing) return {};
  bool bracketed = flag.argument.starts_with('<') || flag.argument.starts_with('[');
  std::string shown =
      bracketed || flag.argument.empty() ? flag.argument : "<" + flag.argument + ">";
  if (flag.takes != Flag::Takes::kAttached) return " " + shown;
  return (flag.name.empty() ? "[" : "[=") + shown + "]";
}

std::vector<const Flag*> sorted_flags(const FlagTable& table) {
  std::vector<const Flag*> sorted;
  for (const Flag& flag : table.flags()) sorted.push_back(&flag);
  auto group_of = [&](const Flag* flag) {
    return std::ranges::find(table.flags(), flag->group, &Flag::group) - table.flags().begin();
  };
  auto key = [&](const Flag* flag) {
    return std::tuple(group_of(flag), flag->letter == 0, lower(flag->letter),
                      std::string_view(flag->name));
  };
  std::ranges::stable_sort(sorted, [&](const Flag* a, const Flag* b) { return key(a) < key(b); });
  return sorted;
}

void print_usage_lines(Sink& out, std::string_view tool, std::string_view command,
                       const FlagTable& table) {
  std::string_view lead = " Usage:";
  out.put('\n');
  for (const std::string& line : table.usage_lines()) {
    out.print("{} {} {} {}\n", lead, tool, command, line);
    lead = "    or:";
  }
  if (table.usage_lines().empty()) out.print("{} {} {}\n", lead, tool, command);
}

void print_usage_of(Sink& out, std::string_view tool, std::string_view command,
                    const FlagTable& table, const std::vector<const Flag*>& about) {
  print_usage_lines(out, tool, command, table);
  std::string group;
  out.put('\n');
  for (const Flag* flag : about) {
    if (flag->group != group) out.print("\n{}\n", group = flag->group);
    print_flag(out, tool, *flag);
  }
}

void print_usage(Sink& out, std::string_view tool, std::string_view command, const FlagTable& table,
                 const std::vector<std::string>& words) {
  std::vector<const Flag*> shown;
  for (const Flag* flag : sorted_flags(table)) {
    bool asked = words.empty() || std::ranges::any_of(words, [&](const std::string& w) {
                   return word_asks_for(w, *flag);
                 });
    if (asked && !flag->is_hidden) shown.push_back(flag);
  }
  print_usage_of(out, tool, command, table, shown);
  out.put('\n');
}

}  // namespace sonde
