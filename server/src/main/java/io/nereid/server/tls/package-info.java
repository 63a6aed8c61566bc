/**
 * Certificates and keys from PEM files, which may change while a server runs. For all frontends.
 */
package io.nereid.server.tls;
