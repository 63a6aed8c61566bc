/** The console: its files, and the documents and events for its pages. */
package io.nereid.server.console;
