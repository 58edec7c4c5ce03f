#include "tui/pages/table_frame.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <sstream>

#include "base/file.h"
#include "render/table_text.h"
#include "tui/pages/table_painter.h"
#include "tui/terminal/glyphs.h"

namespace sonde {
namespace {

std::string filter_text(const tui::TableView& view) {
  const tui::TextMatch& match = view.choice().match();
  if (match.matches_all()) return {};
  char mark = match.kind() == tui::TextMatch::Kind::kRegex ? '/' : '\'';
  return fmt::format("filter {}{}{}: {} of {} rows", mark, match.pattern(), mark,
                     view.choice().matches(), view.table().rows());
}

}  // namespace

void draw_bar(tui::Grid& grid, const tui::Theme& theme, std::string_view left,
              std::string_view right) {
  grid.fill(0, 0, grid.columns(), theme.bar);
  size_t end = grid.put(0, 1, left, theme.bar);
  size_t width = tui::columns_of(right);
  if (end + width + 3 < grid.columns()) grid.put(0, grid.columns() - width - 1, right, theme.bar);
}

void draw_table_status(tui::Grid& grid, const tui::Theme& theme, const tui::TableView& view,
                       std::string_view path, std::string_view hint) {
  size_t row = grid.rows() - 1;
  std::string left(path), filter = filter_text(view);
  if (!left.empty() && !filter.empty()) left += " · ";
  left += filter;
  if (left.empty()) left = hint;
  size_t place = view.empty() ? 0 : view.cursor().row + 1;
  std::string right = fmt::format("{}/{}", place, view.choice().rows().size());
  size_t width = right.size() + 1;
  size_t end = grid.put(row, 1, left, theme.dim,
                        grid.columns() > width + 2 ? grid.columns() - width - 2 : 0);
  if (end + width <= grid.columns()) grid.put(row, grid.columns() - width, right, theme.dim);
}

void print_table(tui::TableView& view, const std::vector<std::string>& heading, tui::Pages& pages) {
  // A new file, whatever is there, and not through anybody's link.
  std::string path;
  Fd made;
  for (size_t i = 0; i == 0 || (!made.valid() && errno == EEXIST); ++i) {
    path = fmt::format("perf.hist.{}", i);
    made = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  }
  std::ostringstream file;
  for (const std::string& line : heading) file << "# " << line << '\n';
  file << "#\n";
  if (std::string above = render::table_spanning_titles(view.table(), {}); !above.empty())
    file << above << '\n';
  file << render::table_titles(view.table(), {}) << '\n';
  tui::TableView::Place place;
  if (!view.empty()) do
      file << tui::TablePainter::line_text(view, place) << '\n';
    while (view.next(place));
  bool is_written = made.valid() && write_all(made.get(), path, as_bytes(file.view()));
  pages.say(is_written ? "written: " + path : "cannot write " + path + " in this directory");
}

}  // namespace sonde
