/** Who may ask for what: restricted groups of endpoints, and tokens. For all frontends. */
package io.nereid.server.access;
