/** Tracing of requests: sampling, recording, and sending. */
package io.nereid.server.trace;
