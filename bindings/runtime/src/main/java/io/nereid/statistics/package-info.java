/** What a runtime and its models tell about themselves. All types are immutable values. */
package io.nereid.statistics;
