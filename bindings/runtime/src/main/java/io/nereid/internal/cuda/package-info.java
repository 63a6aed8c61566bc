/**
 * NVIDIA's driver libraries, called through the foreign function interface: the runtime and the
 * server need no other library for GPUs, and work without a driver.
 */
package io.nereid.internal.cuda;
