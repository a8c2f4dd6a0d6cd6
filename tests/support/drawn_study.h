// Directories of runs and studies as eureka leaves them, written by hand: for those who only show them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "io/json.h"

namespace eureka {

inline void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

struct DrawnRun {
  std::int64_t seed = 1, steps = 1000, every = 25;
  std::optional<double> moment = 500;
  std::string rule = "softmax";
};

inline void write_run(const fs::path& directory, const DrawnRun& run) {
  std::string metrics;
  for (std::int64_t step = 0; step <= run.steps; step += run.every) {
    const double rise = run.moment ? 1 / (1 + std::exp((*run.moment - static_cast<double>(step)) / 20)) : 0;
    const double value = step == 0 ? 0.1 : 0.55 + 0.45 * rise;
    metrics += fmt::format(
        "{{\"step\":{},\"val_accuracy\":{},\"val_loss\":{},\"train_loss\":{},\"attention/entropy/"
        "layer0\":{},\"attention/entropy/layer0/head0\":{}}}\n",
        step, value, 1.5 - value, 1.6 - value, 1 - value, 0.9 - value / 2);
  }
  write_text(directory / "metrics.jsonl", metrics);
  Json moment = {{"found", false}, {"step", nullptr}, {"plateau_level", 0.55}, {"level_after", nullptr}};
  if (run.moment)
    moment = {{"found", true},
              {"step", *run.moment},
              {"plateau_level", 0.55},
              {"level_after", 1.0},
              {"rise_start", *run.moment - 40},
              {"rise_end", *run.moment + 40},
              {"score", 0.9}};
  write_text(directory / "summary.json", Json{{"status", "finished"},
                                              {"steps", run.steps},
                                              {"seed", run.seed},
                                              {"task", "two-step"},
                                              {"model", "transformer"},
                                              {"attention", run.rule},
                                              {"parameters", 100},
                                              {"task_plateau_accuracy", 0.55},
                                              {"final_validation_accuracy", run.moment ? 1.0 : 0.55},
                                              {"final_validation_loss", 0.1},
                                              {"moment", moment}}
                                             .dump(2));
  write_text(directory / "meta.json", Json{{"version", "0.1.0"},
                                           {"status", "finished"},
                                           {"seed", run.seed},
                                           {"host", "h"},
                                           {"cores", 2},
                                           {"engine", "fused"},
                                           {"instructions", "AVX2"},
                                           {"threads", 1},
                                           {"device", "cpu"},
                                           {"updates_done", run.steps},
                                           {"seconds_of_last_session", 1.5}}
                                          .dump(2));
  write_text(directory / "config.toml",
             fmt::format("[attention]\nrule = \"{}\"\n[run]\nseed = {}\n", run.rule, run.seed));
  if (run.moment)
    write_text(directory / "events.jsonl",
               fmt::format("{{\"step\":700,\"event\":\"plateau\",\"start\":50.0,\"end\":{0},\"level\":0.55}}\n{{"
                           "\"step\":700,\"event\":\"moment\",\"at\":{0},\"from\":0.55,\"to\":1.0,\"score\":0.9}}\n",
                           *run.moment));
}

struct DrawnStudy {
  std::vector<std::string> arms = {"softmax", "cure"};
  int seeds = 4;
  std::vector<std::string> points = {""};
  bool has_moments = true;
  std::int64_t every = 25;
};

// The first arm is the baseline; the others are sooner one after the other.
inline void write_study(const fs::path& directory, const DrawnStudy& study) {
  Json json = {{"format", "eureka-study-1"},
               {"study", "drawn"},
               {"question", "Which is sooner?"},
               {"base", "two-step"},
               {"baseline", study.arms[0]},
               {"trials_planned", study.arms.size() * study.points.size() * static_cast<std::size_t>(study.seeds)}};
  json["points"] = Json::array(), json["arms"] = Json::array(), json["trials"] = Json::array();
  for (const std::string& point : study.points) {
    const Json name = point.empty() ? Json(nullptr) : Json(point);
    Json set = Json::object();
    if (!point.empty()) set[point.substr(0, point.find('='))] = point.substr(point.find('=') + 1);
    json["points"].push_back(
        {{"name", name}, {"set", set}, {"budget", 1000.0}, {"target_accuracy", 0.95}, {"target_arm", study.arms[0]}});
    for (std::size_t a = 0; a < study.arms.size(); ++a) {
      Json survival = Json::array();
      for (int s = 1; s <= study.seeds; ++s) {
        const double moment = std::max(100.0, 600.0 - 60 * static_cast<double>(a)) + 30 * s;
        const fs::path place = fs::path(point.empty() ? "." : fmt::format("p{}", json["points"].size())) /
                               fmt::format("arm{}", a) / fmt::format("seed-{}", s);
        DrawnRun run{.seed = s, .every = study.every, .rule = fmt::format("rule{}", a)};
        run.moment = study.has_moments ? std::optional(moment) : std::nullopt;
        write_run(directory / place, run);
        const double left = 1 - static_cast<double>(s) / study.seeds;
        if (study.has_moments) survival.push_back({moment, left, left / 2, std::min(1.0, left + 0.2)});
        json["trials"].push_back({{"arm", study.arms[a]},
                                  {"point", name},
                                  {"seed", s},
                                  {"status", "finished"},
                                  {"steps", 1000},
                                  {"moment", study.has_moments ? Json(moment) : Json(nullptr)},
                                  {"final_accuracy", 1.0},
                                  {"steps_to_target", nullptr},
                                  {"directory", place.lexically_normal().generic_string()}});
      }
      Json arm = {{"name", study.arms[a]},
                  {"point", name},
                  {"n", study.seeds},
                  {"moments", study.has_moments ? study.seeds : 0},
                  {"rate", study.has_moments ? 1.0 : 0.0},
                  {"rate_ci", {0.5, 1.0}},
                  {"rmst", 650.0 - 10 * static_cast<double>(a)},
                  {"verdict_kind", a == 0 ? "baseline" : "sooner"},
                  {"verdict", study.arms[a] + " was looked at."},
                  {"survival", survival}};
      if (a > 0 && study.has_moments)
        arm.update(Json{{"speedup", 1 + 0.1 * static_cast<double>(a)},
                        {"speedup_ci", Json{Json(1.01), Json(nullptr)}},
                        {"logrank_p", 0.01}});
      json["arms"].push_back(arm);
    }
  }
  write_text(directory / "study.json", json.dump(2, Json::BadText::replace));
}

}  // namespace eureka
