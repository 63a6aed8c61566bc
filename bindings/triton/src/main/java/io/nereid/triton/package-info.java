/**
 * Plug-ins made for Triton. The runtime finds {@link io.nereid.triton.TritonPlugins}, and calls the
 * rest through it.
 */
package io.nereid.triton;
