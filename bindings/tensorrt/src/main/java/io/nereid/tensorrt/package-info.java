/**
 * The backend {@code tensorrt}, and the libraries under it. A program that has this module on its
 * path serves plans as any other model: {@code Nereid.open(Path.of("model.plan"))}, or a repository
 * with files {@code model.plan}. In code, the backend is named and gets the plan's path:
 *
 * {@snippet class="io.nereid.tensorrt.GpuTest" region="spec"}
 */
package io.nereid.tensorrt;
