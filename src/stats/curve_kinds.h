// The kinds of curve in the corpus: a name, whether it has moments, and how one is drawn.
#pragma once

#include <span>

#include "base/random.h"
#include "stats/curve_sketch.h"

namespace eureka {

struct CurveKind {
  const char* name;
  LabeledCurve (*make)(RandomStream&);
};

std::span<const CurveKind> kinds_with_moments();
std::span<const CurveKind> kinds_without_moments();

// Strokes that many kinds share.
Direction any_direction(RandomStream& random);

// The evaluation noise of a validation accuracy over about a thousand samples, or a few per cent of a loss.
void add_validation_noise(RandomStream& random, CurveSketch& sketch, Direction direction);

// Fast first progress from chance to the plateau; returns when it is over.
double add_first_progress(RandomStream& random, CurveSketch& sketch, double chance, double plateau);

// One to four spikes of one to three evaluations between two times.
void add_spikes(RandomStream& random, CurveSketch& sketch, double first, double last);

}  // namespace eureka
