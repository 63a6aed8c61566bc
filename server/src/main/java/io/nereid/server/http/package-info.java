/**
 * The HTTP frontend. Helidon accepts connections and gives each its virtual thread; from there on a
 * short strict HTTP/1.1 path of this package's own serves every route.
 */
package io.nereid.server.http;
