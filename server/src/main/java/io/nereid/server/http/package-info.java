/**
 * The HTTP frontend: each connection has a virtual thread, on which a short strict HTTP/1.1 path of
 * this package's own serves every route.
 */
package io.nereid.server.http;
