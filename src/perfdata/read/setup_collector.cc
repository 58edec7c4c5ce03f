#include "perfdata/read/setup_collector.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "event/pmu/event_name.h"
#include "perfdata/header/feature_decoder.h"
#include "perfdata/header/tracing_data.h"
#include "perfdata/records/damage.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

constexpr std::string_view kAnonymousGroup = "{anon_group}";

}  // namespace

uint64_t SetupCollector::trailing_size(const RecordView& record) const {
  constexpr uint64_t kAlignment = 8;
  ByteCursor in(record.payload, record.order);
  if (record.type == abi::kRecordAuxtrace) return in.u64();
  if (record.type != abi::kRecordHeaderTracingData || !is_pipe_) return 0;
  return (uint64_t{in.u32()} + kAlignment - 1) / kAlignment * kAlignment;
}

void SetupCollector::apply(const RecordView& record, Bytes trailing) {
  switch (record.type) {
    case abi::kRecordHeaderAttr:
      return apply_attr(record);
    case abi::kRecordEventUpdate:
      return apply_update(record);
    case abi::kRecordHeaderEventType:
      if (auto type = decode_user<EventTypeRecord>(record))
        add_tracepoint_name(type->id, type->name);
      return;
    case abi::kRecordHeaderTracingData:
      if (!trailing.empty()) add_feature(abi::kFeatureTracingData, trailing, record.order);
      return;
    case abi::kRecordHeaderBuildId:
      return apply_build_id(record);
    case abi::kRecordHeaderFeature:
      // A feature without content whose number is one past the last that its writer knows marks the
      // end of the features; in a perf that does not know CPU_DOMAIN_INFO, that is its number.
      if (auto feature = decode_user<HeaderFeatureRecord>(record);
          feature && feature->feature < abi::kFeatureBits &&
          !(feature->feature == abi::kFeatureCpuDomainInfo && feature->content.empty()) &&
          !abi::feature_name(static_cast<uint32_t>(feature->feature)).empty())
        add_feature(static_cast<uint32_t>(feature->feature), feature->content, record.order);
      return;
    case abi::kRecordIdIndex:
      return apply_id_index(record);
    default:
      return;
  }
}

void SetupCollector::add_feature(uint32_t bit, Bytes content, ByteOrder order) {
  dirty_ = true;
  decode(bit, content, order);
}

void SetupCollector::decode(uint32_t bit, Bytes content, ByteOrder order) {
  auto place = std::ranges::lower_bound(features_->present, bit);
  if (place == features_->present.end() || *place != bit) features_->present.insert(place, bit);
  // Of some, being there is all they say (BRANCH_STACK). Others are empty if a recorder could not
  // fill them (perf's CPUDESC on some machines).
  if (!decode_feature(bit, content, order, *features_) && !content.empty())
    losses_->add(LossKind::k_bad_feature, 1, abi::feature_name(bit));
}

void SetupCollector::add_tracepoint_name(uint64_t config, std::string_view name) {
  if (!name.empty()) tracepoint_names_.insert({config, std::string(name)});
}

void SetupCollector::apply_attr(const RecordView& record) {
  if (!is_pipe_) return;
  auto header = decode_user<HeaderAttrRecord>(record);
  if (!header) {
    add_damaged(record, kShortRecord, *losses_);
    return;
  }
  EventDesc event;
  event.attr = header->attr;
  for (size_t i = 0; i < header->ids.size(); ++i) event.ids.push_back(header->ids[i]);
  events_->add(std::move(event));
  dirty_ = true;
}

/// A recorder writes build ids as it learns them, and all of them into the section at its end: what
/// is known already is not added again.
void SetupCollector::apply_build_id(const RecordView& record) {
  auto entry = decode_build_id(record);
  if (!entry) {
    add_damaged(record, kShortRecord, *losses_);
    return;
  }
  auto key = [](const BuildIdEntry& of, uint64_t inode) {
    return std::tuple(of.build_id, of.path, of.pid, inode);
  };
  if (build_ids_.empty())
    for (const BuildIdEntry& known : features_->build_ids)
      build_ids_.insert(key(known, known.file.inode));
  if (build_ids_.contains(key(*entry, 0)) ||
      !build_ids_.insert(key(*entry, entry->file.inode)).second)
    return;
  features_->build_ids.push_back(std::move(*entry));
}

void SetupCollector::apply_update(const RecordView& record) {
  auto update = decode_user<EventUpdateRecord>(record);
  // Says nothing about events, and nothing of it is kept as a view.
  if (update && update->kind == EventUpdateKind::kInterpretedFiles)
    return decode(abi::kFeatureInterpretedFiles, update->files, record.order);
  EventId id = update ? events_->by_id(update->id) : EventId();
  if (!id.valid()) {
    add_damaged(record, update ? "it is about an unknown event" : kShortRecord, *losses_);
    return;
  }
  EventDesc& event = events_->edit(id);
  switch (update->kind) {
    case EventUpdateKind::kUnit:
      event.unit = update->text;
      break;
    case EventUpdateKind::kScale:
      event.scale = update->scale;
      break;
    case EventUpdateKind::kCpus:
      event.own_cpus = update->cpus.cpus;
      break;
    case EventUpdateKind::kName:
      event.name = update->text;
      named_.resize(std::max(named_.size(), id.index() + 1));
      named_[id.index()] = true;
      break;
    case EventUpdateKind::kInterpretedFiles:
      break;
  }
}

/// Only guests' ids are kept: which CPU an id is of, no reader of samples asks.
void SetupCollector::apply_id_index(const RecordView& record) {
  auto index = decode_user<IdIndexRecord>(record);
  if (!index || index->guests.empty()) return;
  uint64_t beyond = 0;
  for (size_t i = 0; i < index->size(); ++i) {
    IdIndexRecord::Entry entry = index->entry(i);
    auto guest = index->guest(i);
    if (!guest || guest->machine_pid == 0) continue;
    auto pid = static_cast<uint32_t>(guest->machine_pid);
    if (!events_->edit_guests().add(entry.id, pid, static_cast<uint32_t>(guest->vcpu),
                                    static_cast<uint32_t>(entry.tid)))
      ++beyond;
  }
  if (beyond > 0)
    add_damaged(record, "it names more than 256 guests, of which the others count as the host",
                *losses_);
}

std::string SetupCollector::tracepoint_name(uint64_t config) {
  if (!tracing_data_read_ && !features_->tracing_data.empty()) {
    tracing_data_read_ = true;
    TracingData tracing = TracingData::parse(features_->tracing_data);
    for (const TracingData::Format& format : tracing.formats())
      add_tracepoint_name(format.id, fmt::format("{}:{}", format.system, format.name));
  }
  auto found = tracepoint_names_.find(config);
  return found == tracepoint_names_.end() ? std::string() : found->second;
}

/// By type and config: simpleperf lists its events as lines of "name,type,config".
SetupCollector::SimpleperfNames SetupCollector::simpleperf_names() const {
  SimpleperfNames names;
  for (const auto& [key, value] : features_->simpleperf_meta) {
    if (key != "event_type_info") continue;
    for (std::string_view line : split(value, '\n')) {
      auto fields = split(line, ',');
      if (fields.size() < 3) continue;
      auto type = parse_number(fields[1]), config = parse_number(fields[2]);
      if (type && config) names.try_emplace({*type, *config}, fields[0]);
    }
  }
  return names;
}

void SetupCollector::name_event(EventDesc& event, size_t index, const SimpleperfNames& simpleperf) {
  const auto& described = features_->event_descriptions;
  if (index < described.size() && !described[index].name.empty()) {
    event.name = described[index].name;
    named_[index] = true;
    return;
  }
  event.name.clear();
  if (event.attr.type == abi::kTypeTracepoint)
    event.name = tracepoint_name(event.attr.config);
  else if (auto known = simpleperf.find({event.attr.type, event.attr.config});
           known != simpleperf.end())
    event.name = known->second;
  if (event.name.empty()) event.name = event_name(event.attr);
}

void SetupCollector::set_groups() {
  size_t ungrouped = 0;  // groups are in the order of their events, and share none
  for (const GroupDesc& group : features_->groups) {
    if (group.leader_index >= events_->size() || group.leader_index < ungrouped) continue;
    EventId leader(size_t{group.leader_index});
    size_t end =
        std::min<uint64_t>(events_->size(), uint64_t{group.leader_index} + group.member_count);
    ungrouped = end;
    EventDesc& first = events_->edit(leader);
    first.group_name = group.name == kAnonymousGroup ? std::string() : group.name;
    first.group_size = static_cast<uint32_t>(std::max<size_t>(1, end - leader.index()));
    for (size_t i = leader.index(); i < end; ++i) events_->edit(EventId(i)).leader = leader;
  }
}

bool SetupCollector::finalize() {
  if (!dirty_) return false;
  dirty_ = false;
  named_.resize(events_->size());
  SimpleperfNames simpleperf = simpleperf_names();
  for (size_t i = 0; i < events_->size(); ++i)
    if (!named_[i]) name_event(events_->edit(EventId(i)), i, simpleperf);
  set_groups();
  return true;
}

}  // namespace sonde
