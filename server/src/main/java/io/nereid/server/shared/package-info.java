/** What all frontends of a server share: its models, its health, what clients registered. */
package io.nereid.server.shared;
