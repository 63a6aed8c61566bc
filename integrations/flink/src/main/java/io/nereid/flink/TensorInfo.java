package io.nereid.flink;

import io.nereid.types.DataType;
import java.util.List;

/**
 * An input or output of a model.
 *
 * @param name the model's
 * @param dataType of its elements
 * @param shape its dimensions, with that of a batch; -1 for those of any size
 */
record TensorInfo(String name, DataType dataType, List<Long> shape) {}
