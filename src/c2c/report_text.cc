#include "c2c/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "c2c/text_table.h"
#include "profile/keys/key_tools.h"

namespace sonde::c2c {
namespace {

constexpr std::string_view kRule = "=================================================\n";
constexpr size_t kSymbolWidth = 30;
constexpr size_t kAddressWidth = 18;
constexpr std::string_view kNoNode = "N/A";

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent_text(uint64_t part, uint64_t whole) {
  return fmt::format("{:5.2f}%", percent(part, whole));
}

void write_heading(std::string_view title, Sink& out) {
  out.write(kRule);
  out.print("{}\n", title);
  out.write(kRule);
}

struct CountLine {
  std::string_view label;
  uint64_t count;
};

void write_count_lines(std::initializer_list<CountLine> lines, Sink& out) {
  for (const CountLine& line : lines) out.print("  {:<34}: {:>10}\n", line.label, line.count);
}

void write_all(const AccessCounts& all, Sink& out) {
  write_heading("            Trace Event Information              ", out);
  write_count_lines({{"Total records", all.records},
                     {"Locked Load/Store Operations", all.locked},
                     {"Load Operations", all.loads},
                     {"Loads - uncacheable", all.uncacheable_loads},
                     {"Loads - IO", all.io_loads},
                     {"Loads - Miss", all.missing_loads},
                     {"Loads - no mapping", all.loads_without_address},
                     {"Load Fill Buffer Hit", all.fill_buffer_hits},
                     {"Load L1D hit", all.l1_hits},
                     {"Load L2D hit", all.l2_hits},
                     {"Load LLC hit", all.llc_hits + all.local_hitm},
                     {"Load Local HITM", all.local_hitm},
                     {"Load Remote HITM", all.remote_hitm},
                     {"Load Remote HIT", all.remote_hits},
                     {"Load Local DRAM", all.local_memory},
                     {"Load Remote DRAM", all.remote_memory},
                     {"Load MESI State Exclusive", all.exclusive},
                     {"Load MESI State Shared", all.shared},
                     {"Load LLC Misses", all.llc_misses()},
                     {"Load access blocked by data", all.blocked_by_data},
                     {"Load access blocked by address", all.blocked_by_address},
                     {"Load HIT Local Peer", all.local_peer},
                     {"Load HIT Remote Peer", all.remote_peer}},
                    out);
  for (auto [label, count] : {CountLine{"LLC Misses to Local DRAM", all.local_memory},
                              {"LLC Misses to Remote DRAM", all.remote_memory},
                              {"LLC Misses to Remote cache (HIT)", all.remote_hits},
                              {"LLC Misses to Remote cache (HITM)", all.remote_hitm}})
    out.print("  {:<34}: {:>10.1f}%\n", label, percent(count, all.llc_misses()));
  write_count_lines({{"Store Operations", all.stores},
                     {"Store - uncacheable", all.uncacheable_stores},
                     {"Store - no mapping", all.stores_without_address},
                     {"Store L1D Hit", all.store_l1_hits},
                     {"Store L1D Miss", all.store_l1_misses},
                     {"Store No available memory level", all.stores_of_unknown_level},
                     {"No Page Map Rejects", all.unmapped},
                     {"Unable to parse data source", all.unparsed}},
                    out);
}

void write_shared(const CacheLines& lines, Sink& out) {
  const AccessCounts& shared = lines.shared;
  write_heading("    Global Shared Cache Line Event Information   ", out);
  write_count_lines(
      {{"Total Shared Cache Lines", lines.shared_lines},
       {"Load HITs on shared lines", shared.loads},
       {"Fill Buffer Hits on shared lines", shared.fill_buffer_hits},
       {"L1D hits on shared lines", shared.l1_hits},
       {"L2D hits on shared lines", shared.l2_hits},
       {"LLC hits on shared lines", shared.llc_hits + shared.local_hitm},
       {"Load hits on peer cache or nodes", shared.all_peer()},
       {"Locked Access on shared lines", shared.locked},
       {"Blocked Access on shared lines", shared.blocked_by_data + shared.blocked_by_address},
       {"Store HITs on shared lines", shared.stores},
       {"Store L1D hits on shared lines", shared.store_l1_hits},
       {"Store No available memory level", shared.stores_of_unknown_level},
       {"Total Merged records", shared.all_hitm() + shared.stores}},
      out);
}

std::string memory_nodes_text(const Places& places) {
  return places.memory_nodes.empty() ? std::string(kNoNode) : places.memory_nodes.text();
}

class Tables {
 public:
  Tables(const CacheLines& lines, const Named& named, const Nodes& nodes, const Options& options,
         Sink& out)
      : lines_(lines),
        texts_(named.texts),
        trees_(named.trees),
        nodes_(nodes),
        options_(options),
        out_(out) {
    for (const CacheLine& line : lines.lines) {
      widen(line_node_width_, memory_nodes_text(line.places));
      for (const LineRow& row : line.rows) widen(row_node_width_, memory_nodes_text(row.places));
    }
  }

  void write_details(const std::vector<std::string>& events) {
    write_heading("                 c2c details                     ", out_);
    std::string_view label = "Events";
    for (const std::string& event : events) {
      out_.print("  {:<34}: {}\n", label, event);
      label = "";
    }
    out_.print("  {:<34}: {}\n  {:<34}: {}\n", "Cachelines sort on", display_name(),
               "Cacheline data grouping", grouping());
  }

  void write_table() {
    bool is_peer = options_.display == Display::kPeer;
    TextTable table;
    table.add({"", "Index", 5});
    table.add({"----------- Cacheline ----------", "Address", kAddressWidth, 3});
    table.add({"", "Node", line_node_width_});
    table.add({"", "PA cnt", 6});
    constexpr std::string_view kChosen[] = {"Tot", "Lcl", "Rmt", "Peer"};
    table.add({std::string(kChosen[static_cast<size_t>(options_.display)]),
               is_peer ? "Snoop" : "Hitm", 7});
    table.add({is_peer ? "------- Load Peer -------" : "------- Load Hitm -------", "Total", 7, 3});
    table.add({"", is_peer ? "Local" : "LclHitm", 7});
    table.add({"", is_peer ? "Remote" : "RmtHitm", 7});
    table.add({"Total", "records", 7});
    table.add({"Total", "Loads", 7});
    table.add({"Total", "Stores", 7});
    table.add({"--------- Stores --------", "L1Hit", 7, 3});
    table.add({"", "L1Miss", 7});
    table.add({"", "N/A", 7});
    table.add({"----- Core Load Hit -----", "FB", 7, 3});
    table.add({"", "L1", 7});
    table.add({"", "L2", 7});
    table.add({"- LLC Load Hit --", "LclHit", 8, 2});
    table.add({"", "LclHitm", 7});
    table.add({"- RMT Load Hit --", "RmtHit", 8, 2});
    table.add({"", "RmtHitm", 7});
    table.add({"--- Load Dram ----", "Lcl", 8, 2});
    table.add({"", "Rmt", 8});
    table.write_titles(out_);
    for (size_t i = 0; i < lines_.lines.size(); ++i) {
      if (out_.failed() != 0) return;
      table.write_row(line_cells(i), out_);
    }
  }

  void write_pareto() {
    write_heading("      Shared Cache Line Distribution Pareto      ", out_);
    out_.write("#\n");
    for (size_t i = 0; i < lines_.lines.size(); ++i) {
      if (out_.failed() != 0) return;
      if (i != 0) out_.put('\n');
      write_line(i, i == 0);
    }
  }

  /// The rows of one line.
  void write_line(size_t index, bool with_titles) {
    constexpr std::string_view kLineRule =
        "  ----------------------------------------------------------------------\n";
    const CacheLine& line = lines_.lines[index];
    const AccessCounts& counts = line.counts;
    bool is_peer = options_.display == Display::kPeer;
    TextTable table = row_table(line);
    if (with_titles) table.write_titles(out_);
    out_.write_lines(kLineRule);
    out_.print("  {:>5}", index);
    for (uint64_t count : {is_peer ? counts.remote_peer : counts.remote_hitm,
                           is_peer ? counts.local_peer : counts.local_hitm, counts.store_l1_hits,
                           counts.store_l1_misses, counts.stores_of_unknown_level})
      out_.print("  {:>7}", count);
    out_.print("  {:>#{}x}\n", line.address, kAddressWidth);
    out_.write_lines(kLineRule);
    for (const LineRow& row : line.rows) {
      if (displayed(row.counts, options_.display) == 0 && row.counts.stores == 0) continue;
      table.write_row(row_cells(line, row), out_);
      trees_.write(row, line.period, out_);
    }
  }

 private:
  static void widen(size_t& width, std::string_view text) { width = std::max(width, text.size()); }

  [[nodiscard]] std::string_view display_name() const {
    constexpr std::string_view kNames[] = {"Total HITMs", "Local HITMs", "Remote HITMs",
                                           "Peer Snoop"};
    return kNames[static_cast<size_t>(options_.display)];
  }
  [[nodiscard]] std::string grouping() const {
    std::string text = "offset";
    constexpr std::string_view kWords[] = {"pid", "tid", "iaddr", "dso"};
    for (RowField field : options_.fields) {
      text += ',';
      text += kWords[static_cast<size_t>(field)];
    }
    return text;
  }
  [[nodiscard]] bool has(RowField field) const {
    return std::ranges::find(options_.fields, field) != options_.fields.end();
  }
  [[nodiscard]] size_t symbol_limit() const { return options_.full_symbols ? 0 : kSymbolWidth; }
  [[nodiscard]] bool shows_object() const { return has(RowField::kCode) || has(RowField::kObject); }
  [[nodiscard]] bool shows_source() const { return has(RowField::kCode) && options_.source_lines; }

  [[nodiscard]] std::vector<std::string> line_cells(size_t index) const {
    const CacheLine& line = lines_.lines[index];
    const AccessCounts& counts = line.counts;
    bool is_peer = options_.display == Display::kPeer;
    std::vector<std::string> cells = {
        std::to_string(index), fmt::format("{:#x}", line.address), memory_nodes_text(line.places),
        std::to_string(line.places.physical_changes),
        percent_text(displayed(counts, options_.display), displayed(lines_.all, options_.display))};
    for (uint64_t count :
         {is_peer ? counts.all_peer() : counts.all_hitm(),
          is_peer ? counts.local_peer : counts.local_hitm,
          is_peer ? counts.remote_peer : counts.remote_hitm, counts.served(), counts.served_loads(),
          counts.stores, counts.store_l1_hits, counts.store_l1_misses,
          counts.stores_of_unknown_level, counts.fill_buffer_hits, counts.l1_hits, counts.l2_hits,
          counts.llc_hits, counts.local_hitm, counts.remote_hits, counts.remote_hitm,
          counts.local_memory, counts.remote_memory})
      cells.push_back(std::to_string(count));
    return cells;
  }

  /// The columns of a line's rows; those of names are as wide as that line needs.
  [[nodiscard]] TextTable row_table(const CacheLine& line) const {
    bool is_peer = options_.display == Display::kPeer;
    TextTable table;
    table.add({"", "Num", 5});
    table.add(
        {is_peer ? "-- Peer Snoop --" : "----- HITM -----", is_peer ? "Rmt" : "RmtHitm", 7, 2});
    table.add({"", is_peer ? "Lcl" : "LclHitm", 7});
    table.add({"------- Store Refs ------", "L1 Hit", 7, 3});
    table.add({"", "L1 Miss", 7});
    table.add({"", "N/A", 7});
    table.add({"--------- Data address ---------", "Offset", kAddressWidth, 3});
    table.add({"", "Node", row_node_width_});
    table.add({"", "PA cnt", 6});
    if (has(RowField::kPid)) table.add({"", "Pid", 7});
    size_t thread = 0, symbol = 0, object = 0, source = 0;
    for (const LineRow& row : line.rows) {
      if (has(RowField::kTid)) widen(thread, texts_.thread(row));
      if (shows_object()) {
        widen(object, texts_.object(row));
        if (texts_.has_symbol(row)) {
          widen(symbol, texts_.symbol(row, symbol_limit()));
        } else {
          symbol = std::max(symbol, kUnresolvedWidth);
          object = std::max(object, kUnresolvedDsoWidth);
        }
      }
      if (shows_source()) widen(source, texts_.source_line(row));
    }
    if (has(RowField::kTid)) table.add({"", "Tid", thread, 0, true});
    if (has(RowField::kCode)) table.add({"", "Code address", kAddressWidth});
    table.add({"---------- cycles ----------", is_peer ? "rmt peer" : "rmt hitm", 8, 3});
    table.add({"", is_peer ? "lcl peer" : "lcl hitm", 8});
    table.add({"", "load", 8});
    table.add({"Total", "records", 7});
    table.add({"cpu", "cnt", 8});
    if (has(RowField::kCode)) table.add({"", "Symbol", symbol, 0, true});
    if (shows_object()) table.add({"Shared", "Object", object, 0, true});
    if (shows_source())
      table.add(
          {"", "Source:Line", std::max(source, std::string_view("Source:Line").size()), 0, true});
    constexpr std::string_view kNodeTitles[] = {"Node", "Node{cpus %hitms %stores}",
                                                "Node{cpu list}"};
    std::string_view title = kNodeTitles[static_cast<size_t>(options_.node_info)];
    if (is_peer && options_.node_info == NodeInfo::kShares) title = "Node{cpus %peers %stores}";
    table.add({"", std::string(title), 4, 0, true});
    return table;
  }

  [[nodiscard]] std::vector<std::string> row_cells(const CacheLine& line,
                                                   const LineRow& row) const {
    bool is_peer = options_.display == Display::kPeer;
    const AccessCounts& of_row = row.counts;
    const AccessCounts& of_line = line.counts;
    std::vector<std::string> cells = {""};
    auto add_share = [&](uint64_t AccessCounts::* count) {
      cells.push_back(percent_text(of_row.*count, of_line.*count));
    };
    add_share(is_peer ? &AccessCounts::remote_peer : &AccessCounts::remote_hitm);
    add_share(is_peer ? &AccessCounts::local_peer : &AccessCounts::local_hitm);
    add_share(&AccessCounts::store_l1_hits);
    add_share(&AccessCounts::store_l1_misses);
    add_share(&AccessCounts::stores_of_unknown_level);
    cells.push_back(fmt::format("{:#x}", row.offset));
    cells.push_back(memory_nodes_text(row.places));
    cells.push_back(std::to_string(row.places.physical_changes));
    if (has(RowField::kPid)) cells.push_back(std::to_string(static_cast<int32_t>(texts_.pid(row))));
    if (has(RowField::kTid)) cells.push_back(texts_.thread(row));
    if (has(RowField::kCode)) cells.push_back(fmt::format("{:#x}", row.code));
    for (const Mean* mean : {is_peer ? &row.remote_peer : &row.remote_hitm,
                             is_peer ? &row.local_peer : &row.local_hitm, &row.other_loads})
      cells.push_back(fmt::format("{:.0f}", mean->value()));
    cells.push_back(std::to_string(of_row.served()));
    cells.push_back(std::to_string(row.places.cpus.size()));
    if (has(RowField::kCode)) cells.push_back(texts_.symbol(row, symbol_limit()));
    if (shows_object()) cells.push_back(texts_.object(row));
    if (shows_source()) cells.push_back(texts_.source_line(row));
    cells.push_back(nodes_text(row));
    return cells;
  }

  [[nodiscard]] std::string nodes_text(const LineRow& row) const {
    std::string text;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      IdSet cpus = nodes_.cpus_of(node, row.places.cpus);
      if (cpus.empty()) {
        if (options_.node_info == NodeInfo::kShares) text += std::string(21, ' ');
        continue;
      }
      if (!text.empty()) text += ' ';
      append_node(row, static_cast<uint32_t>(node), cpus, text);
    }
    return text;
  }

  void append_node(const LineRow& row, uint32_t node, const IdSet& cpus, std::string& text) const {
    auto to = std::back_inserter(text);
    fmt::format_to(to, "{:>2}", node);
    if (options_.node_info == NodeInfo::kCpus) fmt::format_to(to, "{{{}}}", cpus.text());
    if (options_.node_info != NodeInfo::kShares) return;
    auto found = row.by_node.find(node);
    AccessCounts of_node = found == row.by_node.end() ? AccessCounts() : found->second;
    auto append_share = [&](uint64_t part, uint64_t whole) {
      if (whole == 0)
        fmt::format_to(to, " {:>6}", "n/a");
      else
        fmt::format_to(to, " {:5.1f}%", percent(part, whole));
    };
    fmt::format_to(to, "{{{:>2}", cpus.size());
    append_share(displayed(of_node, options_.display), displayed(row.counts, options_.display));
    append_share(of_node.stores, row.counts.stores);
    text += '}';
  }

  const CacheLines& lines_;
  const RowTexts& texts_;
  const RowTrees& trees_;
  const Nodes& nodes_;
  const Options& options_;
  Sink& out_;
  size_t line_node_width_ = 4, row_node_width_ = 4;
};

}  // namespace

void write_counts(const CacheLines& lines, Sink& out) {
  write_all(lines.all, out);
  out.put('\n');
  write_shared(lines, out);
}

void write_lines(const CacheLines& lines, const Named& named, const Nodes& nodes,
                 const Options& options, const std::vector<std::string>& events, Sink& out) {
  Tables tables(lines, named, nodes, options, out);
  out.put('\n');
  tables.write_details(events);
  if (options.only_counts) return;
  out.put('\n');
  write_heading("           Shared Data Cache Line Table          ", out);
  out.write("#\n");
  tables.write_table();
  out.put('\n');
  tables.write_pareto();
}

void write_line_table(const CacheLines& lines, const Named& named, const Nodes& nodes,
                      const Options& options, Sink& out) {
  Tables(lines, named, nodes, options, out).write_table();
}

void write_line_rows(const CacheLines& lines, size_t index, const Named& named, const Nodes& nodes,
                     const Options& options, Sink& out) {
  Tables(lines, named, nodes, options, out).write_line(index, true);
}

}  // namespace sonde::c2c
