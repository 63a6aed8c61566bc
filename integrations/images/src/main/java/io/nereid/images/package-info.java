/**
 * Images as tensors: {@link io.nereid.images.ImageTensors} describes the images for a model, and
 * writes them into its memory. {@link io.nereid.images.Detections} reads a model's results, and
 * {@link io.nereid.images.Overlay} draws them.
 */
package io.nereid.images;
