/**
 * Recordings of requests: {@link io.nereid.recording.Recorder} makes one of what a runtime answers,
 * {@link io.nereid.recording.Recording} reads it. {@code docs/recording.md} has the format.
 */
package io.nereid.recording;
