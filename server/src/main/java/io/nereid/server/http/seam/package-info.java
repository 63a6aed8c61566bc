/**
 * Nereid's connections around Helidon's: a reader, a writer and guards. The package does not depend
 * on endpoints.
 */
package io.nereid.server.http.seam;
