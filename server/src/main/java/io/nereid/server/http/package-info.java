/**
 * The HTTP frontend's protocol: which endpoints there are, who may ask them, and what requests and
 * replies say. It stands on Helidon, by {@link io.nereid.server.http.seam}, and on {@link
 * io.nereid.server.json}.
 */
package io.nereid.server.http;
