/** The parts that all frontends of a server share: models, health, and clients' memory. */
package io.nereid.server.shared;
