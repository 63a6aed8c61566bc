/**
 * The figures that a runtime and its models tell about themselves. All types are immutable values:
 * the difference of two tells what happened in between.
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="statistics"}
 */
package io.nereid.statistics;
