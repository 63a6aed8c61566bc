package io.nereid.perf;

/**
 * One input of one request.
 *
 * @param info what the model says of it
 * @param shape its shape, the batch included
 * @param bytes its elements, little-endian
 */
record Tensor(TensorInfo info, long[] shape, byte[] bytes) {}
