/** Reads and writes JSON, independent of HTTP and of the protocol. */
package io.nereid.server.json;
