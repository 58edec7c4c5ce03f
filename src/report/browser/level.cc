#include "report/browser/level.h"

#include "report/data.h"

namespace sonde::report {

Result<std::unique_ptr<ReportLevel>> ReportLevel::make(const OpenRecording& recording,
                                                       ReportOptions options,
                                                       std::string_view tool) {
  Plan plan = TRY(make_plan(options, recording.session, recording.traces));
  std::unique_ptr<ReportLevel> level(new ReportLevel(std::move(options), std::move(plan)));
  level->builder_ =
      std::make_unique<ReportBuilder>(recording.session, recording.traces, level->options_,
                                      level->plan_, tool, recording.data_types);
  level->tables_ = TRY(level->builder_->build());
  if (level->builder_->samples() == 0 || level->tables_.empty())
    return fail(ErrorCode::kNotFound, "no samples are left");
  for (const auto& table : level->tables_)
    level->views_.push_back(std::make_unique<tui::TableView>(table->table));
  return level;
}

std::optional<uint32_t> ReportLevel::row() const {
  const tui::TableView& view = *views_[event_];
  if (view.empty()) return std::nullopt;
  return report().data->table_rows[view.row_at(view.cursor())];
}

std::optional<Frame> ReportLevel::frame() const {
  auto at = row();
  if (!at) return std::nullopt;
  return frame_of_row(*report().data, report().data->rows->any(*at));
}

std::optional<ZoomStep> ReportLevel::dso_step() const {
  auto found = frame();
  if (!found || !found->dso.valid()) return std::nullopt;
  return ZoomStep{ZoomStep::Kind::kDso, std::string(report().data->input.dso_name(found->dso))};
}

std::optional<ZoomStep> ReportLevel::symbol_step() const {
  auto found = frame();
  if (!found || !found->symbol.valid()) return std::nullopt;
  return ZoomStep{ZoomStep::Kind::kSymbol,
                  std::string(report().data->input.symbols.name(found->symbol))};
}

bool ReportLevel::has_key(std::string_view name) const {
  const KeySet& keys = report().data->keys;
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys.key(i).name == name) return true;
  return false;
}

std::optional<ZoomStep> ReportLevel::thread_step() const {
  auto at = row();
  if (!at) return std::nullopt;
  const EventReport::Data& data = *report().data;
  const SampleColumns& samples = data.input.samples;
  uint32_t sample = data.rows->any(*at).first_sample;
  if (has_key("comm") && !has_key("tid") && !has_key("pid"))
    return ZoomStep{ZoomStep::Kind::kComm,
                    std::string(data.input.strings.view(samples.comm[sample]))};
  return ZoomStep{ZoomStep::Kind::kTid, fmt::format("{}", recorded_task(samples.tid[sample]))};
}

}  // namespace sonde::report
