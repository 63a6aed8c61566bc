/**
 * Certificates and private keys from PEM files, for server, client and load generator. Nothing here
 * needs more than the JDK.
 */
package io.nereid.tls;
