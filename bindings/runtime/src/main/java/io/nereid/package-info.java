/**
 * An inference runtime to embed: {@link io.nereid.Nereid} loads models, {@link
 * io.nereid.InferRequest} runs them, {@link io.nereid.tensor.Tensor} is what goes in and comes out.
 */
package io.nereid;
