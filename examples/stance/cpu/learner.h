// The learner on the CPU: Eigen on fixed shards of rows, whose gradients are added in order, so that the number of threads changes no
// bit. Included once by each file of an instruction set.
#pragma once

// Eigen's inline functions must not be shared between instruction sets
#define BS_JOIN2(a, b) a##_##b
#define BS_JOIN(a, b) BS_JOIN2(a, b)
#define Eigen BS_JOIN(Eigen, BS_ISA)
#include <Eigen/Core>
namespace stance {
inline namespace BS_ISA {
namespace eigen = Eigen;
}
}  // namespace stance
#undef Eigen

#include <algorithm>
#include <cmath>

#include "backend/cpu/pool.h"
#include "ppo/elements.h"
#include "ppo/learner.h"

namespace stance {
inline namespace BS_ISA {

template <class T>
using Matrix = eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>;
template <class T>
using Rows = eigen::Map<Matrix<T>>;
template <class T>
using ConstRows = eigen::Map<const Matrix<T>>;

// B: packs for the elementwise loops
template <class B>
class CpuNet {
 public:
  using T = typename B::Scalar;

  explicit CpuNet(const Mlp& mlp) {
    for (const Layer& l : mlp.layer) {
      if (size_.empty()) size_.push_back(l.in);
      size_.push_back(l.out);
    }
  }
  int layers() const { return static_cast<int>(size_.size()) - 1; }
  int in() const { return size_.front(); }
  int out() const { return size_.back(); }
  size_t nparameter() const {
    size_t n = 0;
    for (int l = 0; l < layers(); l++) n += size_t(size_[l] + 1) * size_[l + 1];
    return n;
  }

  // values of each layer for a shard, and gradients by them
  struct Work {
    std::vector<Matrix<T>> y, dy;
  };
  Work work(int rows) const {
    Work w;
    for (int l = 0; l < layers(); l++) {
      w.y.emplace_back(rows, size_[l + 1]);
      w.dy.emplace_back(rows, size_[l + 1]);
    }
    return w;
  }

  // y of the last layer for rows of x
  void forward(const T* parameter, const T* x, int rows, Work& w) const {
    const T* from = x;
    for (int l = 0; l < layers(); l++) {
      const ConstRows<T> X(from, rows, size_[l]), W(parameter, size_[l + 1], size_[l]);
      const T* bias = parameter + W.size();
      Rows<T> Y(w.y[l].data(), rows, size_[l + 1]);
      Y.noalias() = X * W.transpose();
      for (int r = 0; r < rows; r++) add_bias(Y.data() + size_t(r) * size_[l + 1], bias, size_[l + 1], l + 1 < layers());
      from = Y.data();
      parameter = bias + size_[l + 1];
    }
  }

  // gradients by parameters from w.dy of the last layer, which is overwritten as those before it are
  void backward(const T* parameter, T* gradient, const T* x, int rows, Work& w) const {
    std::vector<size_t> at(1, 0);
    for (int l = 0; l < layers(); l++) at.push_back(at.back() + size_t(size_[l] + 1) * size_[l + 1]);
    for (int l = layers() - 1; l >= 0; l--) {
      Rows<T> dY(w.dy[l].data(), rows, size_[l + 1]);
      if (l + 1 < layers()) times_slope(dY.data(), w.y[l].data(), size_t(rows) * size_[l + 1]);
      const ConstRows<T> X(l ? w.y[l - 1].data() : x, rows, size_[l]), W(parameter + at[l], size_[l + 1], size_[l]);
      Rows<T> dW(gradient + at[l], size_[l + 1], size_[l]);
      dW.noalias() = dY.transpose() * X;
      T* db = gradient + at[l] + dW.size();
      std::fill_n(db, size_[l + 1], T(0));
      for (int r = 0; r < rows; r++)
        for (int o = 0; o < size_[l + 1]; o++) db[o] += dY(r, o);
      if (!l) continue;
      Rows<T> dX(w.dy[l - 1].data(), rows, size_[l]);
      dX.noalias() = dY * W;
    }
  }

  void read(const Mlp& mlp, T* parameter) const {
    for (const Layer& l : mlp.layer) {
      parameter = std::copy(l.weight.begin(), l.weight.end(), parameter);
      parameter = std::copy(l.bias.begin(), l.bias.end(), parameter);
    }
  }
  Mlp write(const T* parameter) const {
    Mlp mlp;
    for (int l = 0; l < layers(); l++) {
      Layer a{size_[l], size_[l + 1], {}, {}};
      a.weight.assign(parameter, parameter + size_t(a.in) * a.out);
      parameter += size_t(a.in) * a.out;
      a.bias.assign(parameter, parameter + a.out);
      parameter += a.out;
      mlp.layer.push_back(std::move(a));
    }
    return mlp;
  }

 private:
  using Real = typename B::Real;
  static constexpr int W = B::width;
  static Real load(const T* p) {
    Real x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  static void store(T* p, Real x) { __builtin_memcpy(p, &x, sizeof x); }

  static void add_bias(T* y, const T* bias, int n, bool bend) {
    int i = 0;
    for (; i + W <= n; i += W) {
      Real x = load(y + i) + load(bias + i);
      if (bend) x = batchsim::select(x > Real(0), x, batchsim::exp(x) - Real(1));
      store(y + i, x);
    }
    for (; i < n; i++) y[i] = bend ? elu(y[i] + bias[i]) : y[i] + bias[i];
  }
  static void times_slope(T* dy, const T* y, size_t n) {
    size_t i = 0;
    for (; i + W <= n; i += W) {
      const Real v = load(y + i);
      store(dy + i, load(dy + i) * batchsim::select(v > Real(0), Real(1), v + Real(1)));
    }
    for (; i < n; i++) dy[i] *= elu_slope(y[i]);
  }

  std::vector<int> size_;  // units of each layer, inputs first
};

template <class B>
class CpuLearner : public Learner<typename B::Scalar> {
 public:
  using T = typename B::Scalar;
  static constexpr int kRows = 128;    // of a shard in an update
  static constexpr int kActRows = 32;  // of a shard of worlds
  static constexpr int kChunk = 4096;  // parameters that a thread takes at once

  CpuLearner(const Policy& start, const PpoSettings& s, const LearnerOptions& o)
      : s_(s),
        o_(o),
        body_(start.body),
        nobs_(start.nobs),
        nact_(start.nact),
        actor_(start.actor),
        critic_(start.critic),
        pool_(o.nthread),
        normaliser_(start.normaliser),
        rate_(s.actor_rate) {
    nactor_ = actor_.nparameter() + nact_;  // log_std last
    ncritic_ = critic_.nparameter();
    const size_t n = nactor_ + ncritic_, H = s.horizon, N = o.nworld;
    parameter_.resize(n), m_.assign(n, 0), v_.assign(n, 0), gradient_.resize(n);
    actor_.read(start.actor, parameter_.data());
    std::copy(start.log_std.begin(), start.log_std.end(), log_std());
    critic_.read(start.critic, critic());
    raw_.assign((H + 1) * N * nobs_, 0), x_.assign((H + 1) * N * nobs_, 0), last_.assign(N * nobs_, 0);
    action_.resize(H * N * nact_), density_.resize(H * N), value_.resize((H + 1) * N), reward_.resize(H * N);
    advantage_.resize(H * N), return_.resize(H * N);
    done_.resize(H * N), truncated_at_.assign(N, -1);
    const int shards = (int(H * N) / s.minibatches + kRows) / kRows + 1;
    shard_gradient_.assign(shards, std::vector<T>(n));
    shard_stats_.resize(shards);
    for (int i = 0; i < pool_.size(); i++) {
      work_.push_back({actor_.work(kRows), critic_.work(kRows), std::vector<T>(size_t(kRows) * nobs_), {}});
      work_.back().row.resize(kRows);
    }
    set_scale();
  }

  T* first_observation() override { return raw_.data(); }
  void begin() override { take_in(o_.nworld); }

  const T* act(int t, uint32_t step) override {
    const int N = o_.nworld;
    for_shards(N, kActRows, [&](int first, int rows, Work& w) {
      const size_t row = size_t(t) * N + first;
      T* x = &x_[row * nobs_];
      normalise(&raw_[row * nobs_], x, rows);
      actor_.forward(parameter_.data(), x, rows, w.actor);
      critic_.forward(critic(), x, rows, w.critic);
      const T *mean = w.actor.y.back().data(), *ls = log_std();
      for (int r = 0; r < rows; r++) {
        const Stream random{o_.seed, step, uint32_t(first + r)};
        T* a = &action_[(row + r) * nact_];
        for (int k = 0; k < nact_; k += 4) {
          const Normals<T> noise = normals<T>(random.words(Purpose::kAction, uint32_t(k)));
          for (int i = k; i < std::min(k + 4, nact_); i++) a[i] = mean[r * nact_ + i] + batchsim::exp(ls[i]) * noise.v[i - k];
        }
        density_[row + r] = log_density(a, mean + r * nact_, ls, nact_);
        value_[row + r] = w.critic.y.back().data()[r];
      }
    });
    return &action_[size_t(t) * N * nact_];
  }

  const T* mean_action() override {
    for_shards(o_.nworld, kActRows, [&](int first, int rows, Work& w) {
      normalise(&raw_[size_t(first) * nobs_], w.x.data(), rows);
      actor_.forward(parameter_.data(), w.x.data(), rows, w.actor);
      std::copy_n(w.actor.y.back().data(), size_t(rows) * nact_, &action_[size_t(first) * nact_]);
    });
    return action_.data();
  }

  StepOut<T> out(int t) override {
    const size_t N = o_.nworld;
    return {&reward_[t * N], &done_[t * N], &raw_[(t + 1) * N * nobs_], last_.data(), truncated_at_.data(), t};
  }

  void update(uint32_t iteration) override {
    estimate_advantages();
    UpdateStats& stats = stats_ = {};
    const int samples = s_.horizon * o_.nworld;
    for (int epoch = 0; epoch < s_.epochs; epoch++) {
      double kl = 0, last = 0;
      for (int k = 0; k < s_.minibatches; k++) {
        const Sums sums = minibatch(iteration, epoch, int(int64_t(k) * samples / s_.minibatches),
                                    int(int64_t(k + 1) * samples / s_.minibatches), stats);
        last = sums.kl;
        kl += last / s_.minibatches;
        stats.surrogate += sums.surrogate, stats.value_loss += sums.value_loss;
      }
      stats.kl = kl;
      stats.epochs++;
      if (last > s_.stop_kl * s_.target_kl) break;
    }
    stats.surrogate /= stats.epochs * s_.minibatches, stats.value_loss /= stats.epochs * s_.minibatches;
    // not "faster" after a NaN: the comparison fails
    if (stats.kl < s_.target_kl / 2)
      rate_ = std::min(s_.most_rate, rate_ * s_.rate_factor);
    else if (stats.kl > s_.target_kl * 1.5)
      rate_ = std::max(s_.least_rate, rate_ / s_.rate_factor);
    stats.actor_rate = rate_;
    for (int k = 0; k < nact_; k++) stats.noise_std += std::exp(double(log_std()[k])) / nact_;

    take_in(samples);
    std::copy_n(&raw_[size_t(samples) * nobs_], size_t(o_.nworld) * nobs_, raw_.data());
    std::fill(truncated_at_.begin(), truncated_at_.end(), -1);
  }
  UpdateStats take_stats() override { return stats_; }
  std::vector<double> last_gradient() const override { return {gradient_.begin(), gradient_.end()}; }

  Policy policy() const override {
    Policy p;
    p.body = body_;
    p.nobs = nobs_, p.nact = nact_;
    p.actor = actor_.write(parameter_.data());
    p.critic = critic_.write(parameter_.data() + nactor_);
    p.log_std.assign(parameter_.begin() + nactor_ - nact_, parameter_.begin() + nactor_);
    p.normaliser = normaliser_;
    return p;
  }

  std::vector<double> save() const override {
    std::vector<double> s(parameter_.begin(), parameter_.end());
    s.insert(s.end(), m_.begin(), m_.end());
    s.insert(s.end(), v_.begin(), v_.end());
    s.insert(s.end(), raw_.begin(), raw_.begin() + size_t(o_.nworld) * nobs_);
    s.insert(s.end(), normaliser_.mean.begin(), normaliser_.mean.end());
    s.insert(s.end(), normaliser_.var.begin(), normaliser_.var.end());
    s.insert(s.end(), {normaliser_.count, rate_, double(adam_step_)});
    return s;
  }
  void restore(const std::vector<double>& s) override {
    const size_t n = parameter_.size(), first = size_t(o_.nworld) * nobs_;
    if (s.size() != 3 * n + first + 2 * nobs_ + 3)
      throw batchsim::Error(batchsim::Error::kInput, "the saved learner is of another network, body or number of worlds");
    const double* from = s.data();
    const auto take = [&](auto& to, size_t count) {
      std::copy_n(from, count, to.begin());
      from += count;
    };
    take(parameter_, n), take(m_, n), take(v_, n), take(raw_, first), take(normaliser_.mean, nobs_), take(normaliser_.var, nobs_);
    normaliser_.count = from[0], rate_ = from[1], adam_step_ = int64_t(from[2]);
    set_scale();
  }

 private:
  struct Sums {
    double surrogate = 0, kl = 0, value_loss = 0;
  };
  struct Work {
    typename CpuNet<B>::Work actor, critic;
    std::vector<T> x;
    std::vector<uint32_t> row;
  };

  T* log_std() { return parameter_.data() + nactor_ - nact_; }
  T* critic() { return parameter_.data() + nactor_; }

  template <class F>
  void for_shards(int n, int rows, F f) {
    pool_.run((n + rows - 1) / rows,
              [&](int shard, int thread) { f(shard * rows, std::min(rows, n - shard * rows), work_[thread]); });
  }

  void set_scale() {
    shift_.assign(normaliser_.mean.begin(), normaliser_.mean.end());
    scale_.resize(nobs_);
    for (int i = 0; i < nobs_; i++) scale_[i] = T(1 / std::sqrt(normaliser_.var[i] + Normaliser::kEpsilon));
  }
  void normalise(const T* raw, T* x, int rows) const {
    constexpr T most = T(Normaliser::kClip);
    for (int r = 0; r < rows; r++, raw += nobs_, x += nobs_)
      for (int i = 0; i < nobs_; i++) x[i] = std::min(std::max((raw[i] - shift_[i]) * scale_[i], -most), most);
  }

  // the first `rows` raw observations into the running statistics
  void take_in(int rows) {
    pool_.run((nobs_ + 15) / 16, [&](int block, int) {
      for (int i = 16 * block; i < std::min(16 * block + 16, nobs_); i++) {
        double mean = 0, var = 0;
        for (int r = 0; r < rows; r++) mean += raw_[size_t(r) * nobs_ + i];
        mean /= rows;
        for (int r = 0; r < rows; r++) var += (raw_[size_t(r) * nobs_ + i] - mean) * (raw_[size_t(r) * nobs_ + i] - mean);
        var /= rows;
        const double old = normaliser_.count + 1e-4, total = old + rows, d = mean - normaliser_.mean[i];
        normaliser_.mean[i] += d * rows / total;
        normaliser_.var[i] = (normaliser_.var[i] * old + var * rows + d * d * old * rows / total) / total;
      }
    });
    normaliser_.count = std::min(normaliser_.count + rows, 2e6);
    set_scale();
  }

  void estimate_advantages() {
    const int N = o_.nworld, H = s_.horizon;
    const T gamma = T(s_.gamma), lambda = T(s_.lambda);
    for_shards(N, kActRows, [&](int first, int rows, Work& w) {
      // values of the states where time ran out, and after the last step
      normalise(&last_[size_t(first) * nobs_], w.x.data(), rows);
      critic_.forward(critic(), w.x.data(), rows, w.critic);
      for (int r = 0; r < rows; r++)
        if (const int t = truncated_at_[first + r]; t >= 0)
          reward_[size_t(t) * N + first + r] += gamma * w.critic.y.back().data()[r];
      normalise(&raw_[(size_t(H) * N + first) * nobs_], w.x.data(), rows);
      critic_.forward(critic(), w.x.data(), rows, w.critic);
      for (int r = 0; r < rows; r++) {
        T next_value = w.critic.y.back().data()[r], next = 0;
        for (int t = H - 1; t >= 0; t--) {
          const size_t i = size_t(t) * N + first + r;
          next = advantage(reward_[i], value_[i], next_value, next, done_[i], gamma, lambda);
          advantage_[i] = next;
          next_value = value_[i];
          return_[i] = next + value_[i];
        }
      }
    });
    // to mean 0 and deviation 1
    const double samples = double(H) * N;
    double mean = 0, var = 0;
    for (T a : advantage_) mean += a;
    mean /= samples;
    for (T a : advantage_) var += (a - mean) * (a - mean);
    const double inverse = 1 / (std::sqrt(var / std::max(samples - 1, 1.0)) + 1e-6);
    for (T& a : advantage_) a = T((a - mean) * inverse);
  }

  Sums minibatch(uint32_t iteration, uint32_t epoch, int begin, int end, UpdateStats& stats) {
    const int n = end - begin, shards = (n + kRows - 1) / kRows;
    const uint32_t samples = uint32_t(s_.horizon) * o_.nworld;
    for_shards(n, kRows, [&](int first, int rows, Work& w) {
      for (int r = 0; r < rows; r++) {
        w.row[r] = shuffled(begin + first + r, samples, o_.seed, iteration, epoch);
        std::copy_n(&x_[size_t(w.row[r]) * nobs_], nobs_, &w.x[size_t(r) * nobs_]);
      }
      shard(first / kRows, rows, n, w);
    });

    // shards in order, parameters in chunks; the square of the norm too
    const size_t total = parameter_.size();
    const int chunks = static_cast<int>((total + kChunk - 1) / kChunk);
    std::vector<double> actor2(chunks), critic2(chunks);
    const auto each_chunk = [&](auto f) {
      pool_.run(chunks, [&](int c, int) { f(c, size_t(c) * kChunk, std::min(size_t(c + 1) * kChunk, total)); });
    };
    each_chunk([&](int c, size_t from, size_t to) {
      for (size_t i = from; i < to; i++) gradient_[i] = shard_gradient_[0][i];
      for (int s = 1; s < shards; s++)
        for (size_t i = from; i < to; i++) gradient_[i] += shard_gradient_[s][i];
      for (size_t i = from; i < to; i++) (i < nactor_ ? actor2 : critic2)[c] += double(gradient_[i]) * gradient_[i];
    });
    double norm2[2] = {0, 0};
    for (int c = 0; c < chunks; c++) norm2[0] += actor2[c], norm2[1] += critic2[c];
    stats.actor_norm = std::sqrt(norm2[0]), stats.critic_norm = std::sqrt(norm2[1]);

    // clip_grad_norm_ of PyTorch, then Adam
    adam_step_++;
    const T c1 = T(1 - std::pow(0.9, adam_step_)), c2 = T(1 - std::pow(0.999, adam_step_));
    const T cut[2] = {T(std::min(1.0, s_.grad_norm / (stats.actor_norm + 1e-6))),
                      T(std::min(1.0, s_.grad_norm / (stats.critic_norm + 1e-6)))};
    const T rate[2] = {T(rate_), T(s_.critic_rate)};
    each_chunk([&](int, size_t from, size_t to) {
      for (size_t i = from; i < to; i++) {
        const int net = i < nactor_ ? 0 : 1;
        adam(parameter_[i], m_[i], v_[i], gradient_[i] * cut[net], rate[net], c1, c2);
      }
    });

    Sums sums;
    for (int s = 0; s < shards; s++)
      sums.surrogate += shard_stats_[s].surrogate / n, sums.kl += shard_stats_[s].kl / n,
          sums.value_loss += shard_stats_[s].value_loss / n;
    return sums;
  }

  // loss and gradient of the rows that w holds, of a minibatch of n
  void shard(int index, int rows, int n, Work& w) {
    std::vector<T>& gradient = shard_gradient_[index];
    Sums sums;
    actor_.forward(parameter_.data(), w.x.data(), rows, w.actor);
    critic_.forward(critic(), w.x.data(), rows, w.critic);
    const T *mean = w.actor.y.back().data(), *value = w.critic.y.back().data(), *ls = log_std();
    T *dmean = w.actor.dy.back().data(), *dvalue = w.critic.dy.back().data(), *dls = gradient.data() + nactor_ - nact_;
    const T share = T(1) / T(n);
    std::fill_n(dls, nact_, index ? T(0) : T(-s_.entropy));
    std::vector<T> inverse(nact_);
    for (int k = 0; k < nact_; k++) inverse[k] = batchsim::exp(-ls[k]);
    for (int r = 0; r < rows; r++) {
      const size_t i = w.row[r];
      const T *a = &action_[i * nact_], *mu = mean + size_t(r) * nact_;
      const Objective<T> o = objective(log_density(a, mu, ls, nact_), density_[i], advantage_[i], T(s_.clip));
      sums.surrogate += o.loss, sums.kl += o.kl;
      for (int k = 0; k < nact_; k++) {
        const T z = (a[k] - mu[k]) * inverse[k];
        dmean[size_t(r) * nact_ + k] = o.slope * share * z * inverse[k];
        dls[k] += o.slope * share * (z * z - T(1));
      }
      const T error = value[r] - return_[i];
      sums.value_loss += error * error;
      dvalue[r] = T(2) * error * share;
    }
    actor_.backward(parameter_.data(), gradient.data(), w.x.data(), rows, w.actor);
    critic_.backward(critic(), gradient.data() + nactor_, w.x.data(), rows, w.critic);
    shard_stats_[index] = sums;
  }

  PpoSettings s_;
  LearnerOptions o_;
  std::string body_;
  int nobs_, nact_;
  CpuNet<B> actor_, critic_;
  batchsim::Pool pool_;
  Normaliser normaliser_;
  std::vector<T> shift_, scale_;  // of normalise()
  double rate_;
  UpdateStats stats_;
  int64_t adam_step_ = 0;
  size_t nactor_, ncritic_;
  std::vector<T> parameter_, m_, v_, gradient_;  // actor, log_std, critic
  // the rollout, [step][world]
  std::vector<T> raw_, x_, last_, action_, density_, value_, reward_, advantage_, return_;
  std::vector<uint8_t> done_;
  std::vector<int> truncated_at_;
  std::vector<std::vector<T>> shard_gradient_;
  std::vector<Sums> shard_stats_;
  std::vector<Work> work_;  // one a thread
};

}  // namespace BS_ISA
}  // namespace stance
