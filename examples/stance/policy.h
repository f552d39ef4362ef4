// What training makes: an actor and a critic, and the statistics that observations are normalised with.
#pragma once

#include <string>
#include <vector>

namespace stance {

/// One affine layer, y = W x + b.
struct Layer {
  int in = 0, out = 0;
  std::vector<double> weight;  ///< (out, in), row-major
  std::vector<double> bias;    ///< (out)
};

/// Layers with ELU (alpha 1) between them, none after the last.
struct Mlp {
  std::vector<Layer> layer;

  std::vector<double> operator()(std::vector<double> x) const;
};

/// Running mean and variance of raw observations.
struct Normaliser {
  std::vector<double> mean, var;  ///< (nobs)
  double count = 0;               ///< samples behind them, at most 2e6

  static constexpr double kEpsilon = 1e-4;  ///< added to the variance
  static constexpr double kClip = 8;        ///< normalised values are cut to +- this
  /// clip((x - mean) / sqrt(var + epsilon))
  std::vector<double> operator()(const std::vector<double>& raw) const;
};

/// A policy for one body. The actor gives the mean action; log_std is that of the noise in training.
struct Policy {
  std::string body;  ///< stick, simple, muscular: decides the layout of observations and actions
  int nobs = 0, nact = 0;
  Mlp actor, critic;
  std::vector<double> log_std;  ///< (nact)
  Normaliser normaliser;

  /// Mean action of a raw observation.
  std::vector<double> act(const std::vector<double>& observation) const { return actor(normaliser(observation)); }
};

}  // namespace stance
