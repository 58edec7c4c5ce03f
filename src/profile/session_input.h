// A replayed session as the input of a profile.
#pragma once

#include <mutex>
#include <optional>

#include <tsl/robin_map.h>

#include "profile/keys/wakers.h"
#include "profile/profile_input.h"
#include "replay/session.h"

namespace sonde {

/// Holds references to the session, which must outlive it.
class SessionInput final : public SymbolNames, public SampleDetails {
 public:
  explicit SessionInput(const Session& session);
  [[nodiscard]] ProfileInput input() const;

  [[nodiscard]] std::string_view name(SymbolId symbol) const override;
  [[nodiscard]] std::string identity(SymbolId symbol) const override;
  [[nodiscard]] std::pair<uint64_t, uint64_t> range(SymbolId symbol) const override;
  [[nodiscard]] bool is_data(SymbolId symbol) const override;
  [[nodiscard]] char origin(DsoId dso) const override;
  [[nodiscard]] std::string srcline(DsoId dso, uint64_t address) const override;
  [[nodiscard]] std::string srcfile(DsoId dso, uint64_t address) const override;

  bool decode(size_t sample, Sample& out) const override;
  void chain_addresses(const Sample& sample, size_t index,
                       std::vector<uint64_t>& out) const override;
  [[nodiscard]] const Machine* machine_of_chains() const override;
  void branch_path(const Sample& sample, size_t index, std::vector<PathStep>& out) const override;
  [[nodiscard]] Frame resolve(size_t sample, uint64_t address) const override;
  [[nodiscard]] Frame resolve_anywhere(size_t sample, uint64_t address) const override;
  [[nodiscard]] uint64_t shown_address(const Frame& frame) const override;
  [[nodiscard]] std::string_view last_comm(uint32_t tid) const override;
  [[nodiscard]] int socket_of(uint32_t cpu) const override;
  [[nodiscard]] std::string_view cgroup_path(uint64_t id) const override;
  [[nodiscard]] Machine::Namespace cgroup_namespace(size_t sample) const override;
  [[nodiscard]] const Mapping* mapping_at(size_t sample, uint64_t address) const override;
  [[nodiscard]] bool may_wait(size_t sample) const override;
  [[nodiscard]] std::string_view waker_of(const Sample& wait) const override;
  [[nodiscard]] uint64_t mapped_size(size_t sample) const override;

 private:
  [[nodiscard]] bool has_branch_path(EventId event) const;
  [[nodiscard]] bool has_chains_by_address() const;

  const Session& session_;
  bool chains_by_address_;  // each table asks
  mutable std::once_flag wakers_made_;
  mutable std::optional<Wakers> wakers_;              // made on first use
  tsl::robin_map<uint32_t, uint64_t> module_starts_;  // by DsoId
};

}  // namespace sonde
