#include "cli/manual.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "base/version.h"
#include "cli/global_options.h"
#include "cli/usage.h"

namespace sonde {
namespace {

constexpr std::string_view kToolSummary = "Performance analysis: record and show where time goes";

constexpr std::string_view kToolDescription =
    R"(Sonde is a rewrite of Linux perf: the same commands, the same command lines, the same perf.data files.

Run as perf (through a symbolic link), it replaces perf.

Settings are read from /etc/perfconfig and ~/.perfconfig, or only from the file that PERF_CONFIG names.)";

struct GlobalFlag {
  std::string_view head;
  std::string_view text;
};
constexpr GlobalFlag kGlobalFlags[] = {
    {"-h, --help", "List the commands."},
    {"-v, --version", "Show the version; -vv also shows what is built in."},
    {"-p, --paginate", "Send output through the pager even if a command would not."},
    {"--no-pager", "Never start a pager."},
    {"--buildid-dir=<dir>", "The build-id cache to use instead of ~/.debug."},
    {"--debugfs-dir=<dir>", "Where debugfs is mounted."},
    {"--exec-path[=<dir>]", "Show or set the directory of helper programs."},
    {"--html-path", "Show the path of the HTML manual."},
    {"--debug <name>[=<level>]",
     "Print more: verbose, ordered-events, perf-event-open, stderr, data-convert."},
    {"--list-cmds", "List the commands on one line, for completion."},
    {"--list-opts", "List these options on one line, for completion."},
};

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

std::string page_name(const Manual& manual) {
  return manual.command.empty() ? manual.tool : manual.tool + "-" + manual.command;
}

std::string option_head(const Flag& flag) {
  std::string head;
  if (flag.letter) head += fmt::format("-{}", flag.letter);
  if (flag.letter && !flag.name.empty()) head += ", ";
  if (!flag.name.empty()) head += "--" + flag.name;
  std::string value = value_syntax(flag);
  if (!flag.name.empty() && value.starts_with(' ')) value[0] = '=';
  return head + value;
}

/// Text that troff prints literally: no request at the start of a line, no escapes, hyphens that
/// can be copied. Lists without blanks may be broken after their commas.
std::string troff_escaped(std::string_view line) {
  std::string result;
  if (line.starts_with('.') || line.starts_with('\'')) result += "\\&";
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    if (c == ',' && i + 1 < line.size() && line[i + 1] != ' ') result += "\\:";
  }
  return result;
}

/// Strips empty lines at both ends; the first line keeps its indentation.
std::string_view without_empty_ends(std::string_view text) {
  size_t first = text.find_first_not_of('\n');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of("\n ") + 1 - first);
}

bool stays_as_it_is(std::string_view line) {
  return line.starts_with(' ') || line.starts_with('\t');
}

/// Paragraphs are filled; runs of lines that begin with a blank are printed as they are.
std::string troff_paragraphs(std::string_view text, std::string_view paragraph_request) {
  std::string result;
  bool verbatim = false;
  for (std::string_view line : split(without_empty_ends(text), '\n')) {
    if (stays_as_it_is(line) != verbatim) {
      verbatim = !verbatim;
      result += verbatim ? ".nf\n" : ".fi\n";
    }
    if (line.empty())
      result += fmt::format("{}\n", paragraph_request);
    else
      result += troff_escaped(line) + "\n";
  }
  if (verbatim) result += ".fi\n";
  return result;
}

/// Appends `text` indented by `indent` (less than 80) blanks, filled to 80 columns as
/// troff_paragraphs does.
void fill_text(std::string& out, std::string_view text, size_t indent) {
  constexpr size_t kWidth = 80;
  size_t column = 0;
  auto end_line = [&] {
    if (column != 0) out += '\n';
    column = 0;
  };
  auto put = [&](std::string_view word) {
    if (column == 0) {
      out.append(indent, ' ');
      column = indent;
    }
    out += word;
    column += word.size();
  };
  for (std::string_view line : split(without_empty_ends(text), '\n')) {
    if (line.empty() || stays_as_it_is(line)) {
      end_line();
      out += line.empty() ? "\n" : fmt::format("{:{}}{}\n", "", indent, line);
      continue;
    }
    for (std::string_view word : split(line, ' ')) {
      if (word.empty()) continue;
      if (column != 0 && column + 1 + word.size() > kWidth) end_line();
      if (column != 0) put(" ");
      // A list without blanks that no line could hold is broken after its commas.
      while (indent + word.size() > kWidth) {
        size_t comma = word.substr(0, kWidth - std::max(column, indent)).rfind(',');
        if (comma == std::string_view::npos) break;
        put(word.substr(0, comma + 1));
        end_line();
        word.remove_prefix(comma + 1);
      }
      if (!word.empty()) put(word);
    }
  }
  end_line();
}

}  // namespace

Manual manual_of(std::string_view tool, const CommandInfo& info, const FlagTable& flags) {
  Manual manual{.tool = std::string(tool), .command = info.name, .summary = info.summary};
  for (const std::string& line : flags.usage_lines())
    manual.synopsis.push_back(fmt::format("{} {} {}", tool, info.name, line));
  if (manual.synopsis.empty()) manual.synopsis.push_back(fmt::format("{} {}", tool, info.name));
  manual.description = flags.description();
  for (const Flag* flag : sorted_flags(flags))
    if (!flag->is_hidden) manual.options.push_back({option_head(*flag), help_text(*flag, tool)});
  for (const auto& [title, text] : flags.sections()) manual.sections.emplace_back(title, text);
  return manual;
}

Manual manual_of_tool(std::string_view tool, CommandList commands) {
  Manual manual{.tool = std::string(tool), .summary = kToolSummary};
  manual.synopsis.push_back(global_usage(tool));
  manual.description = kToolDescription;
  for (const GlobalFlag& flag : kGlobalFlags)
    manual.options.push_back({std::string(flag.head), std::string(flag.text)});
  std::string list;
  for (const CommandInfo& info : commands)
    if (!info.hidden) list += fmt::format("  {:<15} {}\n", info.name, info.summary);
  manual.sections.emplace_back("COMMANDS", list);
  return manual;
}

std::string manual_as_troff(const Manual& manual) {
  std::string page = fmt::format(".TH \"{}\" 1 \"\" \"sonde {}\" \"{} Manual\"\n.nh\n.ad l\n",
                                 upper(page_name(manual)), sonde_version(), manual.tool);
  page += fmt::format(".SH NAME\n{} \\- {}\n", troff_escaped(page_name(manual)),
                      troff_escaped(manual.summary));
  page += ".SH SYNOPSIS\n.nf\n";
  for (const std::string& line : manual.synopsis) page += troff_escaped(line) + "\n";
  page += ".fi\n";
  if (!manual.description.empty())
    page += ".SH DESCRIPTION\n" + troff_paragraphs(manual.description, ".PP");
  if (!manual.options.empty()) page += ".SH OPTIONS\n";
  for (const Manual::Option& option : manual.options)
    page += fmt::format(".TP\n.B {}\n{}", troff_escaped(option.head),
                        troff_paragraphs(option.text, ".IP"));
  for (const auto& [title, text] : manual.sections)
    page += fmt::format(".SH {}\n{}", title, troff_paragraphs(text, ".PP"));
  return page;
}

std::string manual_as_text(const Manual& manual) {
  constexpr size_t kIndent = 7;
  std::string page = fmt::format("NAME\n");
  fill_text(page, fmt::format("{} - {}", page_name(manual), manual.summary), kIndent);
  page += "\nSYNOPSIS\n";
  for (const std::string& line : manual.synopsis)
    page += fmt::format("{:{}}{}\n", "", kIndent, line);
  if (!manual.description.empty()) {
    page += "\nDESCRIPTION\n";
    fill_text(page, manual.description, kIndent);
  }
  if (!manual.options.empty()) page += "\nOPTIONS\n";
  for (const Manual::Option& option : manual.options) {
    if (&option != &manual.options.front()) page += '\n';
    page += fmt::format("{:{}}{}\n", "", kIndent, option.head);
    fill_text(page, option.text, kIndent + 4);
  }
  for (const auto& [title, text] : manual.sections) {
    page += fmt::format("\n{}\n", title);
    fill_text(page, text, kIndent);
  }
  return page;
}

void show_manual_page(Env& env, const Manual& manual) {
  bool through_man = env.out.is_terminal() && ::access("/usr/bin/man", X_OK) == 0;
  if (through_man) {
    env.out.flush();
    if (FILE* man = ::popen("/usr/bin/man -l -", "w")) {
      std::string page = manual_as_troff(manual);
      bool all = std::fwrite(page.data(), 1, page.size(), man) == page.size();
      if (::pclose(man) == 0 && all) return;
    }
  }
  env.out.write_lines(manual_as_text(manual));
}

void print_command_list(Sink& out, CommandList commands, std::string_view tool) {
  out.print("\n usage: {}\n\n The most commonly used {} commands are:\n", global_usage(tool), tool);
  for (const CommandInfo& info : commands)
    if (!info.hidden) out.print("   {:<15} {}\n", info.name, info.summary);
  out.print("\n See '{} help COMMAND' for more information on a specific command.\n\n", tool);
}

}  // namespace sonde
