/** The server's log, and a line for each request. */
package io.nereid.server.log;
