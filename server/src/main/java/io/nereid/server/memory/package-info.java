/** Shared memory that clients registered, for tensors that do not go through a connection. */
package io.nereid.server.memory;
