/**
 * The HTTP frontend's protocol: which endpoints there are, who may ask them, and what requests and
 * replies say. It stands on {@link io.nereid.server.wire} and {@link io.nereid.server.json}.
 */
package io.nereid.server.http;
