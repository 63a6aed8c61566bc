package io.nereid.client;

import java.util.concurrent.CompletableFuture;

/**
 * A request that is under way.
 *
 * @param future completed by the transport's own threads: what depends on it must be short.
 *     Failures are {@link InferenceException}s.
 * @param cancel ends it; does nothing when it has ended
 */
record Attempt<T>(CompletableFuture<T> future, Runnable cancel) {}
