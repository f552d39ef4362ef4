#include "io/onnx.h"

#include <batchsim/error.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/protobuf.h"

namespace stance {

using batchsim::Error;

namespace {

// field numbers of onnx.proto
namespace model {
constexpr int kIrVersion = 1, kProducer = 2, kGraph = 7, kOpset = 8, kMetadata = 14;
}
namespace opset {
constexpr int kDomain = 1, kVersion = 2;
}
namespace entry {
constexpr int kKey = 1, kValue = 2;
}
namespace graph {
constexpr int kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node {
constexpr int kInput = 1, kOutput = 2, kName = 3, kOperator = 4, kAttribute = 5;
}
namespace attribute {
constexpr int kName = 1, kInt = 3, kType = 20, kTypeInt = 2;
}
namespace tensor {
constexpr int kDims = 1, kDataType = 2, kName = 8, kRawData = 9, kFloat = 1;
}
namespace value_info {
constexpr int kName = 1, kType = 2;
}
namespace type {
constexpr int kTensor = 1, kElement = 1, kShape = 2, kDim = 1, kDimValue = 1, kDimParam = 2;
}

constexpr int kIrVersion = 7, kOpsetVersion = 13;  // ONNX 1.8; the oldest in which all operators here are as they are now

void expect_size(size_t n, size_t wanted, const std::string& what) {
  if (n != wanted || !n)
    throw Error(Error::kInput, "the policy cannot be exported: the size of " + what + " is " + std::to_string(n) +
                                   ", it has to be " + (wanted ? std::to_string(wanted) : "1 or more") +
                                   "; were its layers set up?");
}

void check_sizes(const Policy& p) {
  expect_size(p.normaliser.mean.size(), p.nobs, "normaliser.mean");
  expect_size(p.normaliser.var.size(), p.nobs, "normaliser.var");
  if (p.actor.layer.empty()) throw Error(Error::kInput, "the policy cannot be exported: the actor has no layer; set it up first");
  size_t width = p.nobs;
  for (size_t l = 0; l < p.actor.layer.size(); l++) {
    const Layer& a = p.actor.layer[l];
    const std::string name = "actor.layer[" + std::to_string(l) + "]";
    expect_size(a.in, width, "the input of " + name);
    expect_size(a.weight.size(), width * a.out, name + ".weight");
    expect_size(a.bias.size(), a.out, name + ".bias");
    width = a.out;
  }
  expect_size(width, p.nact, "the output of the actor");
}

class Graph {
 public:
  // a constant; returns its name
  std::string constant(const std::string& name, const std::vector<int>& dims, const std::vector<double>& values) {
    Protobuf t;
    for (const int n : dims) t.integer(tensor::kDims, n);
    std::string raw;
    for (const double x : values) {
      if (!std::isfinite(static_cast<float>(x)))
        throw Error(Error::kInput, "the policy cannot be exported: " + name + " holds " + std::to_string(x) +
                                       ", which is not a finite float; export an earlier checkpoint");
      append_raw(raw, static_cast<float>(x));
    }
    t.integer(tensor::kDataType, tensor::kFloat).text(tensor::kName, name).text(tensor::kRawData, raw);
    graph_.message(graph::kInitializer, t);
    return name;
  }

  // an operator; returns the name of its output, which is its own too
  std::string apply(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                    const Protobuf* attribute = nullptr) {
    Protobuf n;
    for (const std::string& i : inputs) n.text(node::kInput, i);
    n.text(node::kOutput, output).text(node::kName, output).text(node::kOperator, op);
    if (attribute) n.message(node::kAttribute, *attribute);
    graph_.message(graph::kNode, n);
    return output;
  }

  // an input or output of the model, (batch, width)
  void rows(int field, const std::string& name, int width) {
    const Protobuf batch = Protobuf().text(type::kDimParam, "batch"), columns = Protobuf().integer(type::kDimValue, width),
                   shape = Protobuf().message(type::kDim, batch).message(type::kDim, columns),
                   floats = Protobuf().integer(type::kElement, tensor::kFloat).message(type::kShape, shape);
    graph_.message(field,
                   Protobuf().text(value_info::kName, name).message(value_info::kType, Protobuf().message(type::kTensor, floats)));
  }

  Protobuf finish(const std::string& name) { return graph_.text(graph::kName, name); }

 private:
  Protobuf graph_;
};

Protobuf policy_graph(const Policy& p) {
  Graph g;
  g.rows(graph::kInput, "observation", p.nobs);

  // clip((x - mean) / sqrt(var + epsilon))
  std::vector<double> deviation;
  for (const double v : p.normaliser.var) deviation.push_back(std::sqrt(v + Normaliser::kEpsilon));
  std::string x = g.apply("Sub", {"observation", g.constant("mean", {p.nobs}, p.normaliser.mean)}, "centred");
  x = g.apply("Div", {x, g.constant("deviation", {p.nobs}, deviation)}, "scaled");
  x = g.apply("Clip", {x, g.constant("low", {}, {-Normaliser::kClip}), g.constant("high", {}, {Normaliser::kClip})}, "normalised");

  // x W' + b, and ELU with its default alpha of 1 between the layers
  const Protobuf transposed =
      Protobuf().text(attribute::kName, "transB").integer(attribute::kInt, 1).integer(attribute::kType, attribute::kTypeInt);
  for (size_t l = 0; l < p.actor.layer.size(); l++) {
    const Layer& a = p.actor.layer[l];
    const std::string n = std::to_string(l), weight = g.constant("weight" + n, {a.out, a.in}, a.weight),
                      bias = g.constant("bias" + n, {a.out}, a.bias);
    const bool last = l + 1 == p.actor.layer.size();
    x = g.apply("Gemm", {x, weight, bias}, last ? "action" : "affine" + n, &transposed);
    if (!last) x = g.apply("Elu", {x}, "hidden" + n);
  }
  g.rows(graph::kOutput, "action", p.nact);
  return g.finish("policy");
}

Protobuf metadata(const std::string& key, const std::string& value) {
  return Protobuf().text(entry::kKey, key).text(entry::kValue, value);
}

}  // namespace

void export_onnx(const std::string& path, const Policy& policy, const std::string& layout) {
  check_sizes(policy);
  const Protobuf m = Protobuf()
                         .integer(model::kIrVersion, kIrVersion)
                         .text(model::kProducer, "batchsim")
                         .message(model::kGraph, policy_graph(policy))
                         .message(model::kOpset, Protobuf().text(opset::kDomain, "").integer(opset::kVersion, kOpsetVersion))
                         .message(model::kMetadata, metadata("body", policy.body))
                         .message(model::kMetadata, metadata("layout", layout));
  write_atomically(path, m.bytes());
}

}  // namespace stance
