// A command that is another one behind options of its own: `mem report -p` is `report --mem-mode
// …`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace sonde {

class FrontCommand : public Command {
 public:
  Result<> configure(const Config& config) override { return behind_->configure(config); }
  void declare(FlagTable& flags) final;
  [[nodiscard]] bool paged() const override { return behind_->paged(); }
  /// Gives the command behind its words and runs it.
  Result<int> run(Env& env, const Arguments& arguments) override;

 protected:
  explicit FrontCommand(std::unique_ptr<Command> behind) : behind_(std::move(behind)) {}

  /// Usage, description and own flags. Those hide flags of the command behind that have the same
  /// letter or name.
  virtual void declare_own(FlagTable& flags) = 0;
  /// Words for the command behind that follow from own flags; they take effect after the user's.
  virtual Result<std::vector<std::string>> words_behind(Env& env) = 0;

 private:
  std::unique_ptr<Command> behind_;
  FlagTable behind_flags_;
};

}  // namespace sonde
