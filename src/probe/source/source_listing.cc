#include "probe/source/source_listing.h"

#include <climits>
#include <set>

#include "base/text.h"
#include "probe/source/debug_code.h"
#include "probe/source/line_walk.h"

namespace sonde {
namespace {

using NodeKind = CodeNode::Kind;

/// Lines shown after the last one that can be probed, if no end is given.
constexpr uint64_t kMoreLines = 3;

struct LineRange {
  std::string function, file;
  uint64_t start = 0;  // of the function if there is one, else of the file
  uint64_t end = INT_MAX;
};

std::unexpected<Error> bad_range(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kUsage,
              "'{}': {}; -L takes FUNC[@SRC][:START[+COUNT|-END]] or SRC[:START[+COUNT|-END]]",
              text, why);
}

/// The colon before the line numbers: not one of C++'s.
size_t find_colon(std::string_view text) {
  size_t at = text.rfind(':');
  return at == std::string_view::npos || (at > 0 && text[at - 1] == ':') ? std::string_view::npos
                                                                         : at;
}

Result<LineRange> parse_range(std::string_view text) {
  LineRange range;
  size_t colon = find_colon(text);
  std::string_view place = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    std::string_view numbers = text.substr(colon + 1);
    size_t mark = numbers.find_first_of("+-");
    auto start = parse_number(numbers.substr(0, mark));
    if (!start || *start > INT_MAX) return bad_range(text, "no line number follows ':'");
    range.start = *start;
    if (mark != std::string_view::npos) {
      auto second = parse_number(numbers.substr(mark + 1));
      bool is_count = numbers[mark] == '+';
      if (!second || *second > INT_MAX || (is_count && *second == 0))
        return bad_range(text, fmt::format("no number follows '{}'", numbers[mark]));
      range.end = is_count ? range.start + *second - 1 : *second;
      if (range.end < range.start) return bad_range(text, "the end is before the start");
    }
  }
  if (place.empty()) return bad_range(text, "it names no function or file");
  if (size_t at = place.find('@'); at != std::string_view::npos) {
    range.function = place.substr(0, at);
    range.file = place.substr(at + 1);
  } else if (place.find_first_of("./") != std::string_view::npos) {
    range.file = place;
  } else {
    range.function = place;
  }
  return range;
}

/// The lines of one file that can be probed.
struct ProbeableLines {
  std::string file;
  std::string directory;  // of its compilation
  uint64_t offset = 0;    // what line numbers are relative to
  std::set<uint64_t> lines;
};

class LineSearch {
 public:
  LineSearch(const LineRange& range, DebugCode& debug) : range_(range), debug_(debug) {}

  ProbeableLines find() {
    if (range_.function.empty()) {
      for (SourceUnit* unit : debug_.units_with_file(range_.file))
        if (search_file(*unit)) break;
    } else {
      debug_.visit_units_naming(range_.function,
                                [this](SourceUnit& unit) { return search_function(unit); });
    }
    return std::move(found_);
  }
  [[nodiscard]] bool knows_place() const { return knows_place_; }

 private:
  void consider(SourceUnit& unit, const LinePlace& place) {
    uint64_t first = found_.offset + range_.start, last = found_.offset + range_.end;
    if (place.line < first || place.line > last || place.file != found_.file) return;
    LineAt shown = line_at(unit, place.address);
    // A probe there would be shown at another line.
    if (shown.line != 0 && (shown.line != place.line || shown.file != place.file)) return;
    found_.lines.insert(place.line);
  }

  bool search_file(SourceUnit& unit) {
    for (const std::string& file : unit.files()) {
      if (!has_tail(file, range_.file)) continue;
      knows_place_ = true;
      found_.file = file;
      found_.directory = unit.unit().directory;
      walk_lines(unit, [&](const LinePlace& place) { consider(unit, place); });
      if (!found_.lines.empty()) return true;
    }
    return false;
  }

  bool search_function(SourceUnit& unit) {
    const UnitCode& code = unit.code();
    uint64_t chosen = 0;  // the entry that declares the function
    for (uint32_t i = 0; i < code.nodes().size(); ++i) {
      const CodeNode& node = code[i];
      bool is_function = node.kind == NodeKind::kFunction || node.kind == NodeKind::kInlined;
      if (!is_function || node.start == 0) continue;
      uint64_t declared = node.origin != 0 ? node.origin : node.entry;
      if (chosen != 0 ? declared != chosen : !unit.is_named(i, range_.function)) continue;
      std::string file = unit.declared_in(i);
      if (!range_.file.empty() && !has_tail(file, range_.file)) continue;
      knows_place_ = true;
      chosen = declared;
      found_.file = file;
      found_.directory = unit.unit().directory;
      found_.offset = unit.facts(i).line;
      walk_lines_of(unit, i, [&](const LinePlace& place) { consider(unit, place); });
    }
    return !found_.lines.empty();
  }

  const LineRange& range_;
  DebugCode& debug_;
  ProbeableLines found_;
  bool knows_place_ = false;
};

constexpr Escape kBlue{"\033[34m"}, kPlain{"\033[m"};

void write_numbered(const std::vector<std::string_view>& text, const LineRange& range,
                    const ProbeableLines& found, bool colour, Sink& out) {
  uint64_t first = std::max<uint64_t>(1, found.offset + range.start);
  uint64_t last =
      range.end == INT_MAX ? *found.lines.rbegin() + kMoreLines : found.offset + range.end;
  for (uint64_t line = first; line <= last && line <= text.size(); ++line) {
    std::string_view content = text[line - 1];
    if (found.lines.contains(line))
      out.print("{:7}  {}\n", line - found.offset, content);
    else if (colour)
      out.print("{0}         {1}{0}{2}\n{1}", kBlue, kPlain, content);
    else
      out.print("         {}\n", content);
  }
}

}  // namespace

Result<> write_source_lines(const ProbedCode& code, std::string_view range_text, bool colour,
                            Sink& out) {
  LineRange range = TRY(parse_range(range_text));
  DebugCode* debug = TRY(code.debug());
  LineSearch search(range, *debug);
  ProbeableLines found = search.find();
  const std::string& name = range.function.empty() ? range.file : range.function;
  if (!search.knows_place())
    return fail(ErrorCode::kNotFound, "the debug information of {} has no {} '{}'",
                code.description(), range.function.empty() ? "source file" : "function", name);
  if (found.lines.empty())
    return fail(ErrorCode::kNotFound, "no line of '{}' can be probed: {}", range_text,
                range.function.empty() ? "it has no code of its own there"
                                       : "its code was merged with that of its callers");
  std::string path = code.source_path(found.file);
  auto source = code.source(found.file, found.directory);
  if (!source)
    return fail(ErrorCode::kNotFound, "{}: -s DIRECTORY says where the source tree is",
                source.error());
  const std::string& text = *source;
  std::vector<std::string_view> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (range.function.empty())
    out.print("<{}:{}>\n", path, range.start);
  else
    out.print("<{}@{}:{}>\n", range.function, path, range.start);
  write_numbered(lines, range, found, colour, out);
  return {};
}

}  // namespace sonde
