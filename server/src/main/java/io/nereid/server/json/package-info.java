/** JSON, read and written: it knows neither HTTP nor the protocol. */
package io.nereid.server.json;
