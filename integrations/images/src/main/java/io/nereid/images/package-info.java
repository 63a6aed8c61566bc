/**
 * Images as tensors: {@link io.nereid.images.ImageTensors} says what a model wants of them, and
 * writes images where it reads them.
 */
package io.nereid.images;
