#include "cli/command_preset.h"

#include <variant>

#include "cli/flag_parser.h"

namespace sonde {
namespace {

class Preset final : public Command {
 public:
  Preset(std::unique_ptr<Command> command, std::vector<std::string> words,
         std::string_view description)
      : command_(std::move(command)), words_(std::move(words)), description_(description) {}

  Result<> configure(const Config& config) override { return command_->configure(config); }
  void declare(FlagTable& flags) override {
    command_->declare(flags);
    flags.description(description_);
    outcome_ = parse_flags(flags, words_);
  }
  [[nodiscard]] bool paged() const override { return command_->paged(); }
  Result<int> run(Env& env, const Arguments& arguments) override {
    if (const auto* bad = std::get_if<BadFlags>(&outcome_))
      return std::unexpected(Error{ErrorCode::kFailed, bad->message});
    if (const auto* error = std::get_if<Error>(&outcome_)) return std::unexpected(*error);
    return command_->run(env, arguments);
  }

 private:
  std::unique_ptr<Command> command_;
  std::vector<std::string> words_;
  std::string_view description_;
  ParseOutcome outcome_;
};

}  // namespace

std::unique_ptr<Command> preset(std::unique_ptr<Command> command, std::vector<std::string> words,
                                std::string_view description) {
  return std::make_unique<Preset>(std::move(command), std::move(words), description);
}

}  // namespace sonde
