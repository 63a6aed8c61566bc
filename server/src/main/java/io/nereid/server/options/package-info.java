/** The parts that all records of options use. */
package io.nereid.server.options;
