/**
 * Compares answers to the same requests: {@link io.nereid.recording.compare.AnswerComparison} is
 * told of them by whoever has them; {@link io.nereid.recording.compare.ReplayedAnswers} has two
 * sides answer a recording. Only {@link io.nereid.recording.compare.RuntimeAnswers} needs the
 * runtime.
 */
package io.nereid.recording.compare;
