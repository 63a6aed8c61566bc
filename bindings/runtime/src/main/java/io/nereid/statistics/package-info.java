/**
 * What a runtime and its models tell about themselves. All types are immutable values: who wants to
 * know what happened in between takes two and subtracts.
 *
 * {@snippet class="io.nereid.RuntimeGuideTest" region="statistics"}
 */
package io.nereid.statistics;
