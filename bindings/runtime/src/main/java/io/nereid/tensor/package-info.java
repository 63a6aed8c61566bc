/** What goes into a model and what comes out of it: {@link io.nereid.tensor.Tensor}. */
package io.nereid.tensor;
