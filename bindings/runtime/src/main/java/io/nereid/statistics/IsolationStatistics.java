package io.nereid.statistics;

/**
 * The process that an isolated model runs in.
 *
 * @param up whether it executes; otherwise it is being replaced, or there is none any more
 * @param failed whether its processes died repeatedly, so that they are not replaced
 * @param restarts processes that were lost since the model was loaded
 * @param deathsInARow how many of these since the last answer
 * @param process its number; 0: there is none now
 * @param residentBytes the memory that it occupies, memory shared with this process included
 * @param lastEnd the end of the last process that was lost, in words; empty: none was lost
 */
public record IsolationStatistics(
    boolean up,
    boolean failed,
    long restarts,
    int deathsInARow,
    long process,
    long residentBytes,
    String lastEnd) {}
