package io.nereid.client;

import java.util.List;

/**
 * A server's description of itself.
 *
 * @param name its kind
 * @param version its version
 * @param extensions what it has beyond the protocol, by the protocol's names
 */
public record ServerMetadata(String name, String version, List<String> extensions) {}
