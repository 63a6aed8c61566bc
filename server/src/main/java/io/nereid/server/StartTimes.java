package io.nereid.server;

import java.time.Duration;

/**
 * How long the parts of a start took.
 *
 * @param models loading the models
 * @param http opening the HTTP frontend
 * @param grpc opening the gRPC frontend, which happens while the models load; zero: there is none
 */
public record StartTimes(Duration models, Duration http, Duration grpc) {}
