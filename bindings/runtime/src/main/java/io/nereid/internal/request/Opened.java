package io.nereid.internal.request;

/**
 * What holds memory in a user's stead.
 *
 * @param bit {@link Slot#REQUEST} or {@link Slot#RESPONSE}, 0: a request that is under way
 * @param origin where the request was made
 */
public record Opened(int bit, Origin origin) {}
