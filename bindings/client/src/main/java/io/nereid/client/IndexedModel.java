package io.nereid.client;

/**
 * A version of a model in the server's repositories.
 *
 * @param name the model's name
 * @param version its version; empty when none was ever loaded
 * @param state such as {@code READY} or {@code UNAVAILABLE}; empty when none was ever loaded
 * @param reason why it is in that state; empty when the server does not say
 */
public record IndexedModel(String name, String version, String state, String reason) {}
