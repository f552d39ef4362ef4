// The learner in CUDA: cuBLAS for the layers, kernels for what is element by element. All is queued; what the host decides on the CPU
// (an update that stops early, the learning rate) is decided by masks and numbers in device memory, so that an update is one graph.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cub/block/block_reduce.cuh>

#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "ppo/elements.h"

namespace stance {
inline namespace BS_ISA {

inline void cublas_check(cublasStatus_t s, const char* call) {
  if (s != CUBLAS_STATUS_SUCCESS)
    throw batchsim::Error(batchsim::Error::kDevice, std::string(call) + ": " + cublasGetStatusString(s));
}
#define STANCE_CUBLAS(call) cublas_check(call, #call)

// numbers of the learner that change on the device
struct LearnerState {
  double rate, adam_step, count;  // count: of the normaliser
  double mean, inverse;           // of advantages: their mean, 1 / deviation
  double epoch_kl, last_kl;       // sum over an epoch's minibatches, of the last one
  double cut[2];                  // factor by which gradients of actor and critic are cut
  unsigned iteration;
  int live;  // the update has not stopped
  UpdateStats stats;
};

// of the settings, what decides the next learning rate
struct PpoRates {
  double target_kl, least, most, factor;
  int minibatches;
};

constexpr int kBlock = 256;  // threads of a kernel that is element by element
inline int blocks(size_t n) { return static_cast<int>((n + kBlock - 1) / kBlock); }

// the sum of f(0) ... f(n-1) over a block, in an order that is always the same; the first thread gets it
template <class F>
__device__ double block_sum(int n, F f) {
  using Reduce = cub::BlockReduce<double, kBlock>;
  __shared__ typename Reduce::TempStorage storage;
  double s = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kBlock) s += f(i);
  s = Reduce(storage).Sum(s);
  __syncthreads();
  return s;
}

__device__ inline int thread_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// a raw row into a normalised one
template <class T>
struct Scaling {
  const double *mean, *var;  // (nobs)
  __device__ T operator()(T raw, int i) const {
    const T scale = T(1 / ::sqrt(var[i] + Normaliser::kEpsilon));
    constexpr T most = T(Normaliser::kClip);
    return batchsim::min(batchsim::max((raw - T(mean[i])) * scale, -most), most);
  }
};

// to: always; kept: at the present step of the rollout, if there is one
template <class T>
__global__ void normalise_kernel(const T* raw, T* to, T* kept, const Now* now, Scaling<T> scaling, int rows, int nobs) {
  const int i = thread_index();
  if (i >= rows * nobs) return;
  const size_t at = now ? size_t(now->index) * rows * nobs + i : size_t(i);
  to[i] = scaling(raw[at], i % nobs);
  if (kept) kept[at] = to[i];
}

template <class T>
__global__ void bias_kernel(T* y, const T* bias, int rows, int n, bool bend) {
  const int i = thread_index();
  if (i >= rows * n) return;
  const T x = y[i] + bias[i % n];
  y[i] = bend ? elu(x) : x;
}
template <class T>
__global__ void slope_kernel(T* dy, const T* y, int n) {
  const int i = thread_index();
  if (i < n) dy[i] *= elu_slope(y[i]);
}
// a column a block
template <class T>
__global__ void column_sum_kernel(const T* rows, T* sum, int nrow, int ncol, T start) {
  const double s = block_sum(nrow, [&](int r) { return double(rows[size_t(r) * ncol + blockIdx.x]); });
  if (threadIdx.x == 0) sum[blockIdx.x] = start + T(s);
}

// actions of a rollout's step: mean and noise
template <class T>
struct Rollout {
  T *action, *density, *value;  // (horizon, nworld ...)
};
template <class T>
__global__ void sample_kernel(Rollout<T> r, T* action, const T* mean, const T* value, const T* log_std, const Now* now,
                              uint64_t seed, int nworld, int nact) {
  const int w = thread_index();
  if (w >= nworld) return;
  const Stream random{seed, now->step, uint32_t(w)};
  const size_t row = size_t(now->index) * nworld + w;
  T* a = action + size_t(w) * nact;
  const T* mu = mean + size_t(w) * nact;
  for (int k = 0; k < nact; k += 4) {
    const Normals<T> noise = normals<T>(random.words(Purpose::kAction, uint32_t(k)));
    for (int i = k; i < nact && i < k + 4; i++) {
      a[i] = mu[i] + batchsim::exp(log_std[i]) * noise.v[i - k];
      r.action[row * nact + i] = a[i];
    }
  }
  r.density[row] = log_density(a, mu, log_std, nact);
  r.value[row] = value[w];
}

template <class T>
struct Trace {
  T *reward, *advantage, *result;
  const T *value, *end_value, *last_value;  // (horizon, nworld), (nworld) after the last step, (nworld) where time ran out
  const uint8_t* done;
  const int* truncated_at;
};
template <class T>
__global__ void advantage_kernel(Trace<T> x, int horizon, int nworld, T gamma, T lambda) {
  const int w = thread_index();
  if (w >= nworld) return;
  if (const int t = x.truncated_at[w]; t >= 0) x.reward[size_t(t) * nworld + w] += gamma * x.last_value[w];
  T next_value = x.end_value[w], next = 0;
  for (int t = horizon - 1; t >= 0; t--) {
    const size_t i = size_t(t) * nworld + w;
    next = advantage(x.reward[i], x.value[i], next_value, next, x.done[i], gamma, lambda);
    x.advantage[i] = next;
    next_value = x.value[i];
    x.result[i] = next + x.value[i];
  }
}
// one block: mean and deviation of all advantages; the update begins
template <class T>
__global__ void begin_update_kernel(LearnerState* s, const T* advantage, int n) {
  __shared__ double mean;
  const double sum = block_sum(n, [&](int i) { return double(advantage[i]); });
  if (threadIdx.x == 0) mean = sum / n;
  __syncthreads();
  const double square = block_sum(n, [&](int i) { return (advantage[i] - mean) * (advantage[i] - mean); });
  if (threadIdx.x) return;
  s->mean = mean;
  s->inverse = 1 / (::sqrt(square / (n > 1 ? n - 1 : 1)) + 1e-6);
  s->live = 1;
  s->stats = UpdateStats{};
}
template <class T>
__global__ void scale_advantage_kernel(const LearnerState* s, T* advantage, int n) {
  const int i = thread_index();
  if (i < n) advantage[i] = T((advantage[i] - s->mean) * s->inverse);
}

// rows of a minibatch, in the order of the shuffle; a row a block
template <class T>
__global__ void gather_kernel(const LearnerState* s, const T* x, T* to, uint32_t* row, uint32_t begin, uint32_t samples,
                              uint64_t seed, uint32_t epoch, int nobs) {
  const uint32_t from = shuffled(begin + blockIdx.x, samples, seed, s->iteration, epoch);
  if (threadIdx.x == 0) row[blockIdx.x] = from;
  for (int i = static_cast<int>(threadIdx.x); i < nobs; i += static_cast<int>(blockDim.x))
    to[size_t(blockIdx.x) * nobs + i] = x[size_t(from) * nobs + i];
}

template <class T>
struct Loss {
  const uint32_t* row;
  const T *mean, *value, *log_std;                 // of the minibatch, of the network
  const T *action, *density, *advantage, *result;  // of the rollout
  T *dmean, *dvalue, *dlog_std;                    // (n, nact), (n), (n, nact)
  T *surrogate, *kl, *error2;                      // (n)
};
template <class T>
__global__ void loss_kernel(Loss<T> x, int n, int nact, T clip) {
  const int r = thread_index();
  if (r >= n) return;
  const size_t i = x.row[r];
  const T *a = x.action + i * nact, *mu = x.mean + size_t(r) * nact;
  const Objective<T> o = objective(log_density(a, mu, x.log_std, nact), x.density[i], x.advantage[i], clip);
  const T share = T(1) / T(n);
  for (int k = 0; k < nact; k++) {
    const T inverse = batchsim::exp(-x.log_std[k]), z = (a[k] - mu[k]) * inverse;
    x.dmean[size_t(r) * nact + k] = o.slope * share * z * inverse;
    x.dlog_std[size_t(r) * nact + k] = o.slope * share * (z * z - T(1));
  }
  const T error = x.value[r] - x.result[i];
  x.dvalue[r] = T(2) * error * share;
  x.surrogate[r] = o.loss, x.kl[r] = o.kl, x.error2[r] = error * error;
}

// one block: norms of the gradients, and the sums over a minibatch
template <class T>
__global__ void norm_kernel(LearnerState* s, const T* gradient, int nactor, int ncritic, Loss<T> x, int n, double most,
                            double share) {
  const auto square = [&](int i) { return double(gradient[i]) * gradient[i]; };
  const double actor = block_sum(nactor, square), critic = block_sum(ncritic, [&](int i) { return square(nactor + i); });
  const double surrogate = block_sum(n, [&](int r) { return double(x.surrogate[r]); });
  const double kl = block_sum(n, [&](int r) { return double(x.kl[r]); });
  const double error2 = block_sum(n, [&](int r) { return double(x.error2[r]); });
  if (threadIdx.x || !s->live) return;
  s->stats.actor_norm = ::sqrt(actor), s->stats.critic_norm = ::sqrt(critic);
  s->cut[0] = ::fmin(1.0, most / (s->stats.actor_norm + 1e-6));
  s->cut[1] = ::fmin(1.0, most / (s->stats.critic_norm + 1e-6));
  s->adam_step += 1;
  s->last_kl = kl / n;
  s->epoch_kl += s->last_kl * share;
  s->stats.surrogate += surrogate / n, s->stats.value_loss += error2 / n;
}
template <class T>
__global__ void adam_kernel(const LearnerState* s, T* parameter, T* m, T* v, const T* gradient, int nactor, int n, T critic_rate) {
  const int i = thread_index();
  if (i >= n || !s->live) return;
  const int net = i < nactor ? 0 : 1;
  const T c1 = T(1 - ::pow(0.9, s->adam_step)), c2 = T(1 - ::pow(0.999, s->adam_step));
  adam(parameter[i], m[i], v[i], gradient[i] * T(s->cut[net]), net ? critic_rate : T(s->rate), c1, c2);
}
// an epoch ends: is it the last?
static __global__ void epoch_kernel(LearnerState* s, double stop) {
  if (!s->live) return;
  s->stats.epochs++;
  s->stats.kl = s->epoch_kl;
  s->epoch_kl = 0;
  if (s->last_kl > stop) s->live = 0;
}

// a column a block: raw observations into mean and variance
template <class T>
__global__ void statistics_kernel(const LearnerState* s, const T* raw, double* mean, double* var, int rows, int nobs) {
  const int i = static_cast<int>(blockIdx.x);
  __shared__ double mu;
  const double sum = block_sum(rows, [&](int r) { return double(raw[size_t(r) * nobs + i]); });
  if (threadIdx.x == 0) mu = sum / rows;
  __syncthreads();
  const double square = block_sum(rows, [&](int r) { return (raw[size_t(r) * nobs + i] - mu) * (raw[size_t(r) * nobs + i] - mu); });
  if (threadIdx.x) return;
  const double v = square / rows, old = s->count + 1e-4, total = old + rows, d = mu - mean[i];
  mean[i] += d * rows / total;
  var[i] = (var[i] * old + v * rows + d * d * old * rows / total) / total;
}
static __global__ void count_rows_kernel(LearnerState* s, int rows) { s->count = ::fmin(s->count + rows, 2e6); }

// the update ends: the next rate, and the rollout's counter starts over
template <class T>
__global__ void end_update_kernel(LearnerState* s, PpoRates p, const T* log_std, int nact, Now* now) {
  UpdateStats& u = s->stats;
  const int minibatches = u.epochs * p.minibatches;
  u.surrogate /= minibatches, u.value_loss /= minibatches;
  if (u.kl < p.target_kl / 2)
    s->rate = ::fmin(p.most, s->rate * p.factor);
  else if (u.kl > p.target_kl * 1.5)
    s->rate = ::fmax(p.least, s->rate / p.factor);
  u.actor_rate = s->rate;
  for (int k = 0; k < nact; k++) u.noise_std += ::exp(double(log_std[k])) / nact;
  s->iteration++;
  if (now) now->index = 0;
}

template <class T>
class CudaNet {
 public:
  CudaNet(const Mlp& mlp, int most_rows) {
    for (const Layer& l : mlp.layer) {
      if (size_.empty()) size_.push_back(l.in);
      size_.push_back(l.out);
      y_.emplace_back(size_t(most_rows) * l.out);
      dy_.emplace_back(size_t(most_rows) * l.out);
    }
  }
  int layers() const { return static_cast<int>(size_.size()) - 1; }
  size_t nparameter() const {
    size_t n = 0;
    for (int l = 0; l < layers(); l++) n += size_t(size_[l] + 1) * size_[l + 1];
    return n;
  }
  T* out() const { return y_.back().get(); }    // (rows, out)
  T* dout() const { return dy_.back().get(); }  // its gradient

  void forward(cublasHandle_t blas, cudaStream_t stream, const T* parameter, const T* x, int rows) const {
    for (int l = 0; l < layers(); l++) {
      const int in = size_[l], out = size_[l + 1];
      const T *weight = parameter, *bias = parameter + size_t(in) * out;
      gemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, weight, in, x, in, y_[l].get(), out);
      bias_kernel<<<blocks(size_t(rows) * out), kBlock, 0, stream>>>(y_[l].get(), bias, rows, out, l + 1 < layers());
      BS_CUDA(cudaGetLastError());
      x = y_[l].get();
      parameter = bias + out;
    }
  }
  void backward(cublasHandle_t blas, cudaStream_t stream, const T* parameter, T* gradient, const T* x, int rows) const {
    std::vector<size_t> at(1, 0);
    for (int l = 0; l < layers(); l++) at.push_back(at.back() + size_t(size_[l] + 1) * size_[l + 1]);
    for (int l = layers() - 1; l >= 0; l--) {
      const int in = size_[l], out = size_[l + 1];
      T* dy = dy_[l].get();
      if (l + 1 < layers()) slope_kernel<<<blocks(size_t(rows) * out), kBlock, 0, stream>>>(dy, y_[l].get(), rows * out);
      gemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, in, out, rows, l ? y_[l - 1].get() : x, in, dy, out, gradient + at[l], in);
      column_sum_kernel<<<out, kBlock, 0, stream>>>(dy, gradient + at[l] + size_t(in) * out, rows, out, T(0));
      BS_CUDA(cudaGetLastError());
      if (l) gemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, in, rows, out, parameter + at[l], in, dy, out, dy_[l - 1].get(), in);
    }
  }

  static void read(const Mlp& mlp, std::vector<T>& parameter) {
    for (const Layer& l : mlp.layer) {
      parameter.insert(parameter.end(), l.weight.begin(), l.weight.end());
      parameter.insert(parameter.end(), l.bias.begin(), l.bias.end());
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
  // column-major, as BLAS has it: C (m, n) = op(A) op(B)
  static void gemm(cublasHandle_t blas, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* a, int lda,
                   const T* b, int ldb, T* c, int ldc) {
    const T one = 1, zero = 0;
    if constexpr (sizeof(T) == 4)
      STANCE_CUBLAS(cublasSgemm(blas, ta, tb, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc));
    else
      STANCE_CUBLAS(cublasDgemm(blas, ta, tb, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc));
  }

  std::vector<int> size_;  // units of each layer, inputs first
  std::vector<DeviceArray<T>> y_, dy_;
};

template <class T>
class CudaLearner : public Learner<T> {
 public:
  CudaLearner(const Policy& start, const PpoSettings& s, const LearnerOptions& o)
      : s_(s),
        o_(o),
        body_(start.body),
        nobs_(start.nobs),
        nact_(start.nact),
        samples_(s.horizon * o.nworld),
        batch_rows_((samples_ + s.minibatches - 1) / s.minibatches),
        stream_(static_cast<cudaStream_t>(o.stream)),
        actor_(start.actor, std::max(o.nworld, batch_rows_)),
        critic_(start.critic, std::max(o.nworld, batch_rows_)),
        end_critic_(start.critic, o.nworld) {
    STANCE_CUBLAS(cublasCreate(&blas_));
    STANCE_CUBLAS(cublasSetStream(blas_, stream_));
    workspace_ = DeviceArray<char>(size_t(32) << 20);  // of its own, so that a graph may hold the calls
    STANCE_CUBLAS(cublasSetWorkspace(blas_, workspace_.get(), workspace_.size()));
    STANCE_CUBLAS(cublasSetMathMode(blas_, CUBLAS_PEDANTIC_MATH));

    std::vector<T> parameter;
    CudaNet<T>::read(start.actor, parameter);
    parameter.insert(parameter.end(), start.log_std.begin(), start.log_std.end());
    nactor_ = static_cast<int>(parameter.size());
    CudaNet<T>::read(start.critic, parameter);
    n_ = static_cast<int>(parameter.size());
    parameter_ = DeviceArray<T>(parameter);
    for (DeviceArray<T>* a : {&m_, &v_, &gradient_}) *a = DeviceArray<T>(n_), a->zero();

    const size_t H = s.horizon, N = o.nworld, R = batch_rows_;
    raw_ = zeros((H + 1) * N * nobs_), x_ = zeros(H * N * nobs_), last_ = zeros(N * nobs_), now_x_ = zeros(N * nobs_);
    action_ = zeros(H * N * nact_), now_action_ = zeros(N * nact_), density_ = zeros(H * N), value_ = zeros(H * N);
    reward_ = zeros(H * N), advantage_ = zeros(H * N), result_ = zeros(H * N);
    batch_x_ = zeros(R * nobs_), dlog_std_ = zeros(R * nact_), surrogate_ = zeros(R), kl_ = zeros(R), error2_ = zeros(R);
    done_ = DeviceArray<uint8_t>(H * N), done_.zero();
    row_ = DeviceArray<uint32_t>(R);
    truncated_at_ = DeviceArray<int>(N);
    BS_CUDA(cudaMemset(truncated_at_.get(), 0xff, N * sizeof(int)));
    mean_ = DeviceArray<double>(start.normaliser.mean), var_ = DeviceArray<double>(start.normaliser.var);
    LearnerState state{};
    state.rate = s.actor_rate, state.count = start.normaliser.count;
    state_ = DeviceArray<LearnerState>(std::vector<LearnerState>{state});
    BS_CUDA(cudaDeviceSynchronize());
  }
  ~CudaLearner() override { cublasDestroy(blas_); }

  T* first_observation() override { return raw_.get(); }
  void begin() override { take_in(o_.nworld); }

  const T* act(int, uint32_t) override {
    const int N = o_.nworld;
    normalise_kernel<<<blocks(size_t(N) * nobs_), kBlock, 0, stream_>>>(raw_.get(), now_x_.get(), x_.get(), o_.now, scaling(), N,
                                                                        nobs_);
    BS_CUDA(cudaGetLastError());
    actor_.forward(blas_, stream_, parameter_.get(), now_x_.get(), N);
    critic_.forward(blas_, stream_, critic(), now_x_.get(), N);
    sample_kernel<<<blocks(N), kBlock, 0, stream_>>>(Rollout<T>{action_.get(), density_.get(), value_.get()}, now_action_.get(),
                                                     actor_.out(), critic_.out(), log_std(), o_.now, o_.seed, N, nact_);
    BS_CUDA(cudaGetLastError());
    return now_action_.get();
  }
  const T* mean_action() override {
    const int N = o_.nworld;
    normalise_kernel<<<blocks(size_t(N) * nobs_), kBlock, 0, stream_>>>(raw_.get(), now_x_.get(), static_cast<T*>(nullptr), nullptr,
                                                                        scaling(), N, nobs_);
    BS_CUDA(cudaGetLastError());
    actor_.forward(blas_, stream_, parameter_.get(), now_x_.get(), N);
    return actor_.out();
  }

  StepOut<T> out(int) override {
    return {reward_.get(), done_.get(), raw_.get() + size_t(o_.nworld) * nobs_, last_.get(), truncated_at_.get(), 0, true};
  }

  void update(uint32_t) override {
    const int N = o_.nworld, H = s_.horizon;
    LearnerState* s = state_.get();
    // values of the states where time ran out, and after the last step
    value_of(last_.get(), critic_);
    value_of(raw_.get() + size_t(H) * N * nobs_, end_critic_);
    advantage_kernel<<<blocks(N), kBlock, 0, stream_>>>(
        Trace<T>{reward_.get(), advantage_.get(), result_.get(), value_.get(), end_critic_.out(), critic_.out(), done_.get(),
                 truncated_at_.get()},
        H, N, T(s_.gamma), T(s_.lambda));
    begin_update_kernel<<<1, kBlock, 0, stream_>>>(s, advantage_.get(), samples_);
    scale_advantage_kernel<<<blocks(samples_), kBlock, 0, stream_>>>(s, advantage_.get(), samples_);
    for (int epoch = 0; epoch < s_.epochs; epoch++) {
      for (int k = 0; k < s_.minibatches; k++)
        minibatch(epoch, int(int64_t(k) * samples_ / s_.minibatches), int(int64_t(k + 1) * samples_ / s_.minibatches));
      epoch_kernel<<<1, 1, 0, stream_>>>(s, s_.stop_kl * s_.target_kl);
    }
    end_update_kernel<<<1, 1, 0, stream_>>>(s, PpoRates{s_.target_kl, s_.least_rate, s_.most_rate, s_.rate_factor, s_.minibatches},
                                            log_std(), nact_, const_cast<Now*>(o_.now));
    BS_CUDA(cudaGetLastError());
    take_in(samples_);
    BS_CUDA(cudaMemcpyAsync(raw_.get(), raw_.get() + size_t(samples_) * nobs_, size_t(N) * nobs_ * sizeof(T),
                            cudaMemcpyDeviceToDevice, stream_));
    BS_CUDA(cudaMemsetAsync(truncated_at_.get(), 0xff, N * sizeof(int), stream_));
  }

  UpdateStats take_stats() override { return host_stats_.read(&state_.get()->stats, stream_); }
  std::vector<double> last_gradient() const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    const std::vector<T> g = gradient_.read();
    return {g.begin(), g.end()};
  }

  Policy policy() const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    const std::vector<T> parameter = parameter_.read();
    Policy p;
    p.body = body_;
    p.nobs = nobs_, p.nact = nact_;
    p.actor = actor_.write(parameter.data());
    p.critic = critic_.write(parameter.data() + nactor_);
    p.log_std.assign(parameter.begin() + nactor_ - nact_, parameter.begin() + nactor_);
    p.normaliser.mean = mean_.read(), p.normaliser.var = var_.read();
    p.normaliser.count = state_.read()[0].count;
    return p;
  }

  std::vector<double> save() const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    std::vector<double> v;
    const auto add = [&](const auto& values) { v.insert(v.end(), values.begin(), values.end()); };
    add(parameter_.read()), add(m_.read()), add(v_.read()), add(raw_.read(size_t(o_.nworld) * nobs_)), add(mean_.read()),
        add(var_.read());
    const LearnerState s = state_.read()[0];
    v.insert(v.end(), {s.count, s.rate, s.adam_step, double(s.iteration)});
    return v;
  }
  void restore(const std::vector<double>& saved) override {
    const size_t first = size_t(o_.nworld) * nobs_;
    if (saved.size() != 3 * size_t(n_) + first + 2 * nobs_ + 4)
      throw batchsim::Error(batchsim::Error::kInput, "the saved learner is of another network, body or number of worlds");
    const double* from = saved.data();
    const auto take = [&](auto& to, size_t count) {
      using V = std::remove_pointer_t<decltype(to.get())>;
      const std::vector<V> v(from, from + count);
      to.write(v.data(), count);
      from += count;
    };
    take(parameter_, n_), take(m_, n_), take(v_, n_), take(raw_, first), take(mean_, nobs_), take(var_, nobs_);
    LearnerState s{};
    s.count = from[0], s.rate = from[1], s.adam_step = from[2], s.iteration = unsigned(from[3]);
    state_.write(&s, 1);
    BS_CUDA(cudaDeviceSynchronize());
  }

 private:
  static DeviceArray<T> zeros(size_t n) {
    DeviceArray<T> a(n);
    a.zero();
    return a;
  }
  Scaling<T> scaling() const { return {mean_.get(), var_.get()}; }
  T* log_std() const { return parameter_.get() + nactor_ - nact_; }
  T* critic() const { return parameter_.get() + nactor_; }

  void value_of(const T* raw, CudaNet<T>& net) {
    const int N = o_.nworld;
    normalise_kernel<<<blocks(size_t(N) * nobs_), kBlock, 0, stream_>>>(raw, now_x_.get(), static_cast<T*>(nullptr), nullptr,
                                                                        scaling(), N, nobs_);
    BS_CUDA(cudaGetLastError());
    net.forward(blas_, stream_, critic(), now_x_.get(), N);
  }

  void take_in(int rows) {
    statistics_kernel<<<nobs_, kBlock, 0, stream_>>>(state_.get(), raw_.get(), mean_.get(), var_.get(), rows, nobs_);
    count_rows_kernel<<<1, 1, 0, stream_>>>(state_.get(), rows);
    BS_CUDA(cudaGetLastError());
  }

  void minibatch(int epoch, int begin, int end) {
    const int n = end - begin;
    gather_kernel<<<n, 64, 0, stream_>>>(state_.get(), x_.get(), batch_x_.get(), row_.get(), uint32_t(begin), uint32_t(samples_),
                                         o_.seed, uint32_t(epoch), nobs_);
    BS_CUDA(cudaGetLastError());
    actor_.forward(blas_, stream_, parameter_.get(), batch_x_.get(), n);
    critic_.forward(blas_, stream_, critic(), batch_x_.get(), n);
    const Loss<T> loss{row_.get(),      actor_.out(),     critic_.out(), log_std(),     action_.get(),
                       density_.get(),  advantage_.get(), result_.get(), actor_.dout(), critic_.dout(),
                       dlog_std_.get(), surrogate_.get(), kl_.get(),     error2_.get()};
    loss_kernel<<<blocks(n), kBlock, 0, stream_>>>(loss, n, nact_, T(s_.clip));
    column_sum_kernel<<<nact_, kBlock, 0, stream_>>>(dlog_std_.get(), gradient_.get() + nactor_ - nact_, n, nact_, T(-s_.entropy));
    BS_CUDA(cudaGetLastError());
    actor_.backward(blas_, stream_, parameter_.get(), gradient_.get(), batch_x_.get(), n);
    critic_.backward(blas_, stream_, critic(), gradient_.get() + nactor_, batch_x_.get(), n);
    norm_kernel<<<1, kBlock, 0, stream_>>>(state_.get(), gradient_.get(), nactor_, n_ - nactor_, loss, n, s_.grad_norm,
                                           1.0 / s_.minibatches);
    adam_kernel<<<blocks(n_), kBlock, 0, stream_>>>(state_.get(), parameter_.get(), m_.get(), v_.get(), gradient_.get(), nactor_,
                                                    n_, T(s_.critic_rate));
    BS_CUDA(cudaGetLastError());
  }

  PpoSettings s_;
  LearnerOptions o_;
  std::string body_;
  int nobs_, nact_, samples_, batch_rows_, nactor_ = 0, n_ = 0;
  cudaStream_t stream_;
  cublasHandle_t blas_ = nullptr;
  DeviceArray<char> workspace_;
  CudaNet<T> actor_, critic_, end_critic_;
  DeviceArray<T> parameter_, m_, v_, gradient_;  // actor, log_std, critic
  DeviceArray<double> mean_, var_;
  DeviceArray<LearnerState> state_;
  Pinned<UpdateStats> host_stats_;
  // the rollout, [step][world]; now_: of the present step
  DeviceArray<T> raw_, x_, last_, now_x_, action_, now_action_, density_, value_, reward_, advantage_, result_;
  DeviceArray<uint8_t> done_;
  DeviceArray<int> truncated_at_;
  // a minibatch
  DeviceArray<uint32_t> row_;
  DeviceArray<T> batch_x_, dlog_std_, surrogate_, kl_, error2_;
};

}  // namespace BS_ISA
}  // namespace stance
