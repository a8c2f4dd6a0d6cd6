#include "report/arm_tones.h"

namespace eureka {

void ArmTones::set_baseline(const std::string& arm) {
  known_.try_emplace(arm, figure::Tone{.color = figure::Color::ink(), .width = 2.4});
}

figure::Tone ArmTones::of(const std::string& arm) {
  const auto found = known_.find(arm);
  if (found != known_.end()) return found->second;
  using figure::Dash;
  static constexpr Dash kDashes[] = {Dash::solid, Dash::dashed, Dash::dotted, Dash::dash_dotted};
  const figure::Tone tone{.color = figure::series_color(next_), .dash = kDashes[next_ / figure::kSeriesColors % 4]};
  ++next_;
  return known_[arm] = tone;
}

figure::Tone behind(figure::Tone tone) {
  tone.width = 0.8;
  tone.dash = figure::Dash::solid;
  tone.opacity = 0.55;
  return tone;
}

}  // namespace eureka
