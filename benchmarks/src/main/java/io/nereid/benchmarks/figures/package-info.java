/** Draws the figures of the documents from what the benchmarks measured. */
package io.nereid.benchmarks.figures;
