/**
 * Plug-ins made for Triton. The runtime finds {@link io.nereid.triton.TritonPlugins}, and uses only
 * its interfaces.
 */
package io.nereid.triton;
