/**
 * Images as tensors: {@link io.nereid.images.ImageTensors} says what a model wants of them, and
 * writes images where it reads them. {@link io.nereid.images.Detections} reads what a model found
 * in them, and {@link io.nereid.images.Overlay} draws it.
 */
package io.nereid.images;
