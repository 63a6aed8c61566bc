/** What the server tells of its work: its log, and a line for each request. */
package io.nereid.server.log;
