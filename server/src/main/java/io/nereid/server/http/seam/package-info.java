/** Our connections around Helidon's: a reader, a writer and guards. It knows no endpoint. */
package io.nereid.server.http.seam;
