/** Restricted groups of endpoints, and tokens, for all frontends. */
package io.nereid.server.access;
