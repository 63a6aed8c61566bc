// Convolutions, products and what else takes many numbers for one. The innermost loops have no
// conditions, so that the compiler makes vectors of them: networks with millions of products run in
// tests.
#include <algorithm>
#include <cmath>
#include <limits>

#include "nodes.h"

namespace rehearsal::trt {

namespace {

// How a window of one row or column goes over a line.
struct Line {
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t in;
  std::int64_t out;

  // The first place whose `offset`th part lies in the line, and the one behind the last.
  [[nodiscard]] std::int64_t First(std::int64_t offset) const {
    return std::max<std::int64_t>(0, (padding - offset + stride - 1) / stride);
  }
  [[nodiscard]] std::int64_t End(std::int64_t offset) const {
    std::int64_t last = in - 1 + padding - offset;
    return last < 0 ? 0 : std::min(out, last / stride + 1);
  }
};

struct Plane {
  Line rows;
  Line columns;
  [[nodiscard]] std::int64_t In() const { return rows.in * columns.in; }
  [[nodiscard]] std::int64_t Out() const { return rows.out * columns.out; }
};

Plane PlaneOf(const Node& node, const Value& input, const Value& result) {
  Shape kernel = node.Setting("kernel", 2, 1);
  Shape stride = node.Setting("stride", 2, 1);
  Shape padding = node.Setting("padding", 2, 0);
  return {{kernel[0], stride[0], padding[0], input.shape[2], result.shape[2]},
          {kernel[1], stride[1], padding[1], input.shape[3], result.shape[3]}};
}

// Calls `each(to, from, count, step)` for all runs of numbers of one place of the window.
template <typename Each>
void ForRuns(const Plane& plane, std::int64_t row, std::int64_t column, const Each& each) {
  std::int64_t first = plane.columns.First(column);
  std::int64_t count = plane.columns.End(column) - first;
  std::int64_t end = plane.rows.End(row);
  for (std::int64_t y = plane.rows.First(row); count > 0 && y < end; ++y) {
    std::int64_t from_row = y * plane.rows.stride + row - plane.rows.padding;
    std::int64_t from_column = first * plane.columns.stride + column - plane.columns.padding;
    each(y * plane.columns.out + first, from_row * plane.columns.in + from_column, count);
  }
}

void AddProducts(float weight, const float* from, std::int64_t step, std::int64_t count,
                 float* to) {
  if (step == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] += weight * from[i];
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] += weight * from[i * step];
    }
  }
}

// In parts of eight, which the compiler may add at once.
float Dot(const float* left, const float* right, std::int64_t count) {
  constexpr std::int64_t kLanes = 8;
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) {
      lanes[k] += left[i + k] * right[i + k];
    }
  }
  float sum = 0;
  for (; i < count; ++i) {
    sum += left[i] * right[i];
  }
  for (float lane : lanes) {
    sum += lane;
  }
  return sum;
}

// The matrix with each row a run of what is multiplied.
std::vector<float> Rows(const Value& matrix, bool transpose) {
  if (!transpose) {
    return matrix.reals;
  }
  auto rows = static_cast<std::size_t>(matrix.shape[0]);
  auto columns = static_cast<std::size_t>(matrix.shape[1]);
  std::vector<float> flipped(matrix.reals.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      flipped[c * rows + r] = matrix.reals[r * columns + c];
    }
  }
  return flipped;
}

}  // namespace

void ComputeConvolution(const Node& node, const Value& input, Value* result) {
  std::shared_ptr<const Value> weights = node.parameters.at("kernel").Read();
  std::shared_ptr<const Value> bias = node.parameters.at("bias").Read();
  Plane plane = PlaneOf(node, input, *result);
  std::int64_t channels = result->shape[1];
  std::int64_t in_channels = input.shape[1];
  const float* weight = weights->reals.data();
  for (std::int64_t image = 0; image < result->shape[0]; ++image) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      float* to = result->reals.data() + (image * channels + channel) * plane.Out();
      float start = bias->reals.empty() ? 0 : bias->reals[static_cast<std::size_t>(channel)];
      std::fill(to, to + plane.Out(), start);
      for (std::int64_t in = 0; in < in_channels; ++in) {
        const float* from = input.reals.data() + (image * in_channels + in) * plane.In();
        for (std::int64_t at = 0; at < plane.rows.kernel * plane.columns.kernel; ++at) {
          float factor =
              weight[(channel * in_channels + in) * plane.rows.kernel * plane.columns.kernel + at];
          ForRuns(plane, at / plane.columns.kernel, at % plane.columns.kernel,
                  [&](std::int64_t target, std::int64_t source, std::int64_t count) {
                    AddProducts(factor, from + source, plane.columns.stride, count, to + target);
                  });
        }
      }
    }
  }
  result->Settle();
}

void ComputePooling(const Node& node, const Value& input, Value* result) {
  Plane plane = PlaneOf(node, input, *result);
  std::fill(result->reals.begin(), result->reals.end(), -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < input.shape[0] * input.shape[1]; ++i) {
    const float* from = input.reals.data() + i * plane.In();
    float* to = result->reals.data() + i * plane.Out();
    for (std::int64_t at = 0; at < plane.rows.kernel * plane.columns.kernel; ++at) {
      ForRuns(plane, at / plane.columns.kernel, at % plane.columns.kernel,
              [&](std::int64_t target, std::int64_t source, std::int64_t count) {
                for (std::int64_t k = 0; k < count; ++k) {
                  float one = from[source + k * plane.columns.stride];
                  to[target + k] = std::max(to[target + k], one);
                }
              });
    }
  }
}

void ComputeProduct(const Node& node, const Value& left, const Value& right, Value* result) {
  std::vector<float> rows = Rows(left, node.Setting("left", 0) == kTransposed);
  std::vector<float> columns = Rows(right, node.Setting("right", 0) != kTransposed);
  std::int64_t height = result->shape[0];
  std::int64_t width = result->shape[1];
  std::int64_t inner = height == 0 ? 0 : static_cast<std::int64_t>(rows.size()) / height;
  for (std::int64_t i = 0; i < height * width; ++i) {
    result->reals[static_cast<std::size_t>(i)] =
        Dot(rows.data() + i / width * inner, columns.data() + i % width * inner, inner);
  }
  result->Settle();
}

void ComputeSoftMax(const Node& node, const Value& input, Value* result) {
  std::size_t rank = input.shape.size();
  std::int64_t otherwise = 1LL << (rank < 4 ? 0 : rank - 3);  // as TensorRT has it
  std::vector<std::size_t> axes = AxesOf(node.Setting("axes", otherwise), rank);
  if (axes.size() != 1) {
    throw Refusal("layer '" + node.name + "': expected one axis");
  }
  std::int64_t size = input.shape[axes[0]];
  std::int64_t step = 1;
  for (std::size_t i = axes[0] + 1; i < rank; ++i) {
    step *= input.shape[i];
  }
  for (std::int64_t i = 0; size > 0 && i < input.Count() / size; ++i) {
    std::int64_t base = i / step * step * size + i % step;
    const float* from = input.reals.data() + base;
    float* to = result->reals.data() + base;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t k = 0; k < size; ++k) {
      largest = std::max(largest, from[k * step]);
    }
    float sum = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      to[k * step] = std::exp(from[k * step] - largest);
      sum += to[k * step];
    }
    for (std::int64_t k = 0; k < size; ++k) {
      to[k * step] /= sum;
    }
  }
  result->Settle();
}

void ComputeReduction(const Node& node, const Value& input, Value* result) {
  std::vector<std::size_t> axes = AxesOf(node.Setting("axes", 0), input.shape.size());
  std::int64_t operation = node.Setting("operation", kReduceSum);
  bool largest = operation == kReduceMax;
  // How far an element of the result moves with each dimension of the input.
  Shape steps(input.shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = input.shape.size(); i-- > 0;) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      steps[i] = step;
      step *= input.shape[i];
    }
  }
  std::fill(result->reals.begin(), result->reals.end(),
            largest ? -std::numeric_limits<float>::infinity() : 0.0F);
  Shape at(input.shape.size(), 0);
  for (float one : input.reals) {
    std::int64_t target = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      target += at[i] * steps[i];
    }
    float& to = result->reals[static_cast<std::size_t>(target)];
    to = largest ? std::max(to, one) : to + one;
    for (std::size_t i = at.size(); i-- > 0 && ++at[i] == input.shape[i];) {
      at[i] = 0;
    }
  }
  if (operation == kReduceMean && !result->reals.empty()) {
    auto count = static_cast<float>(input.reals.size() / result->reals.size());
    for (float& one : result->reals) {
      one /= count;
    }
  }
  result->Settle();
}

}  // namespace rehearsal::trt
