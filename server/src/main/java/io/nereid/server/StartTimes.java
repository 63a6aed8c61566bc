package io.nereid.server;

import java.time.Duration;

/**
 * How long the parts of a start took.
 *
 * @param models loading the models
 * @param http opening the HTTP frontend
 */
public record StartTimes(Duration models, Duration http) {}
