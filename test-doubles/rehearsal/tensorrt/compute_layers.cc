// Convolutions, products and what else takes many numbers for one. The innermost loops have no
// conditions, so that the compiler makes vectors of them: networks with millions of products run in
// tests.
#include <algorithm>
#include <cmath>
#include <limits>

#include "nodes.h"

namespace rehearsal::trt {

namespace {

// How a window goes over rows or columns.
struct Line {
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t in;
  std::int64_t out;

  // Where the part of the window at a place lies in the input; -1: beside it.
  [[nodiscard]] std::int64_t At(std::int64_t place, std::int64_t part) const {
    std::int64_t at = place * stride + part - padding;
    return at < in ? at : -1;
  }
};

struct Plane {
  Line rows;
  Line columns;
  [[nodiscard]] std::int64_t In() const { return rows.in * columns.in; }
  [[nodiscard]] std::int64_t Out() const { return rows.out * columns.out; }
  [[nodiscard]] std::int64_t Window() const { return rows.kernel * columns.kernel; }
};

Plane PlaneOf(const Node& node, const Value& input, const Value& result) {
  Shape kernel = node.Setting("kernel", 2, 1);
  Shape stride = node.Setting("stride", 2, 1);
  Shape padding = node.Setting("padding", 2, 0);
  return {{kernel[0], stride[0], padding[0], input.shape[2], result.shape[2]},
          {kernel[1], stride[1], padding[1], input.shape[3], result.shape[3]}};
}

// Copies what the window sees at each place of a plane to a line of its own: `width` numbers after
// the one before. Beside the input it sees `outside`.
void CopyWindows(const Plane& plane, const float* from, float outside, std::int64_t width,
                 float* to) {
  for (std::int64_t y = 0; y < plane.rows.out; ++y) {
    for (std::int64_t x = 0; x < plane.columns.out; ++x) {
      float* line = to + (y * plane.columns.out + x) * width;
      for (std::int64_t row = 0; row < plane.rows.kernel; ++row) {
        std::int64_t from_row = plane.rows.At(y, row);
        for (std::int64_t column = 0; column < plane.columns.kernel; ++column) {
          std::int64_t from_column = plane.columns.At(x, column);
          bool inside = from_row >= 0 && from_column >= 0;
          *line++ = inside ? from[from_row * plane.columns.in + from_column] : outside;
        }
      }
    }
  }
}

// In parts that the compiler may add at once.
float Dot(const float* left, const float* right, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
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
  std::int64_t channels = input.shape[1];
  std::int64_t width = channels * plane.Window();
  std::vector<float> windows(static_cast<std::size_t>(plane.Out() * width));
  float* to = result->reals.data();
  for (std::int64_t image = 0; image < result->shape[0]; ++image) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const float* from = input.reals.data() + (image * channels + channel) * plane.In();
      CopyWindows(plane, from, 0, width, windows.data() + channel * plane.Window());
    }
    for (std::int64_t channel = 0; channel < result->shape[1]; ++channel) {
      float start = bias->reals.empty() ? 0 : bias->reals[static_cast<std::size_t>(channel)];
      const float* weight = weights->reals.data() + channel * width;
      for (std::int64_t place = 0; place < plane.Out(); ++place) {
        *to++ = start + Dot(weight, windows.data() + place * width, width);
      }
    }
  }
  result->Settle();
}

void ComputePooling(const Node& node, const Value& input, Value* result) {
  Plane plane = PlaneOf(node, input, *result);
  float least = -std::numeric_limits<float>::infinity();
  std::vector<float> windows(static_cast<std::size_t>(plane.Out() * plane.Window()));
  float* to = result->reals.data();
  for (std::int64_t i = 0; i < input.shape[0] * input.shape[1]; ++i) {
    CopyWindows(plane, input.reals.data() + i * plane.In(), least, plane.Window(), windows.data());
    for (std::int64_t place = 0; place < plane.Out(); ++place) {
      const float* window = windows.data() + place * plane.Window();
      *to++ = *std::max_element(window, window + plane.Window());
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
