// Nodes that compute each number from those at the same place, and the positions of numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "nodes.h"

namespace rehearsal::trt {

namespace {

[[noreturn]] void Unknown(const Node& node, std::int64_t operation) {
  throw Refusal("layer '" + node.name + "': operation " + std::to_string(operation) +
                " is not rehearsed");
}

template <typename T>
T Pair(const Node& node, std::int64_t operation, T left, T right) {
  switch (operation) {
    case kSum:
      return left + right;
    case kProduct:
      return left * right;
    case kMax:
      return std::max(left, right);
    case kMin:
      return std::min(left, right);
    case kDifference:
      return left - right;
    case kQuotient:
      if constexpr (std::is_integral_v<T>) {
        return right == 0 ? 0 : left / right;
      } else {
        return left / right;
      }
    default:
      Unknown(node, operation);
  }
}

// Where the elements of an input lie that is spread over the result.
std::vector<std::size_t> Places(const Shape& input, const Shape& result) {
  std::vector<std::size_t> places(static_cast<std::size_t>(Elements(result)));
  Shape at(result.size(), 0);
  for (std::size_t& place : places) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      index = index * input[i] + (input[i] == 1 ? 0 : at[i]);
    }
    place = static_cast<std::size_t>(index);
    for (std::size_t i = at.size(); i-- > 0 && ++at[i] == result[i];) {
      at[i] = 0;
    }
  }
  return places;
}

template <typename T>
void Pairs(const Node& node, std::int64_t operation, const std::vector<T>& left,
           const std::vector<T>& right, bool spread, const Values& inputs, const Shape& shape,
           std::vector<T>* to) {
  if (!spread) {
    for (std::size_t i = 0; i < to->size(); ++i) {
      (*to)[i] = Pair(node, operation, left[i], right[i]);
    }
    return;
  }
  std::vector<std::size_t> from_left = Places(inputs[0]->shape, shape);
  std::vector<std::size_t> from_right = Places(inputs[1]->shape, shape);
  for (std::size_t i = 0; i < to->size(); ++i) {
    (*to)[i] = Pair(node, operation, left[from_left[i]], right[from_right[i]]);
  }
}

void ElementWise(const Node& node, const Values& inputs, Value* result) {
  std::int64_t operation = node.Setting("operation", kSum);
  bool spread = inputs[0]->shape != inputs[1]->shape;
  Pairs(node, operation, inputs[0]->reals, inputs[1]->reals, spread, inputs, result->shape,
        &result->reals);
  if (!IsReal(result->type)) {
    Pairs(node, operation, inputs[0]->integers, inputs[1]->integers, spread, inputs, result->shape,
          &result->integers);
  }
}

void Map(const Value& input, Value* result, const std::function<float(float)>& function) {
  std::transform(input.reals.begin(), input.reals.end(), result->reals.begin(), function);
}

void Activate(const Node& node, const Value& input, Value* result) {
  switch (node.Setting("operation", kRelu)) {
    case kRelu:
      for (std::size_t i = 0; i < input.reals.size(); ++i) {
        result->reals[i] = std::max(input.reals[i], 0.0F);
      }
      return;
    case kSigmoid:
      return Map(input, result, [](float x) { return 1 / (1 + std::exp(-x)); });
    case kTanh:
      return Map(input, result, [](float x) { return std::tanh(x); });
    default:
      Unknown(node, node.Setting("operation", kRelu));
  }
}

void Unary(const Node& node, const Value& input, Value* result) {
  std::int64_t operation = node.Setting("operation", -1);
  if (operation == kNegative) {
    std::transform(input.reals.begin(), input.reals.end(), result->reals.begin(), std::negate<>());
    std::transform(input.integers.begin(), input.integers.end(), result->integers.begin(),
                   std::negate<>());
  } else if (operation == kNot && input.type == DataType::kBool) {
    std::transform(input.integers.begin(), input.integers.end(), result->integers.begin(),
                   [](std::int64_t x) { return x == 0 ? 1 : 0; });
  } else {
    Unknown(node, operation);
  }
}

void Scale(const Node& node, const Value& input, Value* result) {
  if (node.Setting("operation", kUniformScale) != kUniformScale) {
    Unknown(node, node.Setting("operation", kUniformScale));
  }
  auto number = [&node](const char* name, float otherwise) {
    std::shared_ptr<const Value> value = node.parameters.at(name).Read();
    return value->reals.empty() ? otherwise : value->reals[0];
  };
  float scale = number("scale", 1);
  float shift = number("shift", 0);
  float power = number("power", 1);
  Map(input, result, [=](float x) {
    float y = x * scale + shift;
    return power == 1 ? y : std::pow(y, power);
  });
}

std::int64_t Truncated(float value) {
  constexpr float kFirstTooLarge = 9223372036854775808.0F;
  if (!(std::fabs(value) < kFirstTooLarge)) {
    return value > 0 ? INT64_MAX : INT64_MIN;
  }
  return static_cast<std::int64_t>(value);
}

void Cast(const Value& input, Value* result) {
  bool from_reals = IsReal(input.type);
  auto count = static_cast<std::size_t>(input.Count());
  for (std::size_t i = 0; i < count; ++i) {
    if (IsReal(result->type)) {
      result->reals[i] = from_reals ? input.reals[i] : static_cast<float>(input.integers[i]);
    } else if (!from_reals) {
      result->integers[i] = input.integers[i];
    } else {
      bool truth = result->type == DataType::kBool;
      result->integers[i] = truth ? (input.reals[i] != 0 ? 1 : 0) : Truncated(input.reals[i]);
    }
  }
}

// One scale for all of the tensor.
void Quantize(const Value& input, const Value& scale, Value* result) {
  float factor = scale.reals.at(0);
  for (std::size_t i = 0; i < input.reals.size(); ++i) {
    float scaled = input.reals[i] / factor;
    if (result->type == DataType::kInt8) {
      float bounded = std::clamp(std::nearbyint(scaled), -128.0F, 127.0F);
      result->integers[i] = static_cast<std::int64_t>(bounded);
    } else {
      result->reals[i] = scaled;
    }
  }
}

void Dequantize(const Value& input, const Value& scale, Value* result) {
  float factor = scale.reals.at(0);
  for (std::size_t i = 0; i < result->reals.size(); ++i) {
    float number = IsReal(input.type) ? input.reals[i] : static_cast<float>(input.integers[i]);
    result->reals[i] = number * factor;
  }
}

}  // namespace

void ComputeElements(const Node& node, const Values& inputs, Value* result) {
  switch (node.type) {
    case LayerType::kElementWise:
      ElementWise(node, inputs, result);
      break;
    case LayerType::kActivation:
      Activate(node, *inputs[0], result);
      break;
    case LayerType::kUnary:
      Unary(node, *inputs[0], result);
      break;
    case LayerType::kScale:
      Scale(node, *inputs[0], result);
      break;
    case LayerType::kCast:
      Cast(*inputs[0], result);
      break;
    case LayerType::kQuantize:
      Quantize(*inputs[0], *inputs[1], result);
      break;
    case LayerType::kDequantize:
      Dequantize(*inputs[0], *inputs[1], result);
      break;
    default:
      throw Refusal("layer '" + node.name + "' is not rehearsed");
  }
  result->Settle();
}

void ComputeNonZero(const Value& input, Value* result) {
  auto rank = input.shape.size();
  std::vector<std::vector<std::int64_t>> positions(rank);
  Shape at(rank, 0);
  auto count = static_cast<std::size_t>(input.Count());
  for (std::size_t i = 0; i < count; ++i) {
    bool zero = IsReal(input.type) ? input.reals[i] == 0 : input.integers[i] == 0;
    for (std::size_t k = 0; !zero && k < rank; ++k) {
      positions[k].push_back(at[k]);
    }
    for (std::size_t k = rank; k-- > 0 && ++at[k] == input.shape[k];) {
      at[k] = 0;
    }
  }
  auto found = rank == 0 ? 0 : static_cast<std::int64_t>(positions[0].size());
  *result = Value::Of(DataType::kInt32, {static_cast<std::int64_t>(rank), found});
  auto to = result->integers.begin();
  for (const std::vector<std::int64_t>& line : positions) {
    to = std::copy(line.begin(), line.end(), to);
  }
}

}  // namespace rehearsal::trt
