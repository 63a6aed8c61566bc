package io.nereid.perf;

import java.util.List;

/**
 * What the server tells about itself.
 *
 * @param name its kind
 * @param version its version
 * @param extensions what it has beyond the protocol
 */
record ServerInfo(String name, String version, List<String> extensions) {}
