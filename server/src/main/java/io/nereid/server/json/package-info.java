/** JSON, read and written: it knows neither the wire nor the protocol. */
package io.nereid.server.json;
