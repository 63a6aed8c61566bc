package io.nereid.server.http;

import io.nereid.Nereid;
import tools.jackson.core.json.JsonFactory;

/**
 * What all connections share.
 *
 * @param nereid the models
 * @param health whether requests are taken
 * @param limits what clients may ask of the server
 * @param json how JSON is parsed
 * @param watch all connections
 */
record HttpContext(
    Nereid nereid,
    ServerHealth health,
    HttpLimits limits,
    JsonFactory json,
    ConnectionWatch watch) {}
