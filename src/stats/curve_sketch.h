// A learning curve being drawn for the corpus: noiseless progress over time first, then evaluations, noise and
// accidents.
//
// Time is 0 to 1 of the budget and progress 0 (nothing learned) to 1 (solved), better always up; evaluate() turns it
// into an accuracy or a loss on a grid of steps.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "stats/curve_corpus.h"

namespace eureka {

double between(RandomStream& random, double low, double high);
double log_between(RandomStream& random, double low, double high);

// 0 to 1 with 0.5 at 0 and a 10-90% width of 1: logistic, Gaussian, straight ramp, or the lopsided Gompertz curve.
enum class RiseShape { logistic, gaussian, ramp, gompertz };
double rise_shape(RiseShape shape, double u);

enum class Spacing { even, jittered, growing, gappy };

class CurveSketch {
 public:
  explicit CurveSketch(RandomStream& random) : random_(random) {}

  // Parts of the progress; they add up.
  void level(double height);
  void drift(double height);
  void exponential(double start, double height, double time_constant);
  void power_law(double height, double onset, double exponent);
  void sigmoid(double center, double width, double height);                      // smooth learning: no moment
  void moment(double center, double width, double height, bool labeled = true);  // a sudden rise of random shape
  void ripple(double amplitude, double periods);
  void loss_of_progress(double at, double height,
                        double recovery_time);  // sudden; recovers exponentially, or never if 0

  // What happens to the evaluations.
  int evaluations = 100;
  double budget = 2500;
  Spacing spacing = Spacing::even;
  double end = 1;          // the run is stopped here
  double noise = 0.02;     // standard deviation, of progress 0 to 1
  double correlation = 0;  // of the noise from one evaluation to the next
  bool binomial = false;   // noise of an accuracy over `samples` instead
  double samples = 1000;
  double walk = 0;               // a random walk that has this standard deviation at the end of the budget
  double quiet_when_solved = 0;  // share of the noise that goes away as progress approaches 1
  double dead_after = 2;         // NaN from this time on
  void spike(double at, int length, double height);

  // As an accuracy, or as a loss between 0 and `loss_scale`; a known plateau is given as progress.
  LabeledCurve evaluate(Direction direction, std::optional<double> known_plateau = {});

 private:
  struct Spike {
    double at;
    int length;
    double height;
  };
  struct Truth {
    double center, width;
  };

  double progress(double time) const;
  std::vector<double> times();

  RandomStream& random_;
  std::vector<std::function<double(double)>> parts_;
  std::vector<Truth> truths_;
  std::vector<Spike> spikes_;
};

}  // namespace eureka
