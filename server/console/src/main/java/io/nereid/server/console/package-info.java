/** The console: what its pages are made of, and what they are told. */
package io.nereid.server.console;
