package io.nereid.images;

/**
 * An object that a model found in an image.
 *
 * @param kind the number of its class
 * @param score the certainty, up to 1
 * @param left the box around it, in pixels of the image
 */
public record Detection(int kind, float score, float left, float top, float right, float bottom) {}
