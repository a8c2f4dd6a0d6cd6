#include "train/noted_rises.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

// The names of the events as they stand in events.jsonl, in order.
std::vector<std::string> names(const std::vector<RiseNews>& news) {
  std::vector<std::string> all;
  for (const RiseNews& one : news)
    for (const RunEvent::What& what : one.events) {
      const std::string text = to_text(RunEvent{100, what});
      const std::size_t at = text.find("\"event\":\"") + 9;
      all.push_back(text.substr(at, text.find('"', at) - at));
    }
  return all;
}

using Names = std::vector<std::string>;

TEST(NotedRises, TellsEachOnceAndWithdrawsWhatIsGone) {
  NotedRises noted;
  Findings findings;
  EXPECT_TRUE(noted.update(findings).empty());
  findings.first_rise = {.step = 40, .from = 0.03, .to = 0.25};
  EXPECT_EQ(names(noted.update(findings)), (Names{"first-rise"}));
  findings.moments.push_back({.step = 300, .from = 0.25, .to = 1});
  const std::vector<RiseNews> news = noted.update(findings);
  EXPECT_EQ(names(news), (Names{"plateau", "moment"}));
  ASSERT_TRUE(news.back().confirmed);
  EXPECT_EQ(news.back().confirmed->step, 300);
  EXPECT_TRUE(noted.update(findings).empty());
  findings.moments.clear();
  EXPECT_EQ(names(noted.update(findings)), (Names{"moment-withdrawn"}));
}

TEST(NotedRises, AMomentThatTurnsOutToBeGrokkingIsWithdrawn) {
  NotedRises noted;
  Findings findings;
  findings.moments.push_back({.step = 900, .from = 0.1, .to = 1});
  noted.update(findings);
  std::swap(findings.moments, findings.groks);
  EXPECT_EQ(names(noted.update(findings)), (Names{"moment-withdrawn", "plateau", "grokking"}));
  findings.groks.clear();
  EXPECT_EQ(names(noted.update(findings)), (Names{"grokking-withdrawn"}));
}

TEST(NotedRises, EventsAreReadBack) {
  const RunEvent first = parse_event(to_text({50, FirstRiseSeen{40, 0.03, 0.25}}), "the file");
  ASSERT_TRUE(std::get_if<FirstRiseSeen>(&first.what));
  EXPECT_EQ(std::get<FirstRiseSeen>(first.what).to, 0.25);
  const RunEvent grok = parse_event(to_text({950, GrokkingConfirmed{900, 0.1, 1, 0.7}}), "the file");
  ASSERT_TRUE(std::get_if<GrokkingConfirmed>(&grok.what));
  EXPECT_EQ(std::get<GrokkingConfirmed>(grok.what).score, 0.7);
}

}  // namespace
}  // namespace eureka
