/**
 * NVIDIA's driver libraries, called through the foreign function interface: what this runtime and
 * the server need of GPUs needs no other library, and is absent where there is no driver.
 */
package io.nereid.internal.cuda;
