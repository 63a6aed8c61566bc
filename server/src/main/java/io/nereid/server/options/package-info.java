/** What all records of options use, whatever part of the server they are for. */
package io.nereid.server.options;
