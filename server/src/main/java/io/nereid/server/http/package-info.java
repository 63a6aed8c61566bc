/**
 * The HTTP frontend's protocol: its endpoints, access to them, and the content of requests and
 * replies. It uses Helidon, by {@link io.nereid.server.http.seam}, and on {@link
 * io.nereid.server.json}.
 */
package io.nereid.server.http;
