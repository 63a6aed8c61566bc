package io.nereid.server.http.seam;

import java.time.Duration;

/**
 * The limits of a port for clients.
 *
 * @param headBytes the longest request line, and the longest header fields together
 * @param heldBytes most bytes of one request that wait on the heap to be read
 * @param connectionCount most connections at once
 * @param requestTime how long a client may take to send a request, and to take its response
 * @param idleTime how long a connection may wait for its next request
 */
public record SeamLimits(
    int headBytes, long heldBytes, int connectionCount, Duration requestTime, Duration idleTime) {}
