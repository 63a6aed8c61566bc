/**
 * Has two sides answer the requests of a recording, or one side alone and in company, and compares
 * the answers. Only {@link io.nereid.recording.replay.RuntimeAnswers} needs the runtime.
 */
package io.nereid.recording.replay;
