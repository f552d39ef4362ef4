#include <cuda_runtime.h>

#include "backend/cuda/runtime.h"
#include "cuda/cuda.h"

namespace stance {
namespace {

class CudaGraph : public Graph {
 public:
  explicit CudaGraph(cudaStream_t stream) : stream_(stream) {}
  ~CudaGraph() override {
    if (exec_) cudaGraphExecDestroy(exec_);
  }
  void run(const std::function<void()>& work) override {
    if (!exec_) capture(work);
    BS_CUDA(cudaGraphLaunch(exec_, stream_));
  }

 private:
  void capture(const std::function<void()>& work) {
    BS_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph) cudaGraphDestroy(graph);
      throw;
    }
    BS_CUDA(cudaStreamEndCapture(stream_, &graph));
    const cudaError_t e = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    BS_CUDA(e);
  }

  cudaStream_t stream_;
  cudaGraphExec_t exec_ = nullptr;
};

class Calls : public Graph {
 public:
  void run(const std::function<void()>& work) override { work(); }
};

class CudaQueue : public Queue {
 public:
  explicit CudaQueue(int ordinal) {
    BS_CUDA(cudaSetDevice(ordinal));
    BS_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t& e : events_) BS_CUDA(cudaEventCreate(&e));
  }
  ~CudaQueue() override {
    for (cudaEvent_t e : events_) cudaEventDestroy(e);
    cudaStreamDestroy(stream_);
  }
  void* stream() const override { return stream_; }
  std::unique_ptr<Graph> make_graph(bool graph) override {
    if (graph) return std::make_unique<CudaGraph>(stream_);
    return std::make_unique<Calls>();
  }
  void mark(int which) override { BS_CUDA(cudaEventRecord(events_[which], stream_)); }
  double seconds(int from, int to) override {
    float ms = 0;
    BS_CUDA(cudaEventElapsedTime(&ms, events_[from], events_[to]));
    return ms * 1e-3;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[kMarks] = {};
};

}  // namespace

std::unique_ptr<Queue> make_cuda_queue(const std::string& device) {
  return std::make_unique<CudaQueue>(device.size() > 5 ? std::stoi(device.substr(5)) : 0);
}

}  // namespace stance
