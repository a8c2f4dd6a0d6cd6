#include "train/noted_rises.h"

namespace eureka {
namespace {

template <class Withdrawn, class Confirmed>
void compare(const std::vector<Moment>& rises, std::size_t& noted, std::vector<RiseNews>& news) {
  if (rises.size() < noted) {
    news.push_back({{Withdrawn{}}, {}});
    noted = rises.size();
  }
  for (; noted < rises.size(); ++noted) {
    const Moment& rise = rises[noted];
    const Plateau& plateau = rise.plateau;
    news.push_back({{PlateauConfirmed{plateau.start, plateau.end, plateau.level},
                     Confirmed{rise.step, rise.from, rise.to, rise.score}},
                    rise});
  }
}

}  // namespace

std::vector<RiseNews> NotedRises::update(const Findings& findings) {
  std::vector<RiseNews> news;
  if (findings.first_rise && !first_rise_) {
    const FirstRise& rise = *findings.first_rise;
    news.push_back({{FirstRiseSeen{rise.step, rise.from, rise.to}}, {}});
    first_rise_ = true;
  }
  compare<MomentWithdrawn, MomentConfirmed>(findings.moments, moments_, news);
  compare<GrokkingWithdrawn, GrokkingConfirmed>(findings.groks, groks_, news);
  return news;
}

}  // namespace eureka
