/**
 * Compares answers to the same requests: {@link io.nereid.recording.compare.AnswerComparison} is
 * told of them by whoever has them, two sides of a replay or a model and its shadow.
 */
package io.nereid.recording.compare;
