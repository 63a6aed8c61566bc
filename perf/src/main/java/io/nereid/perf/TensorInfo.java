package io.nereid.perf;

import java.util.List;

/**
 * An input or output as the model's metadata has it.
 *
 * @param name its name
 * @param type its datatype
 * @param shape its dimensions, -1 for those of any size
 */
record TensorInfo(String name, DataType type, List<Long> shape) {}
