package io.nereid.server.grpc;

/** Marks what reads a message's bytes while they come, and may wait for them. */
interface ReadsAsItComes {}
