/**
 * The figures of a runtime and its models. All types are immutable values: the difference of two
 * shows what happened in between.
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="statistics"}
 */
package io.nereid.statistics;
