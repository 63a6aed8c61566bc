/** The server: models of repositories, and the frontends through which clients reach them. */
package io.nereid.server;
