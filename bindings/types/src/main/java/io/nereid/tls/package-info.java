/**
 * Certificates and private keys from PEM files, for server, client and load generator. Nothing here
 * needs more than the JDK.
 *
 * {@snippet class="io.nereid.tls.TlsGuideTest" region="trust"}
 */
package io.nereid.tls;
