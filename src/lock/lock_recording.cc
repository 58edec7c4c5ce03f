#include "lock/lock_recording.h"

namespace sonde {

Result<FileWalk> LockRecording::walk(const std::string& path, const OpenOptions& options,
                                     LossLedger& losses) {
  if (pipe_) return FileWalk(*pipe_, losses);
  return FileWalk::open(path, options, losses);
}

void LockRecording::read_head(FileWalk head) {
  head_.emplace(std::move(head));
  kernel_ = std::make_unique<WalkMachine>(*head_);
  ByteOrder order = head_->facts().order;
  RecordView record;
  for (const RecordBlock& block : head_->next())
    for (RecordRange range(block, order); range.next(record);) {
      if (record.type == abi::kRecordSample || record.type >= abi::kRecordUserStart) continue;
      EventId id = head_->events().of(record);
      if (!id.valid()) id = EventId(size_t{0});
      kernel_->keep({0, id, record});
    }
  kernel_->settle(symbols_, env_);
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
  made->read_head(TRY(made->walk(path, options, counted_later)));
  made->walk_.emplace(TRY(made->walk(path, options, env.losses)));
  made->threads_ = std::make_unique<WalkMachine>(*made->walk_);
  made->feed_ = std::make_unique<LockFeed>(*made->walk_, *made->threads_, max_stack, env.losses);
  return made;
}

void LockRecording::run(const LockFeed::Take& take) {
  feed_->run(take);
  threads_->settle({}, env_);
}

}  // namespace sonde
