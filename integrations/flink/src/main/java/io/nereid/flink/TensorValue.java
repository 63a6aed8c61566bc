package io.nereid.flink;

import io.nereid.types.DataType;
import java.nio.ByteBuffer;

/**
 * A tensor of one row on its way to or from a model.
 *
 * @param bytes its elements, little-endian, between position and limit
 */
record TensorValue(String name, DataType dataType, long[] shape, ByteBuffer bytes) {}
