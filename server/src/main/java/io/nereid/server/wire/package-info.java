/**
 * HTTP/1.1 and HTTP/2 as they are on the wire: each connection has a virtual thread, on which a
 * short strict path of this package's own reads requests and has an {@link HttpHandler} answer
 * them. It knows no endpoint, no model and no JSON.
 */
package io.nereid.server.wire;
