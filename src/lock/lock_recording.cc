#include "lock/lock_recording.h"

namespace sonde {

Result<FileScan> LockRecording::scan(const std::string& path, const OpenOptions& options,
                                     LossLedger& losses) {
  if (pipe_) return FileScan(*pipe_, losses);
  return FileScan::open(path, options, losses);
}

void LockRecording::read_head(FileScan head) {
  head_.emplace(std::move(head));
  kernel_ = std::make_unique<ScanMachine>(*head_);
  ByteOrder order = head_->facts().order;
  RecordView record;
  for (const RecordBlock& block : head_->next())
    for (RecordRange range(block, order); range.next(record);) {
      if (record.type == abi::kRecordSample || record.type >= abi::kRecordUserStart) continue;
      EventId id = head_->events().of(record);
      if (!id.valid()) id = EventId(size_t{0});
      kernel_->keep({0, id, record});
    }
  kernel_->finalize(symbols_, env_);
  kernel_->load_all();
  functions_ = LockFunctions(std::string(kernel_->symbol_source()));
}

Result<std::unique_ptr<LockRecording>> LockRecording::open(const std::string& path,
                                                           const OpenOptions& options,
                                                           const SymbolOptions& symbols,
                                                           size_t max_stack, const Env& env) {
  std::unique_ptr<LockRecording> made(new LockRecording(symbols, env));
  if (path == "-") made->pipe_.emplace(TRY(Recording::open(path, options, env.losses)));
  LossLedger counted_later;
  made->read_head(TRY(made->scan(path, options, counted_later)));
  made->scan_.emplace(TRY(made->scan(path, options, env.losses)));
  made->threads_ = std::make_unique<ScanMachine>(*made->scan_);
  made->pipeline_ =
      std::make_unique<LockPipeline>(*made->scan_, *made->threads_, max_stack, env.losses);
  return made;
}

void LockRecording::run(const LockPipeline::Take& take) {
  pipeline_->run(take);
  threads_->finalize({}, env_);
}

}  // namespace sonde
