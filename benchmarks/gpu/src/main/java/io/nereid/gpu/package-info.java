/** Verifies Nereid on a machine with a GPU: {@link io.nereid.gpu.Verify} is where to start. */
package io.nereid.gpu;
