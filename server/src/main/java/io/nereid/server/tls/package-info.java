/**
 * Certificates and keys from PEM files, which may change while a server runs. All frontends use
 * this package.
 */
package io.nereid.server.tls;
