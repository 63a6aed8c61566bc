package io.nereid.client;

import java.util.List;

/**
 * A server's description of itself.
 *
 * @param name the kind of server
 * @param version its version
 * @param extensions its extensions of the protocol, by the protocol's names
 */
public record ServerMetadata(String name, String version, List<String> extensions) {}
