/** Tracing of requests: who is traced, what is recorded, and where it goes. */
package io.nereid.server.trace;
