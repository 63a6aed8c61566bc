// What each kind of node does with types, shapes and values.
#ifndef NEREID_REHEARSAL_TENSORRT_NODES_H_
#define NEREID_REHEARSAL_TENSORRT_NODES_H_

#include <cstdint>
#include <vector>

#include "graph.h"

namespace rehearsal::trt {

// Numbers of the operations that are rehearsed, as layers are told them.
constexpr std::int64_t kRelu = 0;
constexpr std::int64_t kSigmoid = 1;
constexpr std::int64_t kTanh = 2;
constexpr std::int64_t kUniformScale = 0;
constexpr std::int64_t kSum = 0;
constexpr std::int64_t kProduct = 1;
constexpr std::int64_t kMax = 2;
constexpr std::int64_t kMin = 3;
constexpr std::int64_t kDifference = 4;
constexpr std::int64_t kQuotient = 5;
constexpr std::int64_t kNegative = 5;
constexpr std::int64_t kNot = 20;
constexpr std::int64_t kReduceSum = 0;
constexpr std::int64_t kReduceMax = 2;
constexpr std::int64_t kReduceMean = 4;
constexpr std::int64_t kTransposed = 1;

// Of a node's output; `inputs` are those of its inputs. Both throw Refusal where they do not fit.
DataType OutputType(const Node& node, const std::vector<DataType>& inputs);

// `values` are those of the inputs as far as they are known. What the data decide is -1.
Shape OutputShape(const Node& node, const std::vector<Shape>& inputs, const Values& values);

// The axes that a mask of bits names.
std::vector<std::size_t> AxesOf(std::int64_t mask, std::size_t rank);

// Computes a node. `result` has the type and the shape of its output and is filled.
void Compute(const Node& node, const Values& inputs, Value* result);

// By kinds of nodes.
void ComputeConvolution(const Node& node, const Value& input, Value* result);
void ComputePooling(const Node& node, const Value& input, Value* result);
void ComputeProduct(const Node& node, const Value& left, const Value& right, Value* result);
void ComputeSoftMax(const Node& node, const Value& input, Value* result);
void ComputeReduction(const Node& node, const Value& input, Value* result);
void ComputeElements(const Node& node, const Values& inputs, Value* result);
// The only one whose result has a shape that the values decide.
void ComputeNonZero(const Value& input, Value* result);

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_NODES_H_
