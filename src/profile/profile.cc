#include "profile/profile.h"

namespace sonde {

Profile build_profile(const ProfileInput& input, KeySet& keys, std::span<const uint32_t> samples,
                      ProfileOptions options) {
  Profile profile;
  profile.options_ = std::move(options);
  profile.frames_ = std::make_unique<PathFrames>(input, keys, profile.options_.call_key);
  PathFrames& frames = *profile.frames_;

  {
    UseCollector collector(input, keys, frames, profile.options_);
    PathUses uses = collector.collect(samples);
    frames.end_learning();
    profile.tree_ = build_path_tree(uses, frames.keys_of_steps(), profile.options_, input.samples);
    profile.totals_ = uses.totals;
  }
  profile.rows_ =
      build_rows(profile.tree_, frames, keys.place_key_count(), profile.options_, input.samples);
  for (const Row& row : profile.rows_.rows)
    if (!row.hidden) profile.totals_.shown_period += row.self;
  return profile;
}

}  // namespace sonde
