/**
 * The data that goes into a model and comes out of it: {@link io.nereid.tensor.Tensor}, a datatype,
 * a shape and elements in row-major order. Tensors are views: of an array, a buffer, a segment of
 * memory, or of a part of another tensor. They copy only if an array is asked for.
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="tensor"}
 *
 * <p>An output of a response is a view of the memory that the model wrote, and can be read until
 * the response is closed.
 */
package io.nereid.tensor;
